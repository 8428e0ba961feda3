// The levels of log lines, in order.
import { OptionError } from "../../errors/index.ts";

/** From the least to the most important. */
export const logLevels = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

/** Refuses an option whose value is not a level. */
export function checkLevel(option: string, value: string): LogLevel | "silent" {
  const level = [...logLevels, "silent" as const].find((known) => known === value);
  if (level !== undefined) return level;
  throw new OptionError({ option, problem: `"${value}" is not one of ${logLevels.join(", ")}, silent` });
}

/** The rank of a level: a line passes a filter of a level with the same rank or a lower one. `silent` lets none pass. */
export function rankOf(level: LogLevel | "silent"): number {
  return level === "silent" ? logLevels.length : logLevels.indexOf(level);
}
