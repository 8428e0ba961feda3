// The sets of schedules in the code of this process: declares them at the start, and follows which one counts.
import { createHash, randomUUID } from "node:crypto";
import { type DeclaredSet, declareSet } from "../../schedule/decide-set.ts";
import { canonicalJson } from "../../values/json.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Engine } from "../engine/engine.ts";

type SetParts = Pick<Engine, "store" | "workflows" | "claims" | "clock" | "cluster" | "storage" | "logger">;

/** Milliseconds between two looks at the processes that share the store. */
const period = 2000;
const maxSets = 1000;

/** The hash of a workflow's schedules in code. */
export function hashOfSchedules({ schedules }: WorkflowDefinition): string {
  const specs = [...(schedules ?? [])].map(([name, { spec }]): [string, unknown] => [name, spec]);
  return createHash("sha256")
    .update(canonicalJson(JSON.stringify(Object.fromEntries(specs))))
    .digest("hex");
}

/** No schedule and no execution has this id. */
function setId(workflowId: string): string {
  return `${workflowId}!`;
}

export class ScheduleSets {
  readonly #engine: () => SetParts;
  readonly #hashes: ReadonlyMap<string, string>;
  readonly #apply: (workflow: WorkflowDefinition) => Promise<void>;
  /** The workflows that have schedules here, or had some in another process. */
  #workflows: readonly WorkflowDefinition[] = [];
  /** Those whose schedules are kept as this process declares them. */
  readonly #applied = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  /** `apply`: keeps the schedules of a workflow as this process declares them. */
  constructor(
    engine: () => SetParts,
    hashes: ReadonlyMap<string, string>,
    apply: (workflow: WorkflowDefinition) => Promise<void>,
  ) {
    this.#engine = engine;
    this.#hashes = hashes;
    this.#apply = apply;
  }

  /** One read where no workflow has schedules. */
  async start(): Promise<void> {
    const { store, workflows, cluster } = this.#engine();
    const kept = await store.schedules.list({ kind: "set", limit: maxSets });
    const names = new Set(kept.map(({ workflowId }) => workflowId));
    this.#workflows = [...workflows.values()].filter(({ id, schedules }) => schedules || names.has(id));
    if (this.#workflows.length === 0) return;
    await this.#look();
    if (cluster === undefined) return;
    this.#timer = setInterval(() => this.look(), period).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  /** The schedules of a workflow are kept as another process declares them: the next look finds which of both counts. */
  isForeign(workflowId: string): void {
    this.#applied.delete(workflowId);
  }

  look(): void {
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
    for (const workflow of this.#workflows) {
      const hash = this.#hashes.get(workflow.id) ?? "";
      const winner = await this.#declare(workflow.id, hash, owner, (name) => alive.has(name));
      if (winner !== hash) this.#applied.delete(workflow.id);
      else if (!this.#applied.has(workflow.id)) {
        await this.#apply(workflow);
        this.#applied.add(workflow.id);
      }
    }
  }

  /** Returns the hash of the set that counts. */
  async #declare(
    workflowId: string,
    hash: string,
    owner: string,
    isAlive: (owner: string) => boolean,
  ): Promise<string> {
    const { store, clock } = this.#engine();
    const scheduleId = setId(workflowId);
    for (;;) {
      const stored = await store.schedules.read(scheduleId);
      const before: readonly DeclaredSet[] = stored === undefined ? [] : JSON.parse(stored.body);
      const { sets, winner } = declareSet(before, { hash, owner, now: clock.now(), isAlive });
      const body = JSON.stringify(sets);
      if (body === stored?.body) return winner;
      const row = { scheduleId, kind: "set", workflowId, userId: null, dueAt: null, body } as const;
      const written = { ...row, version: randomUUID(), occurrences: "[]" };
      const change = { scheduleId, expected: stored?.version ?? null, row: written };
      if ((await store.schedules.change(change)) === "written") return winner;
    }
  }
}
