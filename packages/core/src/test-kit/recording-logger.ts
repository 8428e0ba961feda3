// A logger for tests: keeps its lines and writes none.
import type { Logger } from "../observe/log/logger.ts";

/** One line: its level, its message and its fields. */
export interface RecordedLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly msg: string;
  readonly [field: string]: unknown;
}

/**
 * Keeps every line of every level. Pass it to `createAndante({ logger })` or `serve({ logger })`, and look at `lines`.
 *
 * @example
 * const logger = new RecordingLogger();
 * const andante = createAndante({ workflows: { publish }, logger });
 * …
 * expect(logger.of("error")).toEqual([]);
 */
export class RecordingLogger implements Logger {
  /** All lines, oldest first; those of its children too. Set `lines.length = 0` to forget them. */
  readonly lines: RecordedLine[];
  readonly #fields: object;

  /** The arguments are for `child`. */
  constructor(parent?: RecordingLogger, fields?: object) {
    this.lines = parent === undefined ? [] : parent.lines;
    this.#fields = parent === undefined ? {} : { ...parent.#fields, ...fields };
  }

  debug(fields: object, message: string): void {
    this.#add("debug", fields, message);
  }
  info(fields: object, message: string): void {
    this.#add("info", fields, message);
  }
  warn(fields: object, message: string): void {
    this.#add("warn", fields, message);
  }
  error(fields: object, message: string): void {
    this.#add("error", fields, message);
  }
  child(fields: Record<string, unknown>): RecordingLogger {
    return new RecordingLogger(this, fields);
  }

  /** The lines of these levels. */
  of(...levels: readonly RecordedLine["level"][]): readonly RecordedLine[] {
    return this.lines.filter(({ level }) => levels.includes(level));
  }

  /** The messages of warnings and errors. */
  get messages(): readonly string[] {
    return this.of("warn", "error").map(({ msg }) => msg);
  }

  #add(level: RecordedLine["level"], fields: object, msg: string): void {
    this.lines.push({ ...this.#fields, ...fields, level, msg });
  }
}
