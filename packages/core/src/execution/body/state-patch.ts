// What a body sets with `setState`: kept until its outcome is known, then applied to the state as it is at that moment.
import { StepSchemaError } from "../../errors/index.ts";
import { toJson } from "../../values/json.ts";
import type { WorkflowState } from "../../workflow/step-context.ts";

export type StatePatch = WorkflowState | ((state: WorkflowState) => WorkflowState);

/**
 * The keys that the patches set, in order, on top of a state; JSON text of an object. Throws what a patch function
 * throws.
 */
export function mergePatches(state: WorkflowState, patches: readonly StatePatch[], path: string): string {
  let set: WorkflowState = {};
  for (const patch of patches) {
    const given = typeof patch === "function" ? patch(structuredClone({ ...state, ...set })) : patch;
    // Spread, not assigned: a key named __proto__ stays a key.
    set = { ...set, ...JSON.parse(patchText(given, path)) };
  }
  return JSON.stringify(set);
}

/** A patch as JSON text; what is not an object, or cannot be kept, fails the step. */
export function patchText(patch: unknown, path: string): string {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) {
    throw new StepSchemaError({ path, what: "state", detail: "expected an object" });
  }
  return toJson(patch, `State set by step ${path}`) ?? "{}";
}
