// The fold of a journal: what is known of each path that an execution has reached.
import type { JsonText } from "../values/json.ts";
import { stepIdOf } from "../values/step-path.ts";
import { JournaledCheckpoints } from "./checkpoints.ts";
import {
  type CheckpointCompleteEvent,
  type CheckpointRetryEvent,
  isOutcome,
  type JournalEvent,
  unknownEvent,
} from "./events.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";

/** What a suspension was resumed with. */
export interface Resumption {
  /** JSON text, "null" for none. */
  readonly data: string;
  /** Nobody resumed it in time, and its deadline fails the step. */
  readonly expired: boolean;
}

/** What is known of one path. */
export interface PathState {
  readonly stepIndex: number;
  /** Its start is in the journal, with this input. */
  started: boolean;
  /** When that was, in milliseconds since 1970. */
  startedAt: number;
  input: JsonText;
  outcome: Outcome | undefined;
  /** The number of the outcome's event: what came first wins. */
  sequence: number;
  /** The newest suspension of this step. */
  suspension: { readonly suspensionId: string; readonly data: JsonText } | undefined;
  /** What that suspension was resumed with, once it has been. */
  resumption: Resumption | undefined;
  /** Attempts that failed and are followed by another, which starts no earlier than `retryAt`. */
  failures: number;
  retryAt: number;
}

/** What is known of every path that the execution has reached. */
export class Journal {
  readonly #paths = new Map<string, PathState>();
  /** The newest outcome of each step id: a search through all paths made loops take quadratic time. */
  readonly #newest = new Map<string, PathState>();
  /** What steps have set, in order. */
  #patches: { readonly stepIndex: number; readonly patch: string }[] = [];
  /** What they come to: changed in place, because a copy for each change made many of them take quadratic time. */
  #state: Map<string, unknown> | undefined;
  #stateVersion = 0;
  /** Made for the first one: most bodies have none. */
  #checkpoints: JournaledCheckpoints | undefined;
  /** Resumes and rewinds so far; the store compares the number before it lets an owner go idle. */
  resumes = 0;

  get(path: string): PathState | undefined {
    return this.#paths.get(path);
  }

  get paths(): ReadonlyMap<string, PathState> {
    return this.#paths;
  }

  /** What the checkpoints of bodies that have not ended recorded; undefined when there was none. */
  get checkpoints(): Pick<JournaledCheckpoints, "get" | "waitsOf"> | undefined {
    return this.#checkpoints;
  }

  checkpointCompleted(event: CheckpointCompleteEvent): void {
    this.#checkpoints ??= new JournaledCheckpoints();
    this.#checkpoints.completed(event);
  }

  checkpointFailed(event: CheckpointRetryEvent): void {
    this.#checkpoints ??= new JournaledCheckpoints();
    this.#checkpoints.failed(event);
  }

  /** The step of this id that ended last, wherever it stands. */
  newest(stepId: string): PathState | undefined {
    return this.#newest.get(stepId);
  }

