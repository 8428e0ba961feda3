// The spans that other processes make, for followers in this process. Those of executions are derived from their journals,
// those of agents are read from the store once a call has ended. Without followers this does nothing.
//
// One journal is read at a time, in the order of the notifications: the spans of an execution are in order, and
// never twice. Where more executions change than can be read, some are left out: their traces show them.
import { readJournal } from "../../journal/read-journal.ts";
import type { Store } from "../../store/store.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";
import { RowsElsewhere } from "../log/rows-elsewhere.ts";
import { ExecutionSpans } from "./execution-spans.ts";
import type { TracedExecution } from "./span-attributes.ts";
import type { SpanOwner, SpanRecord } from "./span-record.ts";

/** An execution, and the number of its last event. */
export interface ReachedExecution extends TracedExecution {
  readonly sequence: number;
}

export interface SpansElsewhereOptions {
  readonly store: Store;
  /** By the clock that the processes share. */
  now(): number;
  notify(type: "span-start" | "span-end", span: SpanRecord, owner: SpanOwner): void;
  /** Whether the execution runs in this process, whose spans are made as it commits. */
  isHere(executionId: string): boolean;
}

/** The part of an execution that was shown. */
interface Shown {
  /** The number of the last event that was shown, or needed not to be. */
  readonly sequence: number;
  /** The time of the last event that was shown, or a later one. */
  at: number;
  /** The open spans; undefined when it has ended, runs here or is being read. */
  spans: ExecutionSpans | undefined;
}

/** Executions whose journals wait to be read. */
const maxWaiting = 1000;
/** Executions that are remembered. */
const maxShown = 10_000;
/** Journals with more events that were not shown are not read: an endless loop would be read for each client. */
const maxEvents = 10_000;
/** Executions that are looked for when hints may have been lost, and how long ago they may have started, in milliseconds. */
const maxRecent = 100;
const recent = 10_000;
/** Calls of agents in one read. */
const maxCalls = 200;

export class SpansElsewhere {
  readonly #options: SpansElsewhereOptions;
  readonly #calls: RowsElsewhere<{ readonly id: string; readonly timestamp: number; readonly spans: string }>;
  readonly #waiting = new TurnoverMap<string, ReachedExecution>();
  /** The execution that was written to longest ago is the first. */
  readonly #shown = new TurnoverMap<string, Shown>();
  /** Events up to this time may have been shown of executions that are not remembered any more. */
  #forgotAt = 0;
  #followers = 0;
  #since = 0;
  #reading = false;

