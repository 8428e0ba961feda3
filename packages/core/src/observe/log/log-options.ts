// Options of a host for kept log lines.
import { OptionError } from "../../errors/index.ts";
import type { LogLevel } from "./log-level.ts";

export interface LogOptions {
  /** The lowest level that is kept, shown at /api/logs and sent to sockets. Default: `info`. */
  readonly level?: LogLevel | "silent";
  /** Milliseconds that a line is kept. Default: 7 days. */
  readonly maxAge?: number;
  /** Lines that are kept. Default: 100 000. */
  readonly maxCount?: number;
}

/** How much of something is kept. */
export interface KeepLimits {
  /** Milliseconds. */
  readonly maxAge: number;
  readonly maxCount: number;
}

const week = 7 * 24 * 60 * 60 * 1000;

export function retentionOf(option: string, given: { maxAge?: number; maxCount?: number }): KeepLimits {
  const { maxAge = week, maxCount = 100_000 } = given;
  if (!(maxAge >= 0)) throw new OptionError({ option: `${option}.maxAge`, problem: "expected milliseconds" });
  if (!Number.isInteger(maxCount) || maxCount < 0) {
    throw new OptionError({ option: `${option}.maxCount`, problem: "expected a whole number" });
  }
  return { maxAge, maxCount };
}
