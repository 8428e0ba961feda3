// A logger that is made with the first line that it writes: loading pino is a twentieth of a start, and many write nothing.
import { type LogLevel, rankOf } from "./log-level.ts";
import type { Logger } from "./logger.ts";
import { redactFields } from "./redact.ts";

type Line = Parameters<Logger["info"]>;

export class LateLogger implements Logger {
  readonly #level: LogLevel | "silent";
  readonly #root: () => Logger;
  /** What each of its lines holds; undefined for the one that is nobody's child. */
  readonly #fields: Readonly<Record<string, unknown>> | undefined;
  #made: Logger | undefined;

  constructor(level: LogLevel | "silent", root: () => Logger, fields?: Readonly<Record<string, unknown>>) {
    this.#level = level;
    this.#root = root;
    this.#fields = fields;
  }

  // Whatever is given is passed on: pino takes a message alone, too.
  debug(...line: Line): void {
    if (this.isLevelEnabled("debug")) this.#make().debug(...line);
  }
  info(...line: Line): void {
    if (this.isLevelEnabled("info")) this.#make().info(...line);
  }
  warn(...line: Line): void {
    if (this.isLevelEnabled("warn")) this.#make().warn(...line);
  }
  error(...line: Line): void {
    if (this.isLevelEnabled("error")) this.#make().error(...line);
  }

  child(fields: Record<string, unknown>): Logger {
    // Put together now: a body may make children of children without end.
    const all = { ...this.#fields, ...redactFields(fields) };
    return new LateLogger(this.#level, this.#fields === undefined ? () => this.#make() : this.#root, all);
  }

  isLevelEnabled(level: LogLevel): boolean {
    return rankOf(level) >= rankOf(this.#level);
  }

  #make(): Logger {
    this.#made ??= this.#fields === undefined ? this.#root() : this.#root().child({ ...this.#fields });
    return this.#made;
  }
}