  constructor(options: SpansElsewhereOptions) {
    this.#options = options;
    const { store, now, notify } = options;
    this.#calls = new RowsElsewhere({
      now,
      limit: maxCalls,
      read: (query) => store.observations.spansElsewhere?.(query),
      keyOf: ({ id }) => id,
      show: ({ spans }) => showCall(JSON.parse(spans), notify),
    });
  }

  /** True while there are followers. */
  get followed(): boolean {
    return this.#followers > 0;
  }

  /** Shows spans from now on, until the returned function is called. */
  follow(): () => void {
    if (this.#followers++ === 0) {
      this.#since = this.#options.now();
      this.#forgotAt = 0;
    }
    const leave = this.#calls.follow();
    let follows = true;
    return () => {
      if (!follows) return;
      follows = false;
      leave();
      if (--this.#followers > 0) return;
      this.#waiting.clear();
      this.#shown.clear();
    };
  }

  /** The executions of other processes that have not ended, as far as they were shown. */
  keys(): readonly string[] {
    return this.#shown.keys().filter((executionId) => this.#shown.get(executionId)?.spans !== undefined);
  }

  /**
   * An execution was written to by another process, or is about to be loaded here: then events up to this number are shown
   * here, later ones by its own spans.
   */
  reached(execution: ReachedExecution): void {
    const { executionId, sequence } = execution;
    if (!this.followed || this.#options.isHere(executionId)) return;
    if (sequence <= (this.#shown.get(executionId)?.sequence ?? 0)) return;
    if (this.#waiting.size >= maxWaiting && !this.#waiting.has(executionId)) return;
    const { sequence: waits = 0 } = this.#waiting.get(executionId) ?? {};
    if (sequence > waits) this.#waiting.set(executionId, execution);
    if (!this.#reading) void this.#readAll();
  }

  /** An execution has left this process, or has ended here: its spans were shown as they came. */
  left({ execution: { executionId }, last }: ExecutionSpans): void {
    if (this.followed) this.#remember(executionId, last);
  }

  /** Hints may have been lost: looks for executions that run, or have begun lately. */
  async look(): Promise<void> {
    const { store, now } = this.#options;
    try {
      const running = await store.list({ status: "running", limit: maxRecent });
      const begun = await store.list({ from: now() - recent, limit: maxRecent });
      for (const execution of [...running, ...begun].reverse()) this.reached(execution);
    } catch {
      // The storage watch reports the trouble; the next look comes soon.
    }
  }

  async #readAll(): Promise<void> {
    this.#reading = true;
    for (let id = this.#waiting.oldest(); id !== undefined; id = this.#waiting.oldest()) {
      const execution = this.#waiting.get(id);
      this.#waiting.delete(id);
      // A journal that cannot be read, such as one of a later release, is not shown.
      if (execution !== undefined) await this.#read(execution).catch(() => undefined);
    }
    this.#reading = false;
  }

  async #read(execution: ReachedExecution): Promise<void> {
    const { store, isHere } = this.#options;
    const { executionId, sequence: upTo } = execution;
    const before = this.#shown.get(executionId);
    if (before !== undefined && upTo <= before.sequence) return;
    const spans = before?.spans ?? this.#spansOf(execution);
    const shown = this.#remember(executionId, upTo);
    if (upTo - spans.last > maxEvents) return;
    for await (const { events } of readJournal(store, { executionId, after: spans.last, upTo })) {
      if (!this.followed) return;
      for (const event of events) {
        const { sequence, timestamp } = event;
        const wasShown = before === undefined ? timestamp <= this.#forgotAt : sequence <= before.sequence;
        if (wasShown || timestamp < this.#since) spans.replay([event]);
        else spans.apply(event);
        shown.at = Math.max(shown.at, timestamp);
      }
    }
    if (spans.endAt === null && !isHere(executionId)) shown.spans = spans;
  }

  #remember(executionId: string, sequence: number): Shown {
    const shown: Shown = { sequence, at: this.#options.now(), spans: undefined };
    this.#shown.delete(executionId);
    this.#shown.set(executionId, shown);
    const oldest = this.#shown.size > maxShown ? this.#shown.oldest() : undefined;
    if (oldest !== undefined) {
      this.#forgotAt = Math.max(this.#forgotAt, this.#shown.get(oldest)?.at ?? 0);
      this.#shown.delete(oldest);
    }
    return shown;
  }

  #spansOf({ executionId, workflowId, userId, conversationId }: TracedExecution): ExecutionSpans {
    const { notify } = this.#options;
    const execution = { executionId, workflowId, userId, conversationId };
    return new ExecutionSpans(execution, {
      wants: () => this.followed,
      started: (span) => notify("span-start", span, execution),
      ended: (span) => notify("span-end", span, execution),
    });
  }
}

/** The spans of an ended call were kept in the order in which they ended, the outermost last. */
function showCall(spans: readonly SpanRecord[], notify: SpansElsewhereOptions["notify"]): void {
  for (const { message: _, ...span } of spans.toReversed()) {
    const begun = { ...span, endTime: null, duration: null, status: "unset", events: [] } as const;
    notify("span-start", begun, ownerOf(span));
  }
  for (const span of spans) notify("span-end", span, ownerOf(span));
}

function ownerOf({ attributes }: Pick<SpanRecord, "attributes">): SpanOwner {
  const { "user.id": userId, "gen_ai.conversation.id": conversationId } = attributes;
  return { userId: textOrNull(userId), conversationId: textOrNull(conversationId) };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
