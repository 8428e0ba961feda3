// The logger: pino by default, or any logger of the host with the same few methods.
import { pino } from "pino";
import { OptionError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { type LogLevel, logLevels } from "./log-level.ts";
import { prettyLine } from "./pretty-line.ts";
import { redactFields, redactText } from "./redact.ts";

/** What Andante asks of a logger; pino's own shape. */
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

/** The default logger. Secrets are redacted, whatever writes the line. */
export function createLogger(options: LoggerOptions = {}): Logger {
  checkKnownOptions("createLogger", options, knownOptions);
  const { format = process.stdout.isTTY ? "pretty" : "json", destination } = options;
  const settings = {
    level: options.level ?? levelFromEnvironment() ?? "info",
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (level: string) => ({ level }),
      log: redactFields,
    },
    hooks: {
      logMethod(this: unknown, line: Parameters<pino.LogFn>, method: pino.LogFn) {
        const [fields, message, ...rest] = line;
        Reflect.apply(method, this, [
          fields,
          typeof message === "string" ? redactText(message) : message,
          ...rest,
        ]);
      },
    },
    // Errors are made plain by `redactFields`.
    serializers: { err: (error: unknown) => error },
  };
  return withRedactedChildren(
    format === "json" ? jsonLogger(settings, destination) : prettyLogger(settings, destination),
  );
}

/**
 * The logger of a host that brings none. Inside a test it is silent, unless ANDANTE_LOG_LEVEL says otherwise: Vitest and
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
  const value = process.env.ANDANTE_LOG_LEVEL;
  if (value === undefined || value === "") return undefined;
  const level = [...logLevels, "silent" as const].find((known) => known === value);
  if (level !== undefined) return level;
  throw new OptionError({
    option: "ANDANTE_LOG_LEVEL",
    problem: `"${value}" is not one of ${logLevels.join(", ")}, silent`,
  });
}

function jsonLogger(settings: pino.LoggerOptions, destination: LoggerOptions["destination"]): pino.Logger {
  if (destination === undefined) return pino(settings);
  return pino(settings, { write: (line) => void destination.write(line) });
}

function prettyLogger(settings: pino.LoggerOptions, destination: LoggerOptions["destination"]): pino.Logger {
  const terminal = destination ?? process.stdout;
  return pino(settings, { write: (line) => void terminal.write(prettyLine(line)) });
}

/** pino formats the fields of its first logger only; a child inherits this function, and so do its children. */
function withRedactedChildren(logger: pino.Logger): Logger {
  const { child } = logger;
  return Object.assign(logger, {
    child(this: pino.Logger, fields: Record<string, unknown>): Logger {
      return Reflect.apply(child, this, [redactFields(fields)]);
    },
  });
}
