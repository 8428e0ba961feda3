// The part of the fold that bodies read when they run again: the records of their checkpoints.
import type { JsonText } from "../values/json.ts";
import { bodyPathOf } from "../values/step-path.ts";
import type { CheckpointCall, CheckpointCompleteEvent, CheckpointRetryEvent, StepUsage } from "./events.ts";

/** The state of one checkpoint. */
export interface CheckpointState {
  /** It was recorded, with this output. */
  recorded: boolean;
  output: JsonText;
  call: CheckpointCall | undefined;
  usage: StepUsage | undefined;
  /** Attempts that failed in this attempt of the step; the next one starts no earlier than `retryAt`. */
  failures: number;
  stepAttempt: number;
  retryAt: number;
  /** When the first of them failed; undefined without one. */
  failingSince?: number | undefined;
}

/** How often a body has waited for another attempt of a checkpoint, and until when it waits now. */
export interface CheckpointWaits {
  readonly count: number;
  readonly until: number;
}

/** The records of one body's checkpoints. */
export interface BodyState {
  readonly stepIndex: number;
  readonly checkpoints: Map<string, CheckpointState>;
  waits: CheckpointWaits | undefined;
}

/** By body: no code reads them after the step has ended, so they are removed with it. */
export class JournaledCheckpoints {
  readonly #bodies: Map<string, BodyState>;

  constructor(bodies = new Map<string, BodyState>()) {
    this.#bodies = bodies;
  }

  /** By the paths of the bodies. */
  get bodies(): ReadonlyMap<string, BodyState> {
    return this.#bodies;
  }

  *paths(): Iterable<string> {
    for (const { checkpoints } of this.#bodies.values()) yield* checkpoints.keys();
  }

  get(path: string): CheckpointState | undefined {
    return this.#bodies.get(bodyPathOf(path))?.checkpoints.get(path);
  }

  waitsOf(bodyPath: string): CheckpointWaits | undefined {
    return this.#bodies.get(bodyPath)?.waits;
  }

  /** The records of this body. */
  of(bodyPath: string): Iterable<CheckpointState> {
    return this.#bodies.get(bodyPath)?.checkpoints.values() ?? [];
  }

  completed({ path, stepIndex, output, call, usage }: CheckpointCompleteEvent): void {
    const state = this.#at(path, stepIndex);
    // Recorded once: the first wins.
    if (state.recorded) return;
    state.recorded = true;
    state.output = output;
    state.call = call;
    state.usage = usage;
  }

  failed({ path, stepIndex, attempt, stepAttempt, retryAt, timestamp }: CheckpointRetryEvent): void {
    const state = this.#at(path, stepIndex);
    if (attempt === 1) state.failingSince = timestamp;
    state.failures = attempt;
    state.stepAttempt = stepAttempt;
    state.retryAt = retryAt;
    const body = this.#body(path, stepIndex);
    body.waits = { count: (body.waits?.count ?? 0) + 1, until: retryAt };
  }

  /** The body at this path has an outcome. */
  ended(bodyPath: string): void {
    this.#bodies.delete(bodyPath);
  }

  /** Forgets everything at or after a top-level step. */
  rewound(stepIndex: number): void {
    for (const [path, body] of this.#bodies) if (body.stepIndex >= stepIndex) this.#bodies.delete(path);
  }

  #at(path: string, stepIndex: number): CheckpointState {
    const { checkpoints } = this.#body(path, stepIndex);
    let state = checkpoints.get(path);
    if (state === undefined) {
      const none = { output: undefined, call: undefined, usage: undefined };
      state = { recorded: false, ...none, failures: 0, stepAttempt: 0, retryAt: 0 };
      checkpoints.set(path, state);
    }
    return state;
  }

  #body(path: string, stepIndex: number): BodyState {
    const bodyPath = bodyPathOf(path);
    let body = this.#bodies.get(bodyPath);
    if (body === undefined) {
      body = { stepIndex, checkpoints: new Map(), waits: undefined };
      this.#bodies.set(bodyPath, body);
    }
    return body;
  }
}
