// Durations: milliseconds, or a string such as "10s" or "2h".
import { DefinitionError } from "../errors/index.ts";

/** Milliseconds, or a number with its unit: `ms`, `s`, `m`, `h` or `d`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A hundred years: more is a mistake, and would leave the range of dates. */
const maxDuration = 36_525 * 86_400_000;

/** The milliseconds of a duration, rounded: stores keep whole ones. `where` names the option in the error. */
export function parseDuration(duration: unknown, where: string): number {
  const milliseconds = millisecondsOf(duration);
  if (milliseconds !== undefined && milliseconds >= 0 && milliseconds <= maxDuration)
    return Math.round(milliseconds);
  throw new DefinitionError({
    where,
    problem: `expected milliseconds or a string such as "10s" or "2h", received ${JSON.stringify(duration)}`,
  });
}

function millisecondsOf(duration: unknown): number | undefined {
  if (typeof duration === "number") return Number.isFinite(duration) ? duration : undefined;
  if (typeof duration !== "string") return undefined;
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) ?? [];
  return amount === undefined ? undefined : Number(amount) * (units[unit] ?? 0);
}
