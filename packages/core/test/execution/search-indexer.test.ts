// The pace of the search index: how long the store is left to executions after each batch.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProgressSignal } from "../../src/execution/engine/engine.ts";
import { SearchIndexer } from "../../src/execution/engine/search-indexer.ts";
import { StorageWatch } from "../../src/execution/engine/storage-watch.ts";
import { Metrics } from "../../src/observe/metrics.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { systemClock } from "../../src/values/clock.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const pauses = vi.hoisted((): number[] => []);
vi.mock("node:timers/promises", () => ({
  setTimeout: async (time: number) => void pauses.push(time),
}));

let now = 0;
beforeEach(() => {
  pauses.length = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

interface Batch {
  /** Milliseconds that it takes. */
  readonly takes?: number;
  /** An execution makes progress meanwhile. */
  readonly isBusy?: boolean;
  readonly fails?: boolean;
}

/** Indexes these batches, each with more to follow except the last; returns the pauses after them. */
async function pausesAfter(batches: readonly Batch[]): Promise<readonly number[]> {
  const progress = new ProgressSignal();
  const left = [...batches];
  const limits: number[] = [];
  const done = Promise.withResolvers<void>();
  const search = {
    define: async () => undefined,
    find: () => Promise.reject(new Error("not here")),
    index: async ({ limit }: { readonly limit: number }) => {
      limits.push(limit);
      const { takes = 1, isBusy = false, fails = false } = left.shift() ?? {};
      now += takes;
      if (isBusy) progress.notify();
      // The signal arrives in a microtask of its own.
      await new Promise(setImmediate);
      if (fails) throw new Error("no index");
      if (left.length === 0) done.resolve();
      return { more: left.length > 0 };
    },
  };
  const logger = new RecordingLogger();
  const none = () => 0;
  const metrics = new Metrics({ running: none, suspended: async () => 0, streams: none, dropped: none });
  const store = wrapStore(memoryStore(), { search });
  const storage = new StorageWatch(store, logger, metrics, systemClock);
  const indexer = new SearchIndexer({ store, storage, logger, progress, workflows: new Map() });
  indexer.start();
  await done.promise;
  await indexer.stop();
  expect(new Set(limits)).toEqual(new Set([50]));
  return pauses.slice(0, -1);
}

test("a batch is followed by three times its duration, at least 20 ms, while nothing runs", async () => {
  expect(await pausesAfter([{ takes: 40 }, { takes: 1 }, {}])).toEqual([120, 20]);
});

test("where executions made progress meanwhile it waits a hundred times as long, at least a second more", async () => {
  const batches = [{ takes: 40, isBusy: true }, { takes: 1, isBusy: true }, { takes: 5 }, {}];
  expect(await pausesAfter(batches)).toEqual([120, 4000, 20, 1000, 20]);
});

test("after an error it waits for half a minute", async () => {
  expect(await pausesAfter([{ fails: true }, {}])).toEqual([30_000]);
});
