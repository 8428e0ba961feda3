// The newest steps of rounds and items that are over. A loop may go round for ever, so only so many are kept: those that
// a body may still ask for by their paths.
import { stepPathOf } from "../values/step-path.ts";
import { type PathState, stateLength } from "./path-state.ts";

/** How many are kept, and how long their inputs and outputs may be together. */
const maxSteps = 100;
const maxLength = 100_000;

export class PastSteps {
  /** By path, the oldest first. */
  readonly #steps: Map<string, PathState>;
  /** By the index of the top-level step: the paths that were reached, without the numbers of rounds and items. */
  readonly #reached: Map<number, Set<string>>;
  #length = 0;

  constructor(steps = new Map<string, PathState>(), reached = new Map<number, Set<string>>()) {
    this.#steps = steps;
    this.#reached = reached;
    for (const state of steps.values()) this.#length += stateLength(state);
  }

  get steps(): ReadonlyMap<string, PathState> {
    return this.#steps;
  }

  get reached(): ReadonlyMap<number, ReadonlySet<string>> {
    return this.#reached;
  }

  /** The state of this path is not needed to continue any more. */
  add(path: string, state: PathState): void {
    // It was never recorded: the branch it is part of had lost before.
    if (state.outcome === undefined && state.sequence === 0) return;
    this.#reach(path, state.stepIndex);
    if (state.outcome === undefined || path.includes("#")) return;
    this.#steps.set(path, state);
    this.#length += stateLength(state);
    for (const [oldest, old] of this.#steps) {
      if (this.#steps.size <= maxSteps && this.#length <= maxLength) return;
      this.#steps.delete(oldest);
      this.#length -= stateLength(old);
    }
  }

  #reach(path: string, stepIndex: number): void {
    const reached = this.#reached.get(stepIndex);
    if (reached === undefined) this.#reached.set(stepIndex, new Set([stepPathOf(path)]));
    else reached.add(stepPathOf(path));
  }

  /** Forgets everything at or after a top-level step. */
  rewind(stepIndex: number): void {
    for (const index of this.#reached.keys()) if (index >= stepIndex) this.#reached.delete(index);
    for (const [path, state] of this.#steps) {
      if (state.stepIndex < stepIndex) continue;
      this.#steps.delete(path);
      this.#length -= stateLength(state);
    }
  }
}
