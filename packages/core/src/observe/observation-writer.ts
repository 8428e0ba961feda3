// Writes logs and traces to the store in batches, in the background, and keeps both within their bounds.
//
// Nothing waits for it: while the storage fails, entries that do not fit in its bounded buffer are dropped, oldest first.
// Those that the store refuses are dropped too. Both are counted.
import type {
  ObservationBatch,
  ObservationStore,
  SpanChunk,
  StoredLog,
  TraceRoot,
} from "../store/observation-store.ts";
import type { Clock } from "../values/clock.ts";
import { BackgroundWriter } from "./background-writer.ts";
import { firstIdAt } from "./log/log-feed.ts";
import type { KeepLimits } from "./log/log-options.ts";
import type { Logger } from "./log/logger.ts";

export interface ObservationWriterOptions {
  readonly store: ObservationStore;
  /** Gets lines about trouble; they do not come back here. */
  readonly logger: Logger;
  readonly logs: KeepLimits;
  readonly traces: KeepLimits;
  /** The clock of kept entries: a machine whose clock is ahead must not remove new entries of others. */
  readonly clock: Pick<Clock, "now">;
}

type Item =
  | { readonly kind: "log"; readonly value: StoredLog }
  | { readonly kind: "root"; readonly value: TraceRoot }
  | { readonly kind: "chunk"; readonly value: SpanChunk };

// A hundred rows are written in about a millisecond: commits that share the writer's transaction hardly wait for them.
const batchSize = 100;
/** About as many characters are written at once. */
const batchLength = 4_000_000;
const period = 250;
const retryPeriod = 2000;
/** As many entries wait at most, with as many characters: the spans of one call may have megabytes. */
const maxWaiting = 20_000;
const maxLength = 32_000_000;
const trimPeriod = 60_000;
const trimBatch = 200;

export class ObservationWriter extends BackgroundWriter<Item> {
  readonly #options: ObservationWriterOptions;
  #waiting: Item[] = [];
  /** The characters of those that wait. */
  #length = 0;
  #dropped = 0;

  constructor(options: ObservationWriterOptions) {
    super(trimPeriod, options.logger, "log lines and spans");
    this.#options = options;
  }

  /** How many were lost because the store could not keep up or refused them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Milliseconds that a trace is kept. */
  get traceAge(): number {
    return this.#options.traces.maxAge;
  }

  log(value: StoredLog): void {
    this.#add({ kind: "log", value });
  }

  root(value: TraceRoot): void {
    this.#add({ kind: "root", value });
  }

  chunk(value: SpanChunk): void {
    this.#add({ kind: "chunk", value });
  }

  #add(item: Item): void {
    if (this.closed) return;
    this.#waiting.push(item);
    this.#length += lengthOf(item);
    if (this.#waiting.length > maxWaiting || this.#length > maxLength) this.#drop();
    this.schedule(period);
  }

  #drop(): void {
    const lost = this.#take(maxWaiting / 10, Math.max(maxLength / 10, this.#length - maxLength)).length;
    this.#dropped += lost;
    this.#options.logger.warn(
      { lost, dropped: this.#dropped },
      "log lines and spans were dropped: the store cannot keep up",
    );
  }

  /** The oldest: so many, or fewer that have this length together. */
  #take(count: number, length: number): Item[] {
    const before = this.#length;
    let taken = 0;
    for (const item of this.#waiting) {
      if (taken === count || before - this.#length >= length) break;
      this.#length -= lengthOf(item);
      taken++;
    }
    return this.#waiting.splice(0, taken);
  }

  protected override async write(): Promise<number | undefined> {
    // As much as waits now, and no more: a flush does not wait for lines that come meanwhile. Some may be dropped meanwhile.
    for (let left = this.#waiting.length; left > 0 && this.#waiting.length > 0; ) {
      const taken = this.#take(Math.min(left, batchSize), batchLength);
      left -= taken.length;
      const batches = [taken];
      await this.writeBatches(batches);
      if (batches.length === 0) continue;
      const items = batches.flat();
      this.#waiting.unshift(...items);
      for (const item of items) this.#length += lengthOf(item);
      return retryPeriod;
    }
    return this.#waiting.length > 0 ? period : undefined;
  }

  protected override append(items: readonly Item[]): Promise<void> {
    return this.#options.store.append(batchOf(items));
  }

  protected override countRefused(items: readonly Item[]): void {
    this.#dropped += items.length;
  }

  protected override async trimmer() {
    const { store, logs, traces, clock } = this.#options;
    const now = clock.now();
    const within = await store.keepFrom({ logs: logs.maxCount, traces: traces.maxCount });
    const from = {
      logs: Math.max(within.logs, firstIdAt(now - logs.maxAge)),
      traces: Math.max(within.traces, now - traces.maxAge),
    };
    return () => store.trim({ ...from, limit: trimBatch });
  }
}

function lengthOf({ kind, value }: Item): number {
  if (kind === "root") return 0;
  return kind === "log" ? value.record.length : value.spans.length;
}

function batchOf(items: readonly Item[]): ObservationBatch {
  const logs: StoredLog[] = [];
  const roots: TraceRoot[] = [];
  const chunks: SpanChunk[] = [];
  for (const item of items) {
    if (item.kind === "log") logs.push(item.value);
    else if (item.kind === "root") roots.push(item.value);
    else chunks.push(item.value);
  }
  return { logs, roots, chunks };
}
