// Follows one execution: first the events in the journal, then new commits, as fast as the reader reads.
//
// A slow reader costs a bounded buffer and nothing more: events that do not fit are not kept, but read from the journal again
// once the reader has come that far.
import { decodeEvent } from "../../journal/codec.ts";
import { eventLength, isEnd, type JournalEvent } from "../../journal/events.ts";
import type { Store, StoredExecution } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { isoTime } from "../../values/iso-time.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Feed, Follower, LiveText } from "./feed.ts";
import type { KeepAlive } from "./keep-alive.ts";
import { LiveTexts } from "./live-texts.ts";
import { type ExecutionEvent, viewEvent, viewLiveText, viewResult } from "./views.ts";

export interface EventStreamOptions {
  readonly store: Store;
  readonly feed: Feed;
  readonly clock: Pick<Clock, "now">;
  /** A reader of the stream keeps the process alive. */
  readonly keepAlive: KeepAlive;
  readonly executionId: string;
  readonly workflow: WorkflowDefinition | undefined;
  /** Events up to this number are left out. */
  readonly after: number;
  /** False when the execution does not exist yet: everything will come through the feed. */
  readonly catchUp: boolean;
  /** Where the stream closes: once the execution has settled (a suspension or the end), or only at the end. */
  readonly until: "settled" | "end";
}

// A reader may hold back this many events, and this many characters in total (about a megabyte).
const maxEvents = 1000;
const maxLength = 1_000_000;
const pageSize = 500;

