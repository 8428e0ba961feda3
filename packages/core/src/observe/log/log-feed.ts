// The feed of log lines: turns each line into one bounded record and hands it to followers and the store.
import type { StoredLog } from "../../store/observation-store.ts";
import { storableId } from "../../values/check-id.ts";
import { type Clock, systemClock } from "../../values/clock.ts";
import { redactText } from "../../values/redact-text.ts";
import { type LogLevel, rankOf } from "./log-level.ts";
import { redactFields } from "./redact.ts";

/** A log line as lists and sockets show it. */
export interface LogRecord {
  /** ISO 8601. */
  readonly timestamp: string;
  readonly level: LogLevel;
  readonly msg: string;
  /** workflowId, executionId, stepPath, agentId, conversationId, userId where they apply, and the other fields of the line. */
  readonly [field: string]: unknown;
}

/** A line on its way: the record with the fields of filters. Its id grows with time and is unique in a process. */
export type LogLine = StoredLog;

/** Where lines are kept. */
export interface LogSink {
  log(line: LogLine): void;
}

const maxRecordLength = 64 * 1024;
const maxMessageLength = 8_000;

export class LogFeed {
  readonly #sink: LogSink;
  readonly #clock: Pick<Clock, "now">;
  readonly #lowest: number;
  readonly #followers = new Set<(line: LogLine) => void>();
  #last = 0;

  constructor(sink: LogSink, level: LogLevel | "silent", clock: Pick<Clock, "now"> = systemClock) {
    this.#sink = sink;
    this.#clock = clock;
    this.#lowest = rankOf(level);
  }

  takes(level: LogLevel): boolean {
    return rankOf(level) >= this.#lowest;
  }

  /** The time that lines are given. */
  get now(): number {
    return this.#clock.now();
  }

  /** The id of the last line. */
  get last(): number {
    return this.#last;
  }

  /** Hands every line from now on to `follower`, until the function that it returns is called. */
  follow(follower: (line: LogLine) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Shows a line that another process has logged, and kept, to the followers. */
  show(line: LogLine): void {
    for (const follower of this.#followers) follower(line);
  }

  /** `owner` is the user of the line and overrides its fields; undefined leaves it to them. */
  add(level: LogLevel, given: object, message: string, owner?: string | null): void {
    const now = this.now;
    this.#last = Math.max(this.#last + 1, firstIdAt(now));
    const fields = redactFields(given);
    const line: LogLine = {
      id: this.#last,
      timestamp: now,
      level: rankOf(level),
      workflowId: idOf(fields.workflowId),
      executionId: idOf(fields.executionId),
      agentId: idOf(fields.agentId),
      conversationId: idOf(fields.conversationId),
      userId: idOf(owner === undefined ? fields.userId : owner),
      record: recordOf(now, level, message, fields),
    };
    this.#sink.log(line);
    this.show(line);
  }
}

/** The first id of this millisecond: lines are in order, also across restarts. */
export function firstIdAt(milliseconds: number): number {
  return milliseconds * 1000;
}

function idOf(value: unknown): string | null {
  return typeof value === "string" ? storableId(value) : null;
}

const idFields = ["workflowId", "executionId", "stepPath", "agentId", "conversationId", "userId"];

function recordOf(now: number, level: LogLevel, message: string, fields: Record<string, unknown>): string {
  const msg = redactText(String(message).slice(0, maxMessageLength));
  const own = { timestamp: new Date(now).toISOString(), level, msg };
  const text = JSON.stringify({ ...own, ...fields, ...own });
  if (text.length <= maxRecordLength) return text;
  const kept = idFields.filter((name) => name in fields).map((name) => [name, fields[name]]);
  return JSON.stringify({ ...own, ...Object.fromEntries(kept), cut: `${text.length} characters` });
}
