// The levels of log lines, in order.

/** From the least to the most important. */
export const logLevels = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

/** The rank of a level: a line counts where its rank is at least that of the level asked for. `silent` lets none pass. */
export function rankOf(level: LogLevel | "silent"): number {
  return level === "silent" ? logLevels.length : logLevels.indexOf(level);
}
