// Counts over time: counts the commits of this process, and reads the counts of all.
import type { JournalEvent } from "../../journal/events.ts";
import type { RollupPoint, RollupRange, RollupStore, RollupTotal } from "../../store/rollup-store.ts";
import type { Clock } from "../../values/clock.ts";
import type { Logger } from "../log/logger.ts";
import { type RollupOptions, rollupAgesOf } from "./rollup-options.ts";
import { type CountedExecution, RollupTally } from "./rollup-tally.ts";
import { RollupWriter } from "./rollup-writer.ts";

export class Rollups {
  readonly #store: RollupStore;
  readonly #tally = new RollupTally();
  readonly #writer: RollupWriter;

  constructor(options: RollupOptions, store: RollupStore, logger: Logger, clock: Pick<Clock, "now">) {
    this.#store = store;
    const ages = rollupAgesOf(options);
    this.#writer = new RollupWriter({ store, tally: this.#tally, logger, ages, clock });
  }

  /** Events of an execution were committed. */
  receive(execution: CountedExecution, events: readonly JournalEvent[]): void {
    this.#tally.receive(execution, events);
    this.#writer.schedule();
  }

  /** Executions over time. Counts of other processes within the last seconds may be missing. */
  async overTime(query: RollupRange & { readonly width: number }): Promise<readonly RollupPoint[]> {
    await this.#writer.flush();
    return this.#store.overTime(query);
  }

  async totals(
    query: RollupRange & { readonly of: "executions" | "steps" },
  ): Promise<readonly RollupTotal[]> {
    await this.#writer.flush();
    return this.#store.totals(query);
  }

  /** Events that were not counted because the store could not keep up. */
  get lost(): number {
    return this.#tally.lost;
  }

  trim(): Promise<void> {
    return this.#writer.trim();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
