// Counts over time: counts the commits of this process, adds the counts to the store, and reads the counts of all.
import { randomUUID } from "node:crypto";
import { OptionError } from "../../errors/index.ts";
import type { JournalEvent } from "../../journal/events.ts";
import type {
  RollupCount,
  RollupPoint,
  RollupRange,
  RollupStore,
  RollupTotal,
} from "../../store/rollup-store.ts";
import type { Clock } from "../../values/clock.ts";
import { BackgroundWriter } from "../background-writer.ts";
import type { Logger } from "../log/logger.ts";
import { type CountedExecution, RollupTally } from "./rollup-tally.ts";

/** Options of a host for counts over time. */
export interface RollupOptions {
  /** Milliseconds that the counts of executions are kept; those of steps at most a day. Default: 7 days. */
  readonly maxAge?: number;
}

/** Milliseconds between two writes. */
const period = 5000;
// As many rows are written in about a millisecond: commits that share the writer's transaction hardly wait for them.
const batchSize = 100;
const trimPeriod = 10 * 60_000;
const trimBatch = 500;
const minute = 60_000;
const day = 24 * 60 * minute;

export class Rollups extends BackgroundWriter<RollupCount> {
  readonly #store: RollupStore;
  readonly #clock: Pick<Clock, "now">;
  readonly #maxAge: number;
  readonly #tally = new RollupTally();
  readonly #writer = randomUUID();
  /** The number of the last batch that the store confirmed. */
  #number = 0;
  /** Batches that the store has not confirmed; nothing more is taken from the tally before. */
  #waiting: (readonly RollupCount[])[] = [];
  #refused = 0;

  constructor(options: RollupOptions, store: RollupStore, logger: Logger, clock: Pick<Clock, "now">) {
    const { maxAge = 7 * day } = options;
    if (!(maxAge >= 0)) throw new OptionError({ option: "rollups.maxAge", problem: "expected milliseconds" });
    super(trimPeriod, logger, "counts over time");
    this.#store = store;
    this.#clock = clock;
    this.#maxAge = maxAge;
  }

  /** Events of an execution were committed. */
  receive(execution: CountedExecution, events: readonly JournalEvent[]): void {
    this.#tally.receive(execution, events);
    this.schedule(period);
  }

  answered(workflowId: string, timestamp: number, waited: number): void {
    this.#tally.answered(workflowId, timestamp, waited);
    this.schedule(period);
  }

  /** Executions over time. Counts of other processes within the last seconds may be missing. */
  async overTime(query: RollupRange & { readonly width: number }): Promise<readonly RollupPoint[]> {
    await this.flush();
    return this.#store.overTime(query);
  }

  async totals(
    query: RollupRange & { readonly of: "executions" | "steps" },
  ): Promise<readonly RollupTotal[]> {
    await this.flush();
    return this.#store.totals(query);
  }

  /** Events that were not counted because the store could not keep up or refused their counts. */
  get lost(): number {
    return this.#tally.lost + this.#refused;
  }

  protected override async write(): Promise<number | undefined> {
    if (this.#waiting.length === 0) this.#waiting = this.#takeBatches();
    await this.writeBatches(this.#waiting);
    return this.#waiting.length > 0 || !this.#tally.isEmpty ? period : undefined;
  }

  // Sent again after an error a batch has the same number: the store adds it once.
  protected override async append(counts: readonly RollupCount[]): Promise<void> {
    await this.#store.add({ writer: this.#writer, number: this.#number + 1, counts });
    this.#number++;
  }

  protected override countRefused(counts: readonly RollupCount[]): void {
    for (const { count } of counts) this.#refused += count;
  }

  #takeBatches(): RollupCount[][] {
    const counts = this.#tally.take();
    return Array.from({ length: Math.ceil(counts.length / batchSize) }, (_, index) =>
      counts.slice(index * batchSize, (index + 1) * batchSize),
    );
  }

  protected override async trimmer() {
    const startOf = (age: number) => Math.floor((this.#clock.now() - age) / minute);
    const range = { executions: startOf(this.#maxAge), steps: startOf(Math.min(this.#maxAge, day)) };
    return () => this.#store.trim({ ...range, limit: trimBatch });
  }
}
