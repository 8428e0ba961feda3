// Random conversations as plain data: groups of actions, and where the process ends.
import fc from "fast-check";
import type { Crash } from "../../src/test-kit/crashing-store.ts";
import { plainTalks, type Talk } from "./talk.ts";

/** Which message an action is about, and whether with another text. `which` counts those that were sent before. */
export interface PlannedAction {
  readonly kind: "post" | "repeat" | "edit" | "again" | "decide" | "stop";
  readonly which: number;
  readonly mode: "chat" | "text";
}

export interface PlannedGroup {
  readonly actions: readonly PlannedAction[];
  /** The process ends at this write, or in order with its replies under way; undefined: it lives on. */
  readonly end: Crash | "closed" | undefined;
}

export interface ConversationPlan {
  readonly groups: readonly PlannedGroup[];
  /** The effects of new texts, one after the other. */
  readonly talks: readonly Talk[];
  readonly seed: number;
}

const actions: fc.Arbitrary<PlannedAction> = fc.record({
  kind: fc.oneof(
    { weight: 5, arbitrary: fc.constant<PlannedAction["kind"]>("post") },
    { weight: 2, arbitrary: fc.constant<PlannedAction["kind"]>("decide") },
    { weight: 3, arbitrary: fc.constantFrom<PlannedAction["kind"]>("repeat", "edit", "again", "stop") },
  ),
  which: fc.nat({ max: 6 }),
  mode: fc.constantFrom("chat", "text"),
});

export const conversationPlans: fc.Arbitrary<ConversationPlan> = fc.record({
  groups: fc.array(
    fc.record({
      actions: fc.oneof(
        { weight: 2, arbitrary: fc.array(actions, { minLength: 1, maxLength: 1 }) },
        { weight: 1, arbitrary: fc.array(actions, { minLength: 2, maxLength: 3 }) },
      ),
      end: fc.oneof(
        { weight: 3, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.constant<"closed">("closed") },
        {
          weight: 2,
          arbitrary: fc.record({
            write: fc.integer({ min: 1, max: 8 }),
            variant: fc.constantFrom("lost", "unacknowledged"),
          }),
        },
      ),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  talks: fc.array(plainTalks, { minLength: 6, maxLength: 6 }),
  seed: fc.integer(),
});
