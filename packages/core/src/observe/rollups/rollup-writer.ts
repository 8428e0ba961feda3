// Adds the counts to the store every few seconds, and removes old ones. Nothing waits for it.
import { randomUUID } from "node:crypto";
import type { RollupBatch, RollupCount, RollupStore } from "../../store/rollup-store.ts";
import type { Clock } from "../../values/clock.ts";
import type { Logger } from "../log/logger.ts";
import type { RollupAges } from "./rollup-options.ts";
import type { RollupTally } from "./rollup-tally.ts";

export interface RollupWriterOptions {
  readonly store: RollupStore;
  readonly tally: RollupTally;
  /** Gets lines about trouble. */
  readonly logger: Logger;
  readonly ages: RollupAges;
  readonly clock: Pick<Clock, "now">;
}

/** Milliseconds between two writes. */
const period = 5000;
// As many rows are written in about a millisecond: commits that share the writer's transaction hardly wait for them.
const batchSize = 100;
const trimPeriod = 10 * 60_000;
const trimBatch = 500;
const minute = 60_000;

export class RollupWriter {
  readonly #options: RollupWriterOptions;
  readonly #writer = randomUUID();
  #number = 0;
  /** Counts that the store has not confirmed; nothing more is taken from the tally before. */
  #waiting: RollupBatch[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #trimming: Promise<void> | undefined;
  readonly #trimTimer: NodeJS.Timeout;
  #closed = false;

  constructor(options: RollupWriterOptions) {
    this.#options = options;
    this.#trimTimer = setInterval(() => this.#startTrim(), trimPeriod).unref();
  }

  /** Something was counted: it is written soon. */
  schedule(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, period).unref();
  }

  /** Resolves when earlier counts are written, or cannot be now. */
  async flush(): Promise<void> {
    // The running write may have begun before the last event was counted.
    await this.#writing;
    await this.#write();
  }

  async trim(): Promise<void> {
    const { store, ages, clock } = this.#options;
    const now = clock.now();
    const executions = Math.floor((now - ages.executions) / minute);
    const steps = Math.floor((now - ages.steps) / minute);
    for (let removed = 1; removed > 0 && !this.#closed; )
      removed = await store.trim({ executions, steps, limit: trimBatch });
  }

  async close(): Promise<void> {
    clearInterval(this.#trimTimer);
    await this.flush();
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#trimming;
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { tally, store, logger } = this.#options;
    if (this.#waiting.length === 0) this.#waiting = this.#batchesOf(tally.take());
    try {
      for (;;) {
        const [first] = this.#waiting;
        if (first === undefined) break;
        await store.add(first);
        this.#waiting.shift();
      }
    } catch (err) {
      logger.debug({ err }, "counts over time could not be written; trying again");
    }
    if (this.#waiting.length > 0 || !tally.isEmpty) this.schedule();
  }

  #batchesOf(counts: readonly RollupCount[]): RollupBatch[] {
    const batches: RollupBatch[] = [];
    for (let first = 0; first < counts.length; first += batchSize) {
      const some = counts.slice(first, first + batchSize);
      batches.push({ writer: this.#writer, number: ++this.#number, counts: some });
    }
    return batches;
  }

  #startTrim(): void {
    this.#trimming ??= this.trim()
      .catch((err) => this.#options.logger.debug({ err }, "old counts could not be removed"))
      .finally(() => (this.#trimming = undefined));
  }
}
