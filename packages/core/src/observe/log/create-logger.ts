// The default logger: pino on standard output.
import { OptionError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { lateLogger } from "./late-logger.ts";
import { checkLevel, type LogLevel } from "./log-level.ts";
import type { Logger } from "./logger.ts";
import { pinoLogger } from "./pino-logger.ts";

/** Options of the default logger. */
export interface LoggerOptions {
  /** The lowest level that is written. Default: ANDANTE_LOG_LEVEL from the environment, else `info`. */
  readonly level?: LogLevel | "silent";
  /** `pretty` is for people, `json` for machines. Default: `pretty` on a terminal, else `json`. */
  readonly format?: "pretty" | "json";
  /** Where lines go. Default: standard output. */
  readonly destination?: { write(line: string): unknown };
}

const knownOptions: KnownOptions<LoggerOptions> = { level: true, format: true, destination: true };

/** The default logger. It redacts secrets in every line. */
export function createLogger(options: LoggerOptions = {}): Logger {
  checkKnownOptions("createLogger", options, knownOptions);
  // Here, not by pino, which is loaded by the first line.
  const given = options.level && checkLevel("level", options.level);
  const level = given || levelFromEnvironment() || "info";
  const { format = process.stdout.isTTY ? "pretty" : "json", destination } = options;
  if (format !== "pretty" && format !== "json")
    throw new OptionError({ option: "format", problem: `"${format}" is not one of pretty, json` });
  return lateLogger(level, () => pinoLogger({ level, format, destination }));
}

/**
 * The logger of a host that brings none. Inside a test it is silent, unless ANDANTE_LOG_LEVEL sets a level: Vitest and
 * Jest set NODE_ENV to `test`, Node's own runner sets NODE_TEST_CONTEXT.
 */
export function defaultLogger(destination?: LoggerOptions["destination"]): Logger {
  const { NODE_ENV, NODE_TEST_CONTEXT } = process.env;
  const isTest = NODE_ENV === "test" || NODE_TEST_CONTEXT !== undefined;
  return createLogger({
    ...(isTest && { level: levelFromEnvironment() ?? "silent" }),
    ...(destination && { destination }),
  });
}

function levelFromEnvironment(): LogLevel | "silent" | undefined {
  const { ANDANTE_LOG_LEVEL: level } = process.env;
  return level ? checkLevel("ANDANTE_LOG_LEVEL", level) : undefined;
}
