// Keeps the search index of the store up to date in the background: in small batches, and hardly at all while executions
// run without a break.
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { EventType } from "../../journal/events.ts";
import type { SearchRules } from "../../store/search-store.ts";
import type { Store } from "../../store/store.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Engine } from "./engine.ts";

/** Milliseconds and counts. */
export interface IndexerPace {
  /** From a change to the batch that indexes it. */
  readonly delay: number;
  /** Between two looks for changes of other processes. */
  readonly period: number;
  /** Executions of each batch, for each reason to index them. */
  readonly executions: number;
  /** The pause after a batch, as a multiple of the time that the batch took, and the shortest such pause. */
  readonly pause: number;
  readonly shortestPause: number;
  /** Further pause where executions have made progress since the batch began. */
  readonly busyPause: number;
  readonly shortestBusyPause: number;
}

// While executions run without a break about 50 of them are indexed in a second, which take less than a hundredth of the
// time; the index is behind until the load is over.
const usualPace: IndexerPace = {
  delay: 250,
  period: 30_000,
  executions: 50,
  pause: 3,
  shortestPause: 20,
  busyPause: 100,
  shortestBusyPause: 1000,
};

const suspended: EventType = "step-suspended";
const changed: EventType = "state-changed";
const events = { suspension: suspended, state: changed };

type IndexerParts = Pick<Engine, "store" | "logger" | "storage" | "progress" | "workflows">;

export class SearchIndexer {
  readonly #engine: IndexerParts;
  readonly #pace: IndexerPace;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #progress: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  /** An execution here has made progress since the last batch began. */
  #isBusy = false;

  constructor(engine: IndexerParts, pace: IndexerPace = usualPace) {
    this.#engine = engine;
    this.#pace = pace;
  }

  /** Starts to index changes; does not wait. A store without an index has nothing to start. */
  start(): void {
    const { search } = this.#engine.store;
    if (search !== undefined) this.#running = this.#run(search);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#running;
  }

  async #run(search: NonNullable<Store["search"]>): Promise<void> {
    const rules = [...this.#engine.workflows.values()].map(rulesOf);
    let isDefined = false;
    while (!this.#stopped.signal.aborted) {
      // Before the batch: progress that it does not see anymore leads to the next one.
      const changed = this.#nextChange();
      const since = performance.now();
      try {
        if (!isDefined) await search.define(rules);
        isDefined = true;
        const { more } = await search.index({ limit: this.#pace.executions, events });
        if (more) await this.#pauseAfter(performance.now() - since);
        else {
          await changed;
          await this.#pause(this.#pace.delay);
        }
      } catch (err) {
        this.#report(err);
        await this.#pause(this.#pace.period);
      }
    }
  }

  #report(err: unknown): void {
    const { logger, storage } = this.#engine;
    if (this.#stopped.signal.aborted || storage.failed(err)) return;
    logger.warn({ err }, "indexing the values of executions failed; trying again later");
  }

  /** Leaves the store to others: briefly, and for longer where executions have made progress meanwhile. */
  async #pauseAfter(took: number): Promise<void> {
    const { pause, shortestPause, busyPause, shortestBusyPause } = this.#pace;
    await this.#pause(Math.max(shortestPause, took * pause));
    if (this.#isBusy) await this.#pause(Math.max(shortestBusyPause, took * busyPause));
  }

  /** Resolves when an execution here makes progress, or other processes may have changed some. */
  #nextChange(): Promise<void> {
    this.#wake();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#pace.period).unref();
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    this.#isBusy = false;
    // One at a time: the signal may wait for days.
    this.#progress ??= this.#engine.progress.next().then(() => {
      this.#progress = undefined;
      this.#isBusy = true;
      this.#wake();
    });
    return promise;
  }

  async #pause(time: number): Promise<void> {
    const { signal } = this.#stopped;
    await pause(time, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

function rulesOf({ id, search }: WorkflowDefinition): SearchRules {
  return { workflowId: id, exclude: search === false ? true : (search?.exclude ?? []) };
}
