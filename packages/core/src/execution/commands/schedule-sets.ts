// The sets of schedules in the code of this process: declares them at the start, and follows which one counts.
import { randomUUID } from "node:crypto";
import { type DeclaredSet, declareSet } from "../../schedule/decide-set.ts";
import { clockTolerance } from "../../values/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { type ScheduleOwner, type ScheduleOwners, type ScheduleTarget, setIdOf } from "./schedule-owners.ts";

type SetParts = Pick<Engine, "store" | "claims" | "clock" | "closing" | "cluster" | "storage" | "logger">;

interface SetActions {
  /** Keeps the schedules of an owner as this process declares them. */
  declare(owner: ScheduleOwner): Promise<void>;
  /** Lets schedules go on that are ahead of the clock. */
  correctCursors(): Promise<void>;
}

/** Milliseconds between two looks at the processes that share the store. */
const period = 2000;
const maxSets = 1000;

export class ScheduleSets {
  readonly #engine: () => SetParts;
  readonly #owners: ScheduleOwners;
  readonly #actions: SetActions;
  /** The ids of the sets that have schedules here, or had some in another process. */
  #declared: readonly string[] = [];
  /** Those whose schedules are kept as this process declares them. */
  readonly #applied = new Set<string>();
  /** The clock was ahead, so cursors may be. */
  #wasAhead = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(engine: () => SetParts, owners: ScheduleOwners, actions: SetActions) {
    this.#engine = engine;
    this.#owners = owners;
    this.#actions = actions;
  }

  /** Two small reads where no workflow and no agent has schedules. */
  async start(): Promise<void> {
    const { store, cluster, clock } = this.#engine();
    const [kept, schedules] = await Promise.all([
      store.schedules.list({ kind: "set", limit: maxSets }),
      store.schedules.list({ kind: "schedule", limit: 1, brief: true }),
    ]);
    const from = clock.now() + clockTolerance;
    this.#wasAhead = schedules.length > 0 && (await store.list({ from, limit: 1 })).length > 0;
    const names = new Set(kept.map(({ scheduleId }) => scheduleId));
    this.#declared = [...this.#owners].flatMap(([setId, { schedules }]) =>
      schedules.size > 0 || names.has(setId) ? [setId] : [],
    );
    if (this.#declared.length === 0 && !this.#wasAhead) return;
    await this.#look();
    if (cluster === undefined || this.#declared.length === 0) return;
    this.#timer = setInterval(() => this.look(), period).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  /** Whether this process declares a schedule as it is kept. Where another one does, the next look finds which counts. */
  isOwn({ set, ...target }: ScheduleTarget & { readonly set: string | null }): boolean {
    const setId = setIdOf(target);
    if (set === null || set === this.#owners.get(setId)?.hash) return true;
    this.#applied.delete(setId);
    return false;
  }

  async clockSetBack(): Promise<void> {
    this.#wasAhead = true;
    await this.#looking;
    this.look();
  }

  look(): void {
    if (this.#engine().closing) return;
    this.#looking ??= this.#look()
      .catch((err: unknown) => {
        const { storage, logger } = this.#engine();
        if (!storage.failed(err)) logger.warn({ err }, "failed to declare schedules; trying again");
      })
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #look(): Promise<void> {
    const { store, cluster, claims } = this.#engine();
    const nodes = cluster === undefined ? [] : (await store.nodes()).nodes;
    const alive = new Set(nodes.filter(({ isAlive }) => isAlive).map(({ owner }) => owner));
    // Where one process has the store to itself, its name changes nothing.
    const owner = cluster === undefined ? "" : claims.owner;
    for (const setId of this.#declared) {
      const declared = this.#owners.get(setId);
      if (declared === undefined) continue;
      const winner = await this.#declare(setId, declared, owner, (name) => alive.has(name));
      if (winner !== declared.hash) this.#applied.delete(setId);
      else if (!this.#applied.has(setId)) {
        await this.#actions.declare(declared);
        this.#applied.add(setId);
      }
    }
    if (!this.#wasAhead) return;
    await this.#actions.correctCursors();
    this.#wasAhead = false;
  }

  /** Returns the hash of the set that counts. */
  async #declare(
    scheduleId: string,
    { workflowId, agentId, hash }: ScheduleOwner,
    owner: string,
    isAlive: (owner: string) => boolean,
  ): Promise<string> {
    const { store, clock } = this.#engine();
    for (;;) {
      const stored = await store.schedules.read(scheduleId);
      const before: readonly DeclaredSet[] = stored === undefined ? [] : JSON.parse(stored.body);
      const { sets, winner } = declareSet(before, { hash, owner, now: clock.now(), isAlive });
      const body = JSON.stringify(sets);
      if (body === stored?.body) return winner;
      const row = { scheduleId, kind: "set", workflowId, agentId, userId: null, dueAt: null, body } as const;
      const written = { ...row, version: randomUUID(), occurrences: "[]" };
      const change = { scheduleId, expected: stored?.version ?? null, row: written };
      if ((await store.schedules.change(change)) === "written") return winner;
    }
  }
}
