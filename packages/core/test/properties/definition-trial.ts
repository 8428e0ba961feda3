// One execution whose workflow changes from life to life: it continues where it fits, and is parked where it does not.
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import type { Andante } from "../../src/andante/andante.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { AndanteError } from "../../src/errors/index.ts";
import type { Store, StoredExecution } from "../../src/store/store.ts";
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { type Crash, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { fingerprintOf } from "../../src/workflow/outline.ts";
import { createRandom, type Random } from "../support/random.ts";
import { buildWorkflow, links, opened, type Stage, witnessId } from "./build.ts";
import { journalProblems } from "./journal-rules.ts";
import { endingsOf, keyOf } from "./reference.ts";
import { type Chain, named, type Steps, type Tree, treeIn } from "./tree.ts";
import { endingOf, line } from "./trial.ts";
import { comparable, crash } from "./workflow-plans.ts";
import { TickingClock, World } from "./world.ts";

/** The change that a release makes to the definition before it, at one of its steps. */
type Change = "none" | "append" | "insert" | "remove" | "rename" | "replace" | "back";

interface Release {
  readonly change: Change;
  /** Which step, counted around. */
  readonly at: number;
  /** The process ends at this write, or after so many turns. */
  readonly end: Crash | number;
}

export interface DefinitionPlan {
  readonly steps: Steps;
  readonly releases: readonly Release[];
  readonly seed: number;
}

export const definitionPlans: fc.Arbitrary<DefinitionPlan> = fc.record({
  steps: comparable,
  releases: fc.array(
    fc.record({
      change: fc.constantFrom<Change>("none", "append", "insert", "remove", "rename", "replace", "back"),
      at: fc.nat({ max: 5 }),
      end: fc.oneof(crash, fc.integer({ min: 1, max: 60 })),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  seed: fc.integer(),
});

/** Looks at the store after which an execution counts as stuck. */
const maxTurns = 3000;
/** Looks after which one that does not fit must be parked. */
const turnsToPark = 400;

const added: Tree = {
  kind: "then",
  body: {
    attempts: ["value"],
    gates: [],
    checkpoints: [],
    pace: "soon",
    sets: false,
    emits: false,
    delay: 0,
  },
};
const nap: Tree = {
  kind: "sleep",
  aside: { failures: 0, attempts: 1, pace: "at-once", delay: 0 },
  time: 1,
  isFunction: false,
};

/** The chain after a change; ids that were given once are not given again. */
function changed(
  chain: Chain,
  first: Chain,
  { change, at }: Release,
  number: number,
  originals: ReadonlyMap<string, Tree>,
): Chain {
  const fresh = `new${number}`;
  const index = at % Math.max(1, chain.length);
  const step = chain[index];
  if (step === undefined) return change === "back" ? first : [[fresh, added]];
  const [id, tree] = step;
  const before = chain.slice(0, index);
  const after = chain.slice(index + 1);
  switch (change) {
    case "none":
      return chain;
    case "back":
      return first;
    case "append":
      return [...chain, [fresh, added]];
    case "insert":
      return [...before, [fresh, added], [id, tree], ...after];
    case "remove":
      return [...before, ...after];
    case "rename":
      return [...before, [fresh, tree], ...after];
    case "replace": {
      // Replaced twice it is the first again: an outcome of the first may be in the journal.
      const original = originals.get(id) ?? tree;
      const other = original.kind === "sleep" ? added : nap;
      return [...before, [id, tree === original ? other : original], ...after];
    }
  }
}

let trials = 0;

export async function runDefinitionTrial(store: Store, plan: DefinitionPlan): Promise<string[]> {
  const trial = new DefinitionTrial(store, plan);
  await trial.run();
  return trial.problems;
}

class DefinitionTrial {
  readonly problems: string[] = [];
  readonly #id = `definition-${process.pid}-${++trials}`;
  readonly #store: Store;
  readonly #plan: DefinitionPlan;
  readonly #random: Random;
  readonly #clock: TickingClock;
  readonly #begin: number;
  /** The chains that were registered, by the hash of their definition. */
  readonly #chains = new Map<string, Chain>();
  /** The first tree of each step. */
  readonly #originals = new Map<string, Tree>();
  #chain: Chain;

  constructor(store: Store, plan: DefinitionPlan) {
    this.#store = store;
    this.#plan = plan;
    this.#random = createRandom(plan.seed);
    this.#clock = new TickingClock(this.#random, true);
    this.#begin = this.#clock.now();
    this.#chain = named(plan.steps);
  }

  async run(): Promise<void> {
    await this.#lives();
    if (this.problems.length > 0) this.problems.push(...(await this.#events()).map(line));
  }

  async #lives(): Promise<void> {
    const first = this.#chain;
    await this.#live(this.#plan.releases[0]?.end ?? 1);
    for (const [number, release] of this.#plan.releases.entries()) {
      if (this.problems.length > 0) return;
      for (const [id, tree] of this.#chain) if (!this.#originals.has(id)) this.#originals.set(id, tree);
      this.#chain = changed(this.#chain, first, release, number, this.#originals);
      await this.#live(release.end);
    }
    // The release that it last ran with is back: parked executions continue, and end.
    const state = await this.#state();
    this.#chain = this.#chains.get(state?.execution.definition ?? "") ?? this.#chain;
    if (this.problems.length === 0) await this.#live(undefined);
  }

  #state(): Promise<StoredExecution | undefined> {
    return this.#store.state(this.#id);
  }

  #events(): Promise<readonly StoredEvent[]> {
    return this.#store.events({ executionId: this.#id, after: 0, limit: 10_000 });
  }

  async #live(end: Crash | number | undefined): Promise<void> {
    const before = await this.#state();
    if (before !== undefined && before.execution.endAt !== null) return;
    const fits = before === undefined || this.#fits(before.execution.definition, await this.#events());
    const life = crashingStore(this.#store, typeof end === "object" ? end : undefined);
    const subject = {
      workflowId: this.#id,
      executionId: this.#id,
      treeAt: (path: string) => treeIn(this.#chain, path),
    };
    const world = new World(this.#random, this.#clock, subject, {
      pauses: 1,
      rewinds: 0,
      cancels: false,
      timeout: false,
    });
    const workflow = buildWorkflow(this.#id, this.#chain, this.#stageOf(life, world, fits));
    this.#chains.set(fingerprintOf(workflow).definition, this.#chain);
    const logger = new RecordingLogger();
    const base = { store: life.store, logger, clock: this.#clock };
    const options = { ...base, workflows: { workflow }, events: { opened }, links };
    const andante = createAndante(options);
    try {
      await andante.ready();
      if (before === undefined) await andante.start(this.#id, 7, { executionId: this.#id });
      if (fits) await this.#drive(andante, world, life, typeof end === "number" ? end : maxTurns);
      else await this.#seeParked(andante, before, life);
    } catch (error) {
      if (!life.crashed) this.problems.push(`the world failed: ${Object(error).stack}`);
    }
    const state = await this.#state();
    if (state?.execution.endAt != null) await this.#checkEnding(state);
    else if (end === undefined) this.problems.push(`it is stuck: ${JSON.stringify(state)}`);
    world.releaseAll();
    await andante.close({ grace: 0 });
    await life.bury();
  }

  #stageOf(life: { readonly crashed: boolean }, world: World, fits: boolean): Stage {
    const enter = (path: string) => {
      if (!fits && !life.crashed) this.problems.push(`${path} runs though the definition does not fit`);
    };
    return {
      begin: this.#begin,
      linked: () => undefined,
      enters: ({ stepPath }) => {
        enter(stepPath);
        return () => undefined;
      },
      asked: () => enter("an agent"),
      slow: () => (life.crashed ? Promise.resolve() : world.slow()),
      hangs: (signal) => (life.crashed ? Promise.resolve() : world.hangs(signal)),
      witness: () => undefined,
    };
  }

  /** The steps that the journal has come to are the first ones of this definition too. */
  #fits(definition: string | null, events: readonly StoredEvent[]): boolean {
    const was = this.#chains.get(definition ?? "") ?? [];
    const outline = (chain: Chain) => [
      ...chain.map(([id, { kind }]) => `${id} ${kind}`),
      `${witnessId} then`,
    ];
    const reached = new Set(events.flatMap(({ type, path }) => (type === "step-start" ? [path] : [])));
    const ids = [...was.map(([id]) => id), witnessId];
    const last = ids.findLastIndex((id) => reached.has(id));
    const now = outline(this.#chain);
    return outline(was).every((step, index) => index > last || now[index] === step);
  }

  async #drive(
    andante: Andante,
    world: World,
    life: { readonly crashed: boolean },
    turns: number,
  ): Promise<void> {
    for (let count = 0; count < turns && !life.crashed; count++) {
      const state = await this.#state();
      if (state === undefined || state.execution.endAt !== null) return;
      if (state.execution.parked !== null) this.problems.push(`it is parked: ${state.execution.parked}`);
      if (this.#random.chance(0.5)) await world.act(andante, state);
      await turn();
    }
  }

  /** It does not change, it is not lost, and its readers see the reason. */
  async #seeParked(
    andante: Andante,
    before: StoredExecution | undefined,
    life: { readonly crashed: boolean },
  ): Promise<void> {
    let state = await this.#state();
    for (let count = 0; count < turnsToPark && !life.crashed; count++) {
      state = await this.#state();
      if (state?.execution.parked != null || state?.execution.status === "suspended") break;
      await turn();
    }
    if (state === undefined || life.crashed) return;
    const { status, parked, sequence } = state.execution;
    // A deadline that passes is recorded under every definition; its consequences are not.
    const hasDeadline = before?.suspensions.some(({ deadline }) => deadline !== null) ?? false;
    if (sequence !== before?.execution.sequence && !hasDeadline) this.problems.push("its journal has grown");
    if (status === "running" && parked === null) this.problems.push("it is not parked");
    const shown = await andante.state(this.#id, this.#id);
    if (status === "running" && shown.status === "running" && shown.parked?.reason !== parked)
      this.problems.push(`its state shows ${shown.parked?.reason}: ${JSON.stringify(state)}`);
    const [suspension] = state.suspensions;
    if (suspension === undefined || status !== "suspended" || hasDeadline) return;
    const { suspensionId } = suspension;
    const refused = await andante
      .startResume(this.#id, this.#id, { gate: 0 }, { suspensionId })
      .then(() => "accepted")
      .catch((error: unknown) => (error instanceof AndanteError ? error.code : String(error)));
    if (refused !== "definition-changed" && !life.crashed) this.problems.push(`a resume is ${refused}`);
  }

  async #checkEnding(state: StoredExecution): Promise<void> {
    this.problems.push(...journalProblems(state, await this.#events()));
    const chain = this.#chains.get(state.execution.definition ?? "") ?? [];
    const ending = keyOf(endingOf(state.execution));
    const allowed = endingsOf(chain, 7).map(keyOf);
    if (!allowed.includes(ending))
      this.problems.push(`it ended as ${ending}, allowed: ${allowed.join(" or ")}`);
  }
}
