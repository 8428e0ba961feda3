// The interface of loggers: pino's, or one of the host's with the same few methods.
import type { LogLevel } from "./log-level.ts";

/** The methods that Andante needs of a logger; pino has them. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that adds these fields to each line. */
  child(fields: Record<string, unknown>): Logger;
  /** Whether lines of this level are written at all, so that others need not be made. Default: they are. */
  isLevelEnabled?(level: LogLevel): boolean;
}