  /** What the steps have set with `setState` so far. */
  get state(): ReadonlyMap<string, unknown> {
    if (this.#state !== undefined) return this.#state;
    const state = new Map<string, unknown>();
    for (const { patch } of this.#patches) applyPatch(state, patch);
    this.#state = state;
    return state;
  }

  /** Grows whenever the state changes. */
  get stateVersion(): number {
    return this.#stateVersion;
  }

  stateChanged(stepIndex: number, patch: string): void {
    this.#patches.push({ stepIndex, patch });
    this.#stateVersion++;
    if (this.#state !== undefined) applyPatch(this.#state, patch);
  }

  started(path: string, stepIndex: number, input: JsonText, at: number): void {
    const state = this.#at(path, stepIndex);
    state.started = true;
    state.startedAt = at;
    state.input = input;
  }

  ended(path: string, stepIndex: number, outcome: Outcome, sequence: number): void {
    const state = this.#at(path, stepIndex);
    // Outcomes are recorded once: the first wins.
    if (state.outcome !== undefined) return;
    state.outcome = outcome;
    state.sequence = sequence;
    this.#checkpoints?.ended(path);
  }

  /**
   * The event of this number is in the store. Only now an outcome counts as the newest of its step id: a commit puts the
   * outcomes of bodies before those of containers, so before it the order is not known, and would be another after a crash.
   */
  committed(event: JournalEvent): void {
    if (isOutcome(event)) this.#number(event.path, event.sequence);
  }

  /** An attempt failed; the next one starts at `retryAt` or later. */
  failed(path: string, stepIndex: number, attempt: number, retryAt: number): void {
    const state = this.#at(path, stepIndex);
    state.failures = attempt;
    state.retryAt = retryAt;
  }

  suspended(path: string, stepIndex: number, suspensionId: string, data: JsonText): void {
    const state = this.#at(path, stepIndex);
    state.suspension = { suspensionId, data };
    state.resumption = undefined;
  }

  resumed(path: string, suspensionId: string, resumption: Resumption): void {
    const state = this.#paths.get(path);
    if (state?.suspension?.suspensionId === suspensionId) state.resumption = resumption;
  }

  /** Forgets everything at or after a top-level step, which then runs with `data` as its resume data. */
  rewound(stepId: string, stepIndex: number, data: string): void {
    this.#patches = this.#patches.filter((change) => change.stepIndex < stepIndex);
    this.#state = undefined;
    this.#stateVersion++;
    this.#newest.clear();
    this.#checkpoints?.rewound(stepIndex);
    for (const [path, state] of this.#paths) {
      if (state.stepIndex >= stepIndex) this.#paths.delete(path);
      else this.#remember(path, state);
    }
    const state = this.#at(stepId, stepIndex);
    state.suspension = { suspensionId: "", data: undefined };
    state.resumption = { data, expired: false };
  }

  #number(path: string, sequence: number): void {
    const state = this.#paths.get(path);
    if (state === undefined) return;
    state.sequence = sequence;
    this.#remember(path, state);
  }

  #remember(path: string, state: PathState): void {
    if (state.outcome === undefined || path.includes("#")) return;
    const id = stepIdOf(path);
    if (state.sequence > (this.#newest.get(id)?.sequence ?? 0)) this.#newest.set(id, state);
  }

  #at(path: string, stepIndex: number): PathState {
    let state = this.#paths.get(path);
    if (state === undefined) {
      state = {
        stepIndex,
        started: false,
        startedAt: 0,
        input: undefined,
        outcome: undefined,
        sequence: 0,
        suspension: undefined,
        resumption: undefined,
        failures: 0,
        retryAt: 0,
      };
      this.#paths.set(path, state);
    }
    return state;
  }
}

function applyPatch(state: Map<string, unknown>, patch: string): void {
  for (const [key, value] of Object.entries(JSON.parse(patch))) state.set(key, value);
}

/** Adds journaled events to what is known. */
export function replayEvents(journal: Journal, events: Iterable<JournalEvent>): void {
  for (const event of events) {
    replayEvent(journal, event);
    journal.committed(event);
  }
}

function replayEvent(journal: Journal, event: JournalEvent): void {
  if (isOutcome(event)) return journal.ended(event.path, event.stepIndex, outcomeOf(event), event.sequence);
  switch (event.type) {
    case "step-start":
      return journal.started(event.path, event.stepIndex, event.input, event.timestamp);
    case "step-retry":
      return journal.failed(event.path, event.stepIndex, event.attempt, event.retryAt);
    case "state-changed":
      return journal.stateChanged(event.stepIndex, event.patch);
    case "checkpoint-complete":
      return journal.checkpointCompleted(event);
    case "checkpoint-retry":
      return journal.checkpointFailed(event);
    case "step-suspended":
      return journal.suspended(event.path, event.stepIndex, event.suspensionId, event.data);
    case "workflow-resumed": {
      journal.resumes++;
      const { path, suspensionId, resumeData = "null", expired } = event;
      if (path !== null) journal.resumed(path, suspensionId, { data: resumeData, expired });
      return;
    }
    case "execution-rewound":
      journal.resumes++;
      return journal.rewound(event.path, event.stepIndex, event.resumeData ?? "null");
    case "workflow-start":
    case "workflow-suspended":
    case "workflow-complete":
    case "workflow-error":
    case "workflow-cancelled":
    case "emitted":
      return;
    default:
      return unknownEvent(event);
  }
}
