// The levels of log lines, in order.

/** From the least to the most important. */
export const logLevels = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

/** The rank of a level: a line passes a filter of a level with the same rank or a lower one. `silent` lets none pass. */
export function rankOf(level: LogLevel | "silent"): number {
  return level === "silent" ? logLevels.length : logLevels.indexOf(level);
}
