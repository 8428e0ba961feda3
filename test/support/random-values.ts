// Random values that a failure can repeat.

/** A generator of numbers. */
export function randomOf(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(values: readonly T[]): T | undefined => values[below(values.length)];
  return { next, below, pick };
}
export type Random = ReturnType<typeof randomOf>;

/** The text, sometimes with a wrong character, or cut off. */
export function brokenText(random: Random, message: unknown): string {
  const text = JSON.stringify(message) ?? "";
  const choice = random.next();
  if (choice > 0.04) return text;
  const at = random.below(text.length);
  return choice < 0.02
    ? text.slice(0, at)
    : `${text.slice(0, at)}${random.pick(["}", '"', "\u0000"])}${text.slice(at)}`;
}
