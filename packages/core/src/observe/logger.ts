// The logger: pino by default, or whatever the host brings that speaks the same few words.
import { pino } from "pino";

/** What Andante asks of a logger; pino's own shape. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that adds these fields to each line. */
  child(fields: Record<string, unknown>): Logger;
}

/** Options of the default logger. */
export interface LoggerOptions {
  /** The lowest level that is written. Default: `info`. */
  readonly level?: "debug" | "info" | "warn" | "error" | "silent";
}

/** The default logger: JSON lines on standard output. */
export function createLogger(options: LoggerOptions = {}): Logger {
  return pino({ level: options.level ?? "info", base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
