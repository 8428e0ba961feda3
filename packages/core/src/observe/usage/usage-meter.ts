// Puts prices on calls of models, and keeps the usage of calls that no commit has: those outside of conversations.
import { randomUUID } from "node:crypto";
import type { BudgetStore } from "../../store/budget-store.ts";
import type { StoredUsage } from "../../store/usage.ts";
import {
  dayOf,
  mergeEntries,
  type UsageEntry,
  type UsageStore,
  usageEntry,
} from "../../store/usage-store.ts";
import type { Clock } from "../../values/clock.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import { BackgroundWriter } from "../background-writer.ts";
import type { Logger } from "../log/logger.ts";
import { type BudgetOptions, countedBudgets } from "./budget-options.ts";
import { Budgets } from "./budgets.ts";
import { PriceList, type Prices } from "./prices.ts";
import { readUsage, type UsageOptions, type UsagePage } from "./read-usage.ts";

/** A call of a model that no commit has. */
export interface UncommittedCall {
  readonly agentId: string;
  /** Provider and name; null when it is not known. */
  readonly model: string | null;
  readonly userId: string | undefined;
  readonly usage: StoredUsage;
}

export interface UsageMeterOptions {
  readonly prices: Prices | undefined;
  readonly budgets?: readonly BudgetOptions[] | undefined;
  readonly budgetStore?: BudgetStore | undefined;
  /** How long rows are kept. */
  readonly retention: Duration | undefined;
  readonly store: UsageStore;
  readonly logger: Logger;
  readonly clock: Pick<Clock, "now">;
}

const defaultRetention = "400d";
/** Milliseconds until a failed write is tried again. */
const retryPeriod = 1000;
const trimPeriod = 60 * 60_000;
const trimBatch = 500;
/** Entries of one write, and entries that may wait for one. */
const batchSize = 100;
const maxWaiting = 10_000;

export class UsageMeter extends BackgroundWriter<UsageEntry> {
  /** Undefined where the host has none. */
  readonly budgets: Budgets | undefined;
  readonly #prices: PriceList | undefined;
  readonly #store: UsageStore;
  readonly #clock: Pick<Clock, "now">;
  readonly #maxAge: number;
  readonly #writer = randomUUID();
  /** The number of the last batch that the store confirmed. */
  #number = 0;
  #added: UsageEntry[] = [];
  /** Batches that the store has not confirmed; nothing more is taken before. */
  #waiting: (readonly UsageEntry[])[] = [];
  #lost = 0;

  constructor({
    prices,
    budgets,
    budgetStore,
    retention = defaultRetention,
    store,
    logger,
    clock,
  }: UsageMeterOptions) {
    super(trimPeriod, logger, "usage of models");
    const counted = countedBudgets(budgets, prices);
    const priced = (model: string | null, usage: StoredUsage) => this.priced(model, usage);
    if (counted !== undefined && budgetStore !== undefined)
      this.budgets = new Budgets({ budgets: counted, store: budgetStore, clock, logger, priced });
    this.#prices = prices && new PriceList(prices, logger);
    this.#maxAge = parseDuration(retention, "retention.usage");
    this.#store = store;
    this.#clock = clock;
  }

  /** The usage of calls of one model with its money; as it is where the host has no prices. */
  priced(model: string | null, usage: StoredUsage): StoredUsage {
    if (this.#prices === undefined) return usage;
    return this.#prices.priced(model, usage, new Date(this.#clock.now()).toISOString().slice(0, 10));
  }

  /** Counts a call that no commit has. */
  count({ agentId, model, userId = "", usage }: UncommittedCall): void {
    const key = { day: dayOf(this.#clock.now()), userId, agentId, workflowId: "", model: model ?? "" };
    this.#added.push(usageEntry(key, usage));
    if (this.#added.length >= maxWaiting) {
      this.#added = [...mergeEntries(this.#added)];
      this.#lost += this.#added.splice(maxWaiting / 2).length;
    }
    this.schedule(0);
  }

  /** A page of the usage of all processes. Calls of other processes within the last moments may be missing. */
  async read(options: UsageOptions): Promise<UsagePage> {
    await this.flush();
    return readUsage(this.#store, options, this.#clock.now());
  }

  /** Entries that were not kept because the store could not keep up or refused them. */
  get lost(): number {
    return this.#lost;
  }

  protected override async write(): Promise<number | undefined> {
    if (this.#waiting.length === 0) this.#waiting = this.#takeBatches();
    await this.writeBatches(this.#waiting);
    if (this.#waiting.length > 0) return retryPeriod;
    return this.#added.length > 0 ? 0 : undefined;
  }

  // Sent again after an error a batch has the same number: the store adds it once.
  protected override async append(entries: readonly UsageEntry[]): Promise<void> {
    await this.#store.add({ writer: this.#writer, number: this.#number + 1, entries });
    this.#number++;
  }

  protected override countRefused(entries: readonly UsageEntry[]): void {
    this.#lost += entries.length;
  }

  protected override async trimmer(): Promise<() => Promise<number>> {
    const before = dayOf(this.#clock.now() - this.#maxAge);
    return async () => {
      if (this.closed) return 0;
      const accounts = (await this.budgets?.trim(trimBatch)) ?? 0;
      return accounts + (await this.#store.trim({ before, limit: trimBatch }));
    };
  }

  #takeBatches(): (readonly UsageEntry[])[] {
    const entries = mergeEntries(this.#added);
    this.#added = [];
    const batches: (readonly UsageEntry[])[] = [];
    for (let start = 0; start < entries.length; start += batchSize)
      batches.push(entries.slice(start, start + batchSize));
    return batches;
  }
}
