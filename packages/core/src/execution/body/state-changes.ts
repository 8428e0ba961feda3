// The state that one attempt of a body sets with `setState`: evaluated at the call, merged per key, kept with the outcome.
//
// A function is evaluated again only where another branch has changed the state since: so a body reads the values that
// are kept, and branches that count together count correctly.
import { StepSchemaError } from "../../errors/index.ts";
import type { Journal } from "../../journal/journal.ts";
import { toJson } from "../../values/json.ts";
import type { WorkflowState } from "../../workflow/step-context.ts";

export type StatePatch = WorkflowState | ((state: WorkflowState) => WorkflowState);

export class StateChanges {
  readonly #journal: Pick<Journal, "state" | "stateVersion">;
  readonly #path: string;
  /** The patches of the body, in order; objects as they were at the call. */
  readonly #patches: StatePatch[] = [];
  /** The merged values. A map: copying an object for each patch made many keys take quadratic time. */
  #set = new Map<string, unknown>();
  /** The version of the state at the first patch. */
  #basis: number | undefined;

  constructor(journal: Pick<Journal, "state" | "stateVersion">, path: string) {
    this.#journal = journal;
    this.#path = path;
  }

  /** Rethrows the error of a function; a patch that is no object, or cannot be kept, fails the step. */
  add(patch: StatePatch): void {
    this.#basis ??= this.#journal.stateVersion;
    const keys = this.#evaluate(patch);
    this.#patches.push(typeof patch === "function" ? patch : keys);
    this.#merge(keys);
  }

  /** The state as the body sees it; a copy. */
  read(): WorkflowState {
    const state = new Map(this.#journal.state);
    for (const [key, value] of this.#set) state.set(key, value);
    for (const [key, value] of state) if (typeof value === "object") state.set(key, structuredClone(value));
    return Object.fromEntries(state);
  }

  /** The keys that are set, on top of the state as it is now; JSON text of an object. */
  text(): string {
    if (this.#basis !== this.#journal.stateVersion) {
      this.#set = new Map();
      for (const patch of this.#patches) this.#merge(this.#evaluate(patch));
    }
    return JSON.stringify(Object.fromEntries(this.#set));
  }

  /** The keys of one patch, through JSON: later changes of the object do not count. */
  #evaluate(patch: StatePatch): WorkflowState {
    const given: unknown = typeof patch === "function" ? patch(this.read()) : patch;
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
      throw new StepSchemaError({ path: this.#path, subject: "state", detail: "expected an object" });
    }
    return JSON.parse(toJson(given, `State set by step ${this.#path}`) ?? "{}");
  }

  #merge(keys: WorkflowState): void {
    for (const [key, value] of Object.entries(keys)) this.#set.set(key, value);
  }
}
