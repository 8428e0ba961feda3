// pino as the default logger needs it: plain errors, no secrets, a name in place of a number for the level.
import { createRequire } from "node:module";
import type { pino } from "pino";
import { redactText } from "../../values/redact-text.ts";
import type { LogLevel } from "./log-level.ts";
import { prettyLine } from "./pretty-line.ts";
import { redactFields } from "./redact.ts";

export interface PinoOptions {
  readonly level: LogLevel | "silent";
  readonly format: "pretty" | "json";
  /** Where lines go; undefined for standard output. */
  readonly destination: { write(line: string): unknown } | undefined;
}

/** A logger of pino. It redacts its lines, but not the fields of its children: the code that makes a child does. */
export function pinoLogger({ level, format, destination }: PinoOptions): pino.Logger {
  const { pino } = load();
  const settings: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (name) => ({ level: name }),
      log: redactFields,
    },
    hooks: {
      logMethod(line, method) {
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
  if (format === "pretty") {
    const terminal = destination ?? process.stdout;
    return pino(settings, { write: (line) => void terminal.write(prettyLine(line)) });
  }
  return destination === undefined
    ? pino(settings)
    : pino(settings, { write: (line) => void destination.write(line) });
}

/** Not by an import, which would be at the start or make the first line wait. */
function load(): typeof import("pino") {
  return createRequire(import.meta.url)("pino");
}
