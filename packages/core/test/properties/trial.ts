// One trial: runs a random workflow through its lives, with everything around it decided by a seed; then a replay of it.
import { setImmediate as turn } from "node:timers/promises";
import type { Andante } from "../../src/andante/andante.ts";
import { AndanteService } from "../../src/andante/andante-service.ts";
import type { FoldOptions } from "../../src/execution/engine/folds.ts";
import { readFailure } from "../../src/journal/failure.ts";
import type { Snapshot, Store, StoredExecution } from "../../src/store/store.ts";
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { type Crash, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import type { StepContext } from "../../src/workflow/step-context.ts";
import { createRandom, type Random } from "../support/random.ts";
import { wrapStore } from "../support/wrapped-store.ts";
import { buildWorkflow, type Entered, links, opened, type Stage } from "./build.ts";
import { Concurrency } from "./concurrency.ts";
import { countingEvents } from "./counting-events.ts";
import { deliveryProblems, endpointOf } from "./delivered.ts";
import { foldProblems, snapshotProblems } from "./fold-rules.ts";
import { journalProblems } from "./journal-rules.ts";
import { isOutcome, Mirror, topLevelIndex } from "./mirror.ts";
import { Once } from "./once.ts";
import { raceProblems } from "./race-rules.ts";
import { type Ending, keyOf, possibleEndings } from "./reference.ts";
import { named, type Steps, treeAt } from "./tree.ts";
import { type Testimony, witnessProblems } from "./witness.ts";
import { type Interference, TickingClock, World, workflowTimeout } from "./world.ts";

export interface TrialPlan extends Interference {
  readonly steps: Steps;
  /** One life more than there are crashes. */
  readonly crashes: readonly Crash[];
  /** Decides about the world: which suspension is resumed first, which slow body ends, when it is paused. */
  readonly seed: number;
  /** When folds are held in memory and kept as snapshots. */
  readonly folds: FoldOptions;
  /** False: time moves only with the world, so that timers and deadlines fall due at the same instant. */
  readonly ticks: boolean;
  /** Which of the steps that it came to it is replayed from; undefined for no replay. */
  readonly replay: number | undefined;
  /** An endpoint receives its events. */
  readonly delivers: boolean;
}

/** Looks at the store after which an execution counts as stuck. */
const maxTurns = 3000;

let trials = 0;

/** Runs it and returns every problem. */
export async function runTrial(store: Store, plan: TrialPlan): Promise<string[]> {
  const random = createRandom(plan.seed);
  const clock = new TickingClock(random, plan.ticks);
  const id = `trial-${process.pid}-${++trials}`;
  const scene = { random, clock, begin: clock.now(), workflowId: id };
  const endings = possibleEndings(plan.steps, 7);
  const start = (andante: Andante) => andante.start(id, 7, { executionId: id });
  const trial = new WorkflowTrial(store, plan, scene, { executionId: id, endings, start, from: 0 });
  await trial.run();
  if (plan.replay === undefined || trial.problems.length > 0) return trial.problems;
  const events = await store.events({ executionId: id, after: 0, limit: 10_000 });
  const { problems } = await runReplay(store, { ...plan, rewinds: 0 }, scene, plan.replay, events);
  return problems.map((problem) => `in the replay: ${problem}`);
}

async function runReplay(
  store: Store,
  plan: TrialPlan,
  scene: Scene,
  which: number,
  events: readonly StoredEvent[],
) {
  const starts = countingEvents(events).filter(
    ({ type, path }) => type === "step-start" && path !== null && /^s\d+$/.test(path),
  );
  const { path: stepId, stepIndex, value } = starts[which % starts.length] ?? {};
  if (typeof stepId !== "string" || typeof stepIndex !== "number") return { problems: [] };
  const executionId = `${scene.workflowId}-replay`;
  const endings = possibleEndings(plan.steps, JSON.parse(value ?? "null"), stepIndex);
  const start = (andante: Andante) =>
    andante.startReplay(scene.workflowId, scene.workflowId, { stepId, executionId });
  const trial = new WorkflowTrial(store, plan, scene, { executionId, endings, start, from: stepIndex });
  await trial.run();
  return trial;
}

/** The common part of a trial and its replay. */
interface Scene {
  readonly random: Random;
  readonly clock: TickingClock;
  /** Moments to sleep until are counted from here, in every life. */
  readonly begin: number;
  readonly workflowId: string;
}

/** The execution, how it begins and how it may end. */
interface Begun {
  readonly executionId: string;
  readonly endings: readonly Ending[];
  readonly start: (andante: Andante) => Promise<unknown>;
  /** The first step that runs; outcomes of those before it are taken over. */
  readonly from: number;
}

class WorkflowTrial {
  readonly problems: string[] = [];
  readonly #plan: TrialPlan;
  readonly #scene: Scene;
  readonly #begun: Begun;
  readonly #mirror = new Mirror();
  readonly #store: Store;
  readonly #world: World;
  #testimony: Testimony | undefined;
  #endpoints: Awaited<ReturnType<typeof endpointOf>> | undefined;
  readonly #snapshots: Snapshot[] = [];

  constructor(store: Store, plan: TrialPlan, scene: Scene, begun: Begun) {
    this.#plan = plan;
    this.#scene = scene;
    this.#begun = begun;
    const watched = this.#mirror.watch(store);
    this.#store = wrapStore(watched, {
      create: (execution) => {
        // A workflow without a function, such as a list without items, may have ended already.
        const taken = execution.events.filter(
          (event) => isOutcome(event) && (event.stepIndex ?? 0) >= begun.from && hasBody(event),
        );
        this.problems.push(...taken.map(({ path }) => `the outcome of ${path} is taken over`));
        return watched.create(execution);
      },
      keepSnapshot: (snapshot) => {
        this.#snapshots.push(snapshot);
        return store.keepSnapshot(snapshot);
      },
    });
    const treeOf = (path: string) => treeAt(plan.steps, path);
    const subject = { ...begun, workflowId: scene.workflowId, treeAt: treeOf };
    this.#world = new World(scene.random, scene.clock, subject, plan);
  }

  async run(): Promise<void> {
    const { crashes, steps, delivers } = this.#plan;
    if (delivers) this.#endpoints = await endpointOf(this.#scene.workflowId);
    for (const crash of [...crashes, undefined]) {
      if (await this.#live(crash)) break;
    }
    const state = await this.#state();
    if (state === undefined || state.execution.endAt === null) {
      this.problems.push("it has not ended");
      return;
    }
    const target = `w${this.#scene.workflowId}`;
    for (const key of this.#world.keys) {
      const waits = await this.#store.signals.waits({ scope: "", name: opened.name, key, target, limit: 1 });
      if (waits.length > 0) this.problems.push(`it has ended and waits for the event ${key}`);
    }
    const events = await this.#events();
    const left = countingEvents(events);
    this.problems.push(...journalProblems(state, events), ...raceProblems(steps, left));
    const snapshots = this.#snapshots.filter(({ executionId }) => executionId === this.#begun.executionId);
    this.problems.push(...foldProblems(events), ...snapshotProblems(snapshots, events));
    this.#checkEnding(state);
    if (this.#testimony !== undefined) this.problems.push(...witnessProblems(steps, this.#testimony, left));
    if (this.problems.length > 0) this.problems.push(...events.map(line));
  }

  #state(): Promise<StoredExecution | undefined> {
    return this.#store.state(this.#begun.executionId);
  }

  #events(): Promise<readonly StoredEvent[]> {
    return this.#store.events({ executionId: this.#begun.executionId, after: 0, limit: 10_000 });
  }

  #enters({ stepPath, data, signal, attempts }: Entered, concurrency: Concurrency, once: Once) {
    // A tool whose output cannot be recorded fails its step, which allows `attempts` runs.
    const runs = attempts ?? 1;
    const rewinds = this.#mirror.rewindsOf(stepPath);
    const objections = [
      this.#mirror.enter(),
      this.#mirror.objection(stepPath, data),
      once.objection(stepPath, rewinds, runs),
      concurrency.enter(stepPath),
      topLevelIndex(stepPath) < this.#begun.from ? `${stepPath} runs, it is taken over` : undefined,
    ];
    this.problems.push(...objections.filter((objection) => objection !== undefined));
    // A body that has lost may run on for a while, and its result is discarded: from then on it takes no place.
    let inside = true;
    const leave = (isDone = false) => {
      if (inside) concurrency.leave(stepPath);
      if (inside && isDone) once.done(stepPath, rewinds);
      inside = false;
    };
    signal.addEventListener("abort", () => leave());
    return leave;
  }

  /** One life; true when the execution has ended in it. */
  async #live(crash: Crash | undefined): Promise<boolean> {
    const life = crashingStore(this.#store, crash);
    const stage = this.#stageOf(life);
    const timeout = this.#plan.timeout ? workflowTimeout : undefined;
    const workflow = buildWorkflow(this.#scene.workflowId, named(this.#plan.steps), stage, timeout);
    const logger = new RecordingLogger();
    const { clock } = this.#scene;
    const andante = new AndanteService(
      {
        ...{ store: life.store, logger, clock, workflows: { workflow }, events: { opened }, links },
        ...(this.#endpoints && { endpoints: this.#endpoints }),
      },
      this.#plan.folds,
    );
    const ended = await this.#toTheEnd(andante, life).catch((error: unknown) => {
      if (!life.crashed)
        this.problems.push(`the world failed: ${error instanceof Error ? error.stack : error}`);
      return !life.crashed;
    });
    this.#world.releaseAll();
    await andante.close({ grace: 0 });
    await life.bury();
    if (!life.crashed)
      this.problems.push(...logger.messages.filter((message) => message.includes("could not")));
    return ended;
  }

  /** Bodies that outlive their process are not listened to. */
  #stageOf(life: { readonly crashed: boolean }): Stage {
    const concurrency = new Concurrency(this.#plan.steps);
    const once = new Once();
    return {
      begin: this.#scene.begin,
      enters: (entered) => (life.crashed ? () => undefined : this.#enters(entered, concurrency, once)),
      asked: () => {
        const objection = life.crashed ? undefined : this.#mirror.enter();
        if (objection !== undefined) this.problems.push(objection);
      },
      linked: (url) => void (life.crashed || this.#world.links.push(url)),
      slow: () => (life.crashed ? Promise.resolve() : this.#world.slow()),
      hangs: (signal) => (life.crashed ? Promise.resolve() : this.#world.hangs(signal)),
      witness: ({ state, getStepData }: StepContext) => {
        this.#testimony = { state, stepData: getStepData };
      },
    };
  }

  async #toTheEnd(andante: Andante, life: { readonly crashed: boolean }): Promise<boolean> {
    if (!(await this.#drive(andante, life))) return false;
    const { execution } = (await this.#state()) ?? {};
    if (this.#endpoints === undefined || execution?.endAt == null) return true;
    const { executionId } = this.#begun;
    const { clock, workflowId: id } = this.#scene;
    const ended = { id, executionId, status: execution.status };
    const problems = await deliveryProblems(andante, clock, ended);
    if (life.crashed) return false;
    this.problems.push(...problems);
    return true;
  }

  async #drive(andante: Andante, life: { readonly crashed: boolean }): Promise<boolean> {
    await andante.ready();
    if ((await this.#state()) === undefined) await this.#begun.start(andante);
    for (let turns = 0; turns < maxTurns; turns++) {
      if (life.crashed) return false;
      const state = await this.#state();
      if (state !== undefined && state.execution.endAt !== null) return true;
      if (state !== undefined && this.#scene.random.chance(0.5)) await this.#world.act(andante, state);
      await turn();
    }
    this.problems.push(`it is stuck: ${JSON.stringify(await this.#state())}`);
    this.problems.push(...(await this.#events()).map(line));
    return true;
  }

  #checkEnding({ execution }: StoredExecution): void {
    const ending = endingOf(execution);
    const { cancel } = this.#world;
    if (cancel !== "none" && ending.kind === "cancelled") return;
    if (cancel === "done") this.problems.push("it was cancelled");
    const { endings } = this.#begun;
    if (endings.some((one) => keyOf(one) === keyOf(ending))) return;
    this.problems.push(`it ended as ${keyOf(ending)}, allowed: ${endings.map(keyOf).join(" or ")}`);
  }
}

export function endingOf({ status, result, error }: StoredExecution["execution"]): Ending {
  if (status === "cancelled") return { kind: "cancelled" };
  if (status === "completed") return { kind: "output", value: JSON.parse(result ?? "null") };
  const { step = "", name } = readFailure(error);
  return { kind: "error", step, name };
}

function hasBody({ stepType }: { readonly stepType: string | null }): boolean {
  return stepType === "andThen" || stepType === "andTap" || stepType === "andAgent";
}

/** An event as problems show it. */
export function line({ sequence, type, path, value, detail }: StoredEvent): string {
  return `  ${sequence} ${type} ${path ?? ""} ${value ?? ""} ${detail ?? ""}`;
}