export class EventStream implements AsyncIterableIterator<ExecutionEvent>, Follower {
  readonly #options: EventStreamOptions;
  #buffer: JournalEvent[] = [];
  #length = 0;
  readonly #live = new LiveTexts();
  /** The number of the newest event that was published. */
  #newest: number;
  /** The number of the last event handed out. */
  #last: number;
  /** The journal holds events that the buffer does not. */
  #behind: boolean;
  /** The number that a journal seems to have gone back to. */
  #mayBeLost: number | undefined;
  #wake: (() => void) | undefined;
  #closing = false;
  /** The state when a suspension closed the stream: the execution may be resumed before the reader reaches the end. */
  #settled: StoredExecution | undefined;
  #closed = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#last = options.after;
    this.#newest = options.after;
    this.#behind = options.catchUp;
    options.feed.follow(options.executionId, this);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  receive(events: readonly JournalEvent[]): void {
    this.#newest = Math.max(this.#newest, events.at(-1)?.sequence ?? 0);
    const added = lengthOf(events);
    const length = this.#length + added;
    const fits = length <= maxLength && added <= this.#options.feed.room;
    if (this.#buffer.length + events.length > maxEvents || !fits) this.#behind = true;
    else {
      this.#buffer.push(...events);
      this.#holds(length);
    }
    this.#notify();
  }

  /** A reader that is slow loses pieces of text, never an event. */
  receiveLive(text: LiveText): void {
    this.#live.add(text, this.#newest);
    this.#notify();
  }

  reached(sequence: number, ended: boolean): void {
    // Its end would have closed the stream: either this is old news, or the store has lost events that were handed out.
    const wentBack = sequence < this.#last || (ended && sequence === this.#last && !this.#closing);
    if (wentBack) this.#mayBeLost = sequence;
    else if (sequence <= this.#newest) return;
    this.#newest = Math.max(this.#newest, sequence);
    this.#behind = true;
    this.#notify();
  }

  stop(): void {
    this.#closed = true;
    this.#notify();
  }

  async next(): Promise<IteratorResult<ExecutionEvent, undefined>> {
    for (;;) {
      if (this.#closing) return this.#close();
      const text = this.#live.take(this.#last);
      if (text !== undefined) return { done: false, value: viewLiveText(this.#options.executionId, text) };
      const event = this.#take();
      if (event !== undefined) return { done: false, value: await this.#hand(event) };
      if (this.#closed) return this.return();
      if (this.#behind) await this.#read();
      else await this.#options.keepAlive.during(new Promise<void>((resolve) => (this.#wake = resolve)));
    }
  }

  async return(): Promise<IteratorResult<ExecutionEvent, undefined>> {
    this.#closed = true;
    this.#fill([]);
    this.#live.clear();
    this.#options.feed.unfollow(this.#options.executionId, this);
    this.#notify();
    return { done: true, value: undefined };
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** The next event in order; events that were handed out already are passed over. */
  #take(): JournalEvent | undefined {
    for (;;) {
      const event = this.#buffer[0];
      if (event === undefined) return undefined;
      if (event.sequence > this.#last + 1) {
        this.#behind = true;
        this.#fill([]);
        return undefined;
      }
      this.#buffer.shift();
      this.#holds(this.#length - eventLength(event));
      if (event.sequence === this.#last + 1) return event;
    }
  }

  async #hand(event: JournalEvent): Promise<ExecutionEvent> {
    this.#last = event.sequence;
    const { workflow, executionId } = this.#options;
    if (isEnd(event)) this.#closing = true;
    else if (event.type === "workflow-suspended" && this.#options.until === "settled")
      await this.#closeIfOpen(event.suspensionId);
    return viewEvent(workflow, executionId, event, "public");
  }

  /** A suspension in an old journal may have been resumed long ago: then the stream continues. */
  async #closeIfOpen(suspensionId: string): Promise<void> {
    const state = await this.#options.store.state(this.#options.executionId);
    if (state?.suspensions.some((open) => open.suspensionId === suspensionId)) {
      this.#closing = true;
      this.#settled = state;
    } else this.#behind = true;
  }

  async #read(): Promise<void> {
    this.#behind = false;
    await this.#goBack();
    const { executionId, store, feed } = this.#options;
    // At least one event is read, which is handed out at once.
    const length = Math.max(1, Math.min(maxLength, feed.room));
    const query = { executionId, after: this.#last, limit: pageSize, length };
    const events = (await store.events(query)).map(decodeEvent);
    // Only an empty page means that nothing is left: a page may end early because its events are long.
    if (events.length > 0) this.#behind = true;
    const newer = this.#buffer.filter((event) => event.sequence > (events.at(-1)?.sequence ?? this.#last));
    this.#fill([...events, ...newer]);
  }

  /** A failover has lost events that were handed out: continues with the newest that is left, so that an end is seen. */
  async #goBack(): Promise<void> {
    const left = this.#mayBeLost;
    this.#mayBeLost = undefined;
    if (left === undefined) return;
    const { executionId, store } = this.#options;
    const [last] = await store.events({ executionId, after: this.#last - 1, limit: 1, length: 1 });
    if (last !== undefined && left < this.#last) return;
    this.#last = Math.max(0, left - 1);
    this.#newest = left;
    this.#fill([]);
  }

  #fill(events: JournalEvent[]): void {
    this.#buffer = events;
    this.#holds(lengthOf(events));
  }

  #holds(length: number): void {
    this.#options.feed.buffered += length - this.#length;
    this.#length = length;
  }

  /** The last event: the state of the execution. It is never journaled. */
  async #close(): Promise<IteratorResult<ExecutionEvent, undefined>> {
    if (this.#closed) return this.return();
    const { executionId, workflow, store, clock } = this.#options;
    const state = this.#settled ?? (await store.state(executionId));
    await this.return();
    if (state === undefined) return { done: true, value: undefined };
    const { execution, suspensions } = state;
    // The time when it settled, not when it is read: a second reader reads the same.
    const timestamp = isoTime(execution.endAt ?? suspensions[0]?.suspendedAt ?? clock.now());
    const value = { type: "workflow-result", timestamp, ...viewResult(workflow, state) };
    return { done: false, value };
  }
}

function lengthOf(events: readonly JournalEvent[]): number {
  return events.reduce((total, event) => total + eventLength(event), 0);
}
