// One trial: runs a random workflow through its lives, with everything around it decided by a seed.
import { setImmediate as turn } from "node:timers/promises";
import type { Andante } from "../../src/andante/andante.ts";
import { AndanteService } from "../../src/andante/andante-service.ts";
import { AndanteError } from "../../src/errors/index.ts";
import type { FoldOptions } from "../../src/execution/engine/folds.ts";
import { readFailure } from "../../src/journal/failure.ts";
import type { Snapshot, Store, StoredExecution, Suspension } from "../../src/store/store.ts";
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { type Crash, CrashedError, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { FunctionContext, StepContext } from "../../src/workflow/step-context.ts";
import { createRandom, type Random } from "../support/random.ts";
import { MemoryLogger } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";
import { buildWorkflow, type Stage } from "./build.ts";
import { Concurrency } from "./concurrency.ts";
import { foldProblems, snapshotProblems } from "./fold-rules.ts";
import { journalProblems } from "./journal-rules.ts";
import { Mirror } from "./mirror.ts";
import { raceProblems } from "./race-rules.ts";
import { type Ending, keyOf, possibleEndings } from "./reference.ts";
import type { Steps } from "./tree.ts";
import { type Testimony, witnessProblems } from "./witness.ts";

export interface TrialPlan {
  readonly steps: Steps;
  /** One life more than there are crashes. */
  readonly crashes: readonly Crash[];
  /** Decides about the world: who is answered first, which slow body ends, when somebody pauses. */
  readonly seed: number;
  /** When folds are held in memory and kept as snapshots. */
  readonly folds: FoldOptions;
}

/** Looks at the store after which an execution counts as stuck. */
const maxTurns = 3000;
/** What a pause or an answer that came too late is refused with. */
const lateCodes = new Set(["not-suspended", "not-suspendable", "shutting-down"]);

let trials = 0;

/** Runs it and tells everything that went wrong. */
export async function runTrial(store: Store, plan: TrialPlan): Promise<string[]> {
  const trial = new WorkflowTrial(store, plan);
  await trial.run();
  return trial.problems;
}

class WorkflowTrial {
  readonly problems: string[] = [];
  readonly #id = `trial-${process.pid}-${++trials}`;
  readonly #plan: TrialPlan;
  readonly #mirror = new Mirror();
  readonly #store: Store;
  readonly #random: Random;
  readonly #clock: TestClock;
  readonly #begin: number;
  #slow: (() => void)[] = [];
  #hanging = 0;
  #pauses = 1;
  #testimony: Testimony | undefined;
  readonly #snapshots: Snapshot[] = [];

  constructor(store: Store, plan: TrialPlan) {
    this.#plan = plan;
    this.#store = wrapStore(this.#mirror.watch(store), {
      keepSnapshot: (snapshot) => {
        this.#snapshots.push(snapshot);
        return store.keepSnapshot(snapshot);
      },
    });
    this.#random = createRandom(plan.seed);
    this.#clock = new TickingClock(this.#random);
    this.#begin = this.#clock.now();
  }

  async run(): Promise<void> {
    const { crashes, steps } = this.#plan;
    for (const crash of [...crashes, undefined]) {
      if (await this.#live(crash)) break;
    }
    const state = await this.#store.state(this.#id);
    if (state === undefined || state.execution.endAt === null) {
      this.problems.push("it has not ended");
      return;
    }
    const events = await this.#store.events({ executionId: this.#id, after: 0, limit: 10_000 });
    this.problems.push(...journalProblems(state, events), ...raceProblems(steps, events));
    this.problems.push(...foldProblems(events), ...snapshotProblems(this.#snapshots, events));
    this.#checkEnding(steps, state);
    if (this.#testimony !== undefined) this.problems.push(...witnessProblems(steps, this.#testimony, events));
    if (this.problems.length > 0) this.problems.push(...events.map(line));
  }

  // ---- what bodies say

  #enters({ stepPath, data, signal }: FunctionContext, concurrency: Concurrency): () => void {
    const objections = [this.#mirror.objection(stepPath, data), concurrency.enter(stepPath)];
    this.problems.push(...objections.filter((objection) => objection !== undefined));
    // A body that has lost may run on for a while, and its result is discarded: from then on it takes no place.
    let inside = true;
    const leave = () => {
      if (inside) concurrency.leave(stepPath);
      inside = false;
    };
    signal.addEventListener("abort", leave);
    return leave;
  }

  slow(): Promise<void> {
    return new Promise((resolve) => this.#slow.push(resolve));
  }

  async hangs(signal: AbortSignal): Promise<void> {
    this.#hanging++;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    this.#hanging--;
  }

  witness(context: StepContext): void {
    this.#testimony = { state: context.state, stepData: context.getStepData };
  }

  // ---- the lives

  /** One life; true when the execution has ended in it. */
  async #live(crash: Crash | undefined): Promise<boolean> {
    const life = crashingStore(this.#store, crash);
    const stage = this.#stageOf(life);
    const workflow = buildWorkflow(this.#id, this.#plan.steps, stage);
    const logger = new MemoryLogger();
    const clock = this.#clock;
    const options = { store: life.store, logger, clock, workflows: { workflow } };
    const andante = new AndanteService(options, this.#plan.folds);
    const ended = await this.#drive(andante, life).catch((error: unknown) => {
      if (!life.crashed)
        this.problems.push(`the world failed: ${error instanceof Error ? error.stack : error}`);
      return !life.crashed;
    });
    for (const release of this.#slow.splice(0)) release();
    await andante.close({ grace: 0 });
    await life.bury();
    if (!life.crashed)
      this.problems.push(...logger.messages.filter((message) => message.includes("could not")));
    return ended;
  }

  /** Bodies that outlive their process are not listened to. */
  #stageOf(life: { readonly crashed: boolean }): Stage {
    const concurrency = new Concurrency(this.#plan.steps);
    return {
      begin: this.#begin,
      enters: (context) => (life.crashed ? () => undefined : this.#enters(context, concurrency)),
      slow: () => (life.crashed ? Promise.resolve() : this.slow()),
      hangs: (signal) => (life.crashed ? Promise.resolve() : this.hangs(signal)),
      witness: (context) => this.witness(context),
    };
  }

  async #drive(andante: Andante, life: { readonly crashed: boolean }): Promise<boolean> {
    await andante.ready();
    if ((await this.#store.state(this.#id)) === undefined) {
      await andante.start(this.#id, 7, { executionId: this.#id });
    }
    for (let turns = 0; turns < maxTurns; turns++) {
      if (life.crashed) return false;
      const state = await this.#store.state(this.#id);
      if (state !== undefined && state.execution.endAt !== null) return true;
      if (state !== undefined && this.#random.chance(0.5)) await this.#act(andante, state);
      await turn();
    }
    const state = await this.#store.state(this.#id);
    const events = await this.#store.events({ executionId: this.#id, after: 0, limit: 10_000 });
    this.problems.push(`it is stuck: ${JSON.stringify(state)}`, ...events.map(line));
    return true;
  }

  /** The world does one thing that is possible now. */
  async #act(andante: Andante, { execution, suspensions }: StoredExecution): Promise<void> {
    const actions: (() => unknown)[] = [];
    const isDeadline = ({ deadline }: Suspension) => deadline !== null;
    if (this.#slow.length > 0) actions.push(() => this.#release());
    if (this.#hanging > 0 || suspensions.some(isDeadline)) actions.push(() => this.#clock.advance("1h"));
    for (const suspension of suspensions) {
      if (!isDeadline(suspension)) actions.push(() => this.#answer(andante, suspension));
    }
    if (this.#pauses > 0 && execution.status === "running" && this.#random.chance(0.02)) {
      this.#pauses--;
      actions.push(() => andante.suspend(this.#id, this.#id));
    }
    try {
      await this.#random.pick(actions)?.();
    } catch (error) {
      const late = error instanceof AndanteError && lateCodes.has(error.code);
      if (!late && !(error instanceof CrashedError)) throw error;
    }
  }

  #release(): void {
    const [release] = this.#slow.splice(this.#random.integer(0, this.#slow.length - 1), 1);
    release?.();
  }

  #answer(andante: Andante, { suspensionId, data, path }: Suspension): Promise<unknown> {
    const answer = path === null ? undefined : JSON.parse(data ?? "null");
    return andante.startResume(this.#id, this.#id, answer, { suspensionId });
  }

  #checkEnding(steps: Steps, { execution }: StoredExecution): void {
    const ending = endingOf(execution);
    const allowed = possibleEndings(steps, 7);
    if (allowed.some((one) => keyOf(one) === keyOf(ending))) return;
    this.problems.push(`it ended as ${keyOf(ending)}, allowed: ${allowed.map(keyOf).join(" or ")}`);
  }
}

function endingOf({ status, result, error }: StoredExecution["execution"]): Ending {
  if (status === "cancelled") return { kind: "cancelled" };
  if (status === "completed") return { kind: "output", value: JSON.parse(result ?? "null") };
  const { step = "", name } = readFailure(error);
  return { kind: "error", step, name };
}

/** Time goes on between any two looks at it, as it does outside of tests. */
class TickingClock extends TestClock {
  readonly #random: Random;
  #ticks = 0;

  constructor(random: Random) {
    super();
    this.#random = random;
  }

  override now(): number {
    if (this.#random.chance(0.1)) this.#ticks++;
    return super.now() + this.#ticks;
  }
}

function line({ sequence, type, path, value, detail }: StoredEvent): string {
  return `  ${sequence} ${type} ${path ?? ""} ${value ?? ""} ${detail ?? ""}`;
}
