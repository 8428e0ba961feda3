// Random trials of workflows: a tree, the crashes it lives through, and how much the world interferes.
import fc from "fast-check";
import type { FoldOptions } from "../../src/execution/engine/folds.ts";
import type { Crash } from "../../src/test-kit/crashing-store.ts";
import { possibleEndings, TooManyEndingsError } from "./reference.ts";
import { agentTrees, type Steps, trees } from "./tree.ts";
import type { TrialPlan } from "./trial.ts";

export const crash: fc.Arbitrary<Crash> = fc.record({
  write: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 60 })),
  variant: fc.constantFrom("lost", "unacknowledged"),
});

/** Folds that are held in memory, snapshots at every idle that are read every time, and neither. */
const folds = fc.constantFrom<FoldOptions>(
  {},
  { minEvents: 0, minGrowth: 0, memory: 0 },
  { minEvents: 0, minGrowth: 0 },
  { memory: 0 },
);

/** Trees that can be held against the reference model. */
export const comparable = trees.filter(isComparable);

export const workflowPlans = plansOf(trees);
export const agentPlans = plansOf(agentTrees);

function plansOf(steps: fc.Arbitrary<Steps>): fc.Arbitrary<TrialPlan> {
  return fc.record({
    steps: steps.filter(isComparable),
    crashes: fc.array(crash, { maxLength: 3 }),
    folds,
    seed: fc.integer(),
    pauses: fc.integer({ min: 0, max: 2 }),
    rewinds: fc.constantFrom(0, 0, 1, 2),
    cancels: fc.constantFrom(false, false, false, true),
    timeout: fc.boolean(),
    ticks: fc.boolean(),
    delivers: fc.constantFrom(false, false, false, true),
    replay: fc.option(fc.nat({ max: 10 }), { nil: undefined, freq: 2 }),
  });
}

/** So many races that almost anything is allowed prove nothing. */
function isComparable(steps: Steps): boolean {
  try {
    return possibleEndings(steps, 7).length <= 20;
  } catch (error) {
    if (error instanceof TooManyEndingsError) return false;
    throw error;
  }
}
