// The logger that everything inside writes to: each line goes to the host's logger and to the log feed.
import type { LogFeed } from "./log-feed.ts";
import type { LogLevel } from "./log-level.ts";
import type { Logger } from "./logger.ts";
import { redactAfter, redactFields } from "./redact.ts";

export class ObservedLogger implements Logger {
  readonly #host: Logger;
  readonly #feed: LogFeed;
  /** The fields of its lines; undefined for the root logger. */
  readonly #given: Readonly<Record<string, unknown>> | undefined;
  /** The user of its lines: null for none, undefined while it is not known. */
  readonly #owner: string | null | undefined;
  #fields: Readonly<Record<string, unknown>> | undefined;

  constructor(
    host: Logger,
    feed: LogFeed,
    fields?: Readonly<Record<string, unknown>>,
    owner?: string | null,
  ) {
    this.#host = host;
    this.#feed = feed;
    this.#given = fields;
    this.#owner = owner;
  }

  debug(fields: object, message: string): void {
    this.#write("debug", fields, message);
  }
  info(fields: object, message: string): void {
    this.#write("info", fields, message);
  }
  warn(fields: object, message: string): void {
    this.#write("warn", fields, message);
  }
  error(fields: object, message: string): void {
    this.#write("error", fields, message);
  }

  // Made for every execution, and most of them write nothing: the host's own child, which may be costly, is not made.
  child(fields: Record<string, unknown>): Logger {
    const owner = this.#owner === undefined ? ownerIn(fields) : this.#owner;
    // For an execution a plain copy, which costs a fraction of a merge of two objects. Fields of further children are merged
    // at once and not when a line is written: a body may make children of children without end.
    const all = this.#given === undefined ? { ...fields } : { ...this.#given, ...fields };
    return new ObservedLogger(this.#host, this.#feed, all, owner);
  }

  isLevelEnabled(level: LogLevel): boolean {
    return this.#feed.takes(level) || this.#hostTakes(level);
  }

  #hostTakes(level: LogLevel): boolean {
    return this.#host.isLevelEnabled?.(level) ?? true;
  }

  #write(level: LogLevel, given: object | string, text?: string): void {
    const toFeed = this.#feed.takes(level);
    if (!toFeed && !this.#hostTakes(level)) return;
    // pino's other form, a message alone, is common.
    const [fields, message] = typeof given === "string" ? [{}, given] : [given, text ?? ""];
    const own = fields instanceof Error ? { err: fields } : fields;
    this.#fields ??= redactFields(this.#given ?? {});
    const clean = redactAfter(this.#fields, own);
    this.#forward(level, clean, message);
    if (toFeed) this.#feed.add(level, clean, message, this.#owner);
  }

  /** A host's logger that throws does not fail the execution whose line it was. */
  #forward(level: LogLevel, fields: object, message: string): void {
    try {
      this.#host[level](fields, message);
    } catch (err) {
      if (level !== "error") this.#feed.add("error", { err }, "the host's logger failed");
    }
  }
}

/**
 * The user of a child's lines. The first child that names a user, an execution or an agent decides: a field that a body
 * adds later, such as the user of an order, does not show one user's lines to another.
 */
function ownerIn({
  userId,
  executionId,
  agentId,
}: Readonly<Record<string, unknown>>): string | null | undefined {
  if (typeof userId === "string") return userId;
  return executionId === undefined && agentId === undefined ? undefined : null;
}
