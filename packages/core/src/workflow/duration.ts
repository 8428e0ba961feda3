// Durations as hosts write them: milliseconds, or a number with its unit.
import { DefinitionError } from "../errors/index.ts";

/** Milliseconds, or a text such as "500ms", "10s", "5m", "2h" or "30d". */
export type Duration = number | string;

const units: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** The duration in milliseconds. `where` names the place for the error. */
export function parseDuration(duration: unknown, where = "Duration"): number {
  if (typeof duration === "number" && Number.isFinite(duration) && duration >= 0) return duration;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration)) ?? [];
  const factor = units.get(unit ?? "");
  if (typeof duration === "string" && factor !== undefined) return Number(amount) * factor;
  const problem = `expected milliseconds or a text such as "10s" or "2h", not ${JSON.stringify(duration)}`;
  throw new DefinitionError({ where, problem });
}
