// When a function of a random workflow ends.
import fc from "fast-check";

/** Within its call, a few turns later, or when the world lets it. */
export type Pace = "at-once" | "soon" | "slow";

export const pace = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Pace>("at-once") },
  { weight: 2, arbitrary: fc.constant<Pace>("soon") },
  { weight: 2, arbitrary: fc.constant<Pace>("slow") },
);

export function rarely(): fc.Arbitrary<boolean> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
}
