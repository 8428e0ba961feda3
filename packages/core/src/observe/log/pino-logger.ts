// pino as the default logger needs it: plain errors, no secrets, a name in place of a number for the level.
import { createRequire } from "node:module";
import type { pino } from "pino";
import { redactText } from "../../values/redact-text.ts";
import type { LogLevel } from "./log-level.ts";
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

const colours: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31 };
const shade = (code: number, text: string) => `\u001b[${code}m${text}\u001b[0m`;

/** A JSON line of the logger as `12:30:01.250 warn  message  key=value`, a stack below it. */
function prettyLine(json: string): string {
  const line: unknown = JSON.parse(json);
  if (typeof line !== "object" || line === null) return json;
  const { time, level, msg, err, ...fields }: Record<string, unknown> = { ...line };
  const name = String(level);
  const parts = [
    shade(90, String(time).slice(11, 23)),
    shade(colours[name] ?? 0, name.padEnd(5)),
    // A message may come from a caller: control characters would let it steer the terminal.
    visible(String(msg ?? "")),
    ...Object.entries(fields).map(
      ([key, value]) => `${shade(90, `${visible(key)}=`)}${visible(textOf(value))}`,
    ),
  ];
  return `${parts.join(" ")}\n${stackOf(err)}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function visible(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ");
}

function stackOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { stack, name, message }: Record<string, unknown> = { ...error };
  const text = typeof stack === "string" ? stack : `${name}: ${message}`;
  return `${text
    .split("\n")
    .map((line) => `    ${visible(line.trim())}`)
    .join("\n")}\n`;
}
