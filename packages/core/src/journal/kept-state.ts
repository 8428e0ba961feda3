// The state that steps have set with `setState`, in the order of the top-level steps, so that a rewind to one removes the
// changes of it and of those after it.
import { parseObject } from "../values/fields.ts";

/** The state that one top-level step has set. */
export interface StateGroup {
  readonly stepIndex: number;
  readonly keys: Map<string, unknown>;
}

export class KeptState {
  #groups: StateGroup[];
  /** The merged state: changed in place, because a copy for each change made many of them take quadratic time. */
  #current: Map<string, unknown> | undefined;

  constructor(groups: StateGroup[] = []) {
    this.#groups = groups;
  }

  get groups(): readonly StateGroup[] {
    return this.#groups;
  }

  get current(): ReadonlyMap<string, unknown> {
    // While one step alone has set something, its keys are all there is.
    if (this.#groups.length === 1 && this.#groups[0] !== undefined) return this.#groups[0].keys;
    if (this.#current !== undefined) return this.#current;
    this.#current = new Map();
    for (const { keys } of this.#groups) for (const [key, value] of keys) this.#current.set(key, value);
    return this.#current;
  }

  /** `patch` is the JSON text of an object. */
  set(stepIndex: number, patch: string): void {
    const entries = Object.entries(parseObject(patch, "A change of the state"));
    let last = this.#groups.at(-1);
    if (last?.stepIndex !== stepIndex) {
      last = { stepIndex, keys: new Map() };
      this.#groups.push(last);
    }
    for (const [key, value] of entries) {
      last.keys.set(key, value);
      this.#current?.set(key, value);
    }
  }

  /** Removes the state that this top-level step and those after it have set. */
  rewind(stepIndex: number): void {
    this.#groups = this.#groups.filter((group) => group.stepIndex < stepIndex);
    this.#current = undefined;
  }
}
