// The spans of executions that other processes run, for followers in this process: derived from their journals. Without
// followers this does nothing.
//
// One journal is read at a time, in the order of the notifications: the spans of an execution are in order, and
// never twice. Where more executions change than can be read, some are left out: their traces show them.
import { readJournal } from "../../journal/read-journal.ts";
import type { Store } from "../../store/store.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";
import { CallsElsewhere } from "./calls-elsewhere.ts";
import { ExecutionSpans } from "./execution-spans.ts";
import type { TracedExecution } from "./span-attributes.ts";
import type { SpanOwner, SpanRecord } from "./span-record.ts";

/** How far an execution has come. */
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

/** Executions whose journals wait to be read, and those whose open spans are held. */
const maxWaiting = 1000;
/** Executions of which is known how far they were shown. */
const maxShown = 10_000;
/** The shown position of an execution. */
interface Shown {
  /** The number of the last event that was shown, or needed not to be. */
  readonly sequence: number;
  /** No event of it that was shown is later. */
  at: number;
}

/** A journal of which so much was never shown here is not read: an endless loop would be read for each client. */
const maxEvents = 10_000;
/** Executions that are looked for when hints may have been lost, and how long ago they may have started, in milliseconds. */
const maxRecent = 100;
const recent = 10_000;

export class SpansElsewhere {
  readonly #options: SpansElsewhereOptions;
  readonly #calls: CallsElsewhere;
  readonly #waiting = new TurnoverMap<string, ReachedExecution>();
  /** Those that have not ended; the one that was heard of longest ago is the first. */
  readonly #open = new TurnoverMap<string, ExecutionSpans>();
  readonly #shown = new TurnoverMap<string, Shown>();
  /** Of an execution that is not remembered any more, earlier events may have been shown. */
  #forgotAt = 0;
  #followers = 0;
  #since = 0;
  #reading = false;

  constructor(options: SpansElsewhereOptions) {
    this.#options = options;
    const { store, now, notify } = options;
    this.#calls = new CallsElsewhere({ store: store.observations, now, notify });
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
      for (const map of [this.#waiting, this.#open, this.#shown]) for (const id of map.keys()) map.delete(id);
    };
  }

  /** The executions of others that are known not to have ended. */
  keys(): readonly string[] {
    return this.#open.keys();
  }

  /** An execution was written to by another process. */
  reached(execution: ReachedExecution): void {
    if (this.#options.isHere(execution.executionId)) return;
    this.#add(execution);
  }

  /** An execution is loaded here: events of others are shown up to this number, later ones by its own spans. */
  takenOver(execution: ReachedExecution): void {
    this.#add(execution);
  }

  /** An execution has left this process, or has ended here: its spans were shown as they came. */
  left({ execution: { executionId }, last }: ExecutionSpans): void {
    if (!this.followed) return;
    this.#open.delete(executionId);
    this.#showed(executionId, last);
  }

  /** Hints may have been lost: looks for executions that run, or have begun lately. */
  async look(): Promise<void> {
    const { store, now } = this.#options;
    try {
      const running = await store.list({ status: "running", limit: maxRecent });
      const begun = await store.list({ from: now() - recent, limit: maxRecent });
      for (const execution of [...running, ...begun].reverse()) this.reached(execution);
    } catch {
      // Trouble of the storage is told elsewhere; the next look comes soon.
    }
  }

  #add(execution: ReachedExecution): void {
    const { executionId, sequence } = execution;
    if (!this.followed || sequence <= (this.#shown.get(executionId)?.sequence ?? 0)) return;
    if (this.#waiting.size >= maxWaiting && !this.#waiting.has(executionId)) return;
    const { sequence: waits = 0 } = this.#waiting.get(executionId) ?? {};
    if (sequence > waits) this.#waiting.set(executionId, execution);
    if (!this.#reading) void this.#readAll();
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
    const { executionId, sequence: upTo } = execution;
    const known = this.#shown.get(executionId);
    if (known !== undefined && upTo <= known.sequence) return;
    const wasShown = ({ sequence, timestamp }: { readonly sequence: number; readonly timestamp: number }) =>
      timestamp < this.#since ||
      (known === undefined ? timestamp <= this.#forgotAt : sequence <= known.sequence);
    const spans = this.#open.get(executionId) ?? this.#spansOf(execution);
    const showing = this.#showed(executionId, upTo);
    if (upTo - spans.last > maxEvents) return;
    for await (const { events } of readJournal(this.#options.store, {
      executionId,
      after: spans.last,
      upTo,
    })) {
      if (!this.followed) return;
      for (const event of events) {
        if (wasShown(event)) spans.replay([event]);
        else spans.apply(event);
        showing.at = Math.max(showing.at, event.timestamp);
      }
    }
    this.#open.delete(executionId);
    if (spans.endAt !== null || this.#options.isHere(executionId)) return;
    this.#open.set(executionId, spans);
    const oldest = this.#open.size > maxWaiting ? this.#open.oldest() : undefined;
    if (oldest !== undefined) this.#open.delete(oldest);
  }

  #showed(executionId: string, sequence: number): Shown {
    const shown = { sequence, at: this.#options.now() };
    this.#shown.delete(executionId);
    this.#shown.set(executionId, shown);
    const oldest = this.#shown.size > maxShown ? this.#shown.oldest() : undefined;
    if (oldest === undefined) return shown;
    this.#forgotAt = Math.max(this.#forgotAt, this.#shown.get(oldest)?.at ?? 0);
    this.#shown.delete(oldest);
    return shown;
  }

  #spansOf({ executionId, workflowId, userId, conversationId }: TracedExecution): ExecutionSpans {
    const { notify } = this.#options;
    const execution = { executionId, workflowId, userId, conversationId };
    const listener = {
      wants: () => this.followed,
      started: (span: SpanRecord) => notify("span-start", span, execution),
      ended: (span: SpanRecord) => notify("span-end", span, execution),
    };
    return new ExecutionSpans(execution, listener);
  }
}
