// Makes numbers for a shape: first plausible ones for the field's name, then ones at the edges of what is allowed.
import { isMultiple } from "./accept.ts";
import { normalizeName } from "./hints.ts";
import type { Shape } from "./shape.ts";

/** Plausible values by a part of the field's name. */
const plausible: readonly (readonly [RegExp, number])[] = [
  [/year/, 2026],
  [/percent|progress/, 50],
  [/temperature|celsius/, 21],
  [/price|cost|amount|total/, 20],
  [/rating|stars/, 4],
  [/confidence|probability|likelihood/, 0.9],
  [/^age$|ageinyears/, 30],
  [/score/, 8],
  [/minutes|duration/, 30],
];

/** Candidates, best first; the caller takes the first that the shape accepts. */
export function numberCandidates(shape: Shape, name: string, variant: number, isInteger: boolean): number[] {
  const normalized = normalizeName(name);
  const named = plausible.find(([part]) => part.test(normalized))?.[1];
  const low = Math.max(shape.minimum, shape.exclusiveMinimum);
  const high = Math.min(shape.maximum, shape.exclusiveMaximum);
  const step = combineSteps(isInteger ? [1, ...shape.multiples] : shape.multiples);
  const wishes = [...(named === undefined ? [] : [named + variant]), variant + 1, 0];
  const stepped =
    step === undefined ? [] : [...wishes, low, high].flatMap((wish) => nearMultiples(wish, step, variant));
  const edges = [low, low + variant + 1, low + 1, low + 0.5, high, high - 1, high - 0.5, low / 2 + high / 2];
  // Far values, for what is excluded near by.
  const far = [-1, 100, -100, 10_000, -10_000, 1_000_000].map((value) => value + variant);
  return [...wishes, ...stepped, ...edges, ...far].filter((candidate) => Number.isFinite(candidate));
}

/** The smallest common multiple of the steps, as far as a thousand tries find it. */
function combineSteps(steps: readonly number[]): number | undefined {
  const largest = Math.max(...steps);
  if (steps.length === 0) return undefined;
  for (let factor = 1; factor <= 1_000; factor += 1) {
    const candidate = clean(largest * factor);
    if (steps.every((step) => isMultiple(candidate, step))) return candidate;
  }
  return largest;
}

function nearMultiples(wish: number, step: number, variant: number): number[] {
  const factor = Math.floor(wish / step);
  return [factor + 1 + variant, factor, factor + 1, factor - variant, factor - 1].map((times) =>
    clean(times * step),
  );
}

/** Without the binary dust: 0.15000000000000002 becomes 0.15. */
function clean(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(14));
}
