// Reading the events of others: none that comes meanwhile is missed, and a failed read is repeated.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StoreBusyError, StoreUnavailableError } from "../../errors/index.ts";
import type { StoredEvent } from "../../store/stored-event.ts";
import { OthersEvents } from "./others-events.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const pause = (sequence: number): StoredEvent => ({
  sequence,
  timestamp: 1,
  type: "workflow-suspended",
  path: null,
  stepIndex: 0,
  stepType: null,
  value: null,
  detail: JSON.stringify({ suspensionId: `s${sequence}`, reason: "", suspendedAt: 1 }),
});

/** A reader of a journal whose reads end on request, each with the journal as it was when the read began. */
function reader() {
  const journal = [pause(2)];
  const reads: { readonly found: StoredEvent[]; end(error?: Error): void }[] = [];
  const taken: number[] = [];
  const failed: unknown[] = [];
  const events = new OthersEvents({
    executionId: "e",
    after: 1,
    store: {
      events: ({ after }) => {
        const found = journal.filter(({ sequence }) => sequence > after);
        if (found.length === 0) return Promise.resolve([]);
        return new Promise((resolve, reject) =>
          reads.push({ found, end: (error) => (error === undefined ? resolve(found) : reject(error)) }),
        );
      },
    },
    storageFailed: (error) => error instanceof StoreUnavailableError,
    takeIn: (found) => taken.push(...found.map(({ sequence }) => sequence)),
    failed: (error) => failed.push(error),
  });
  return { events, journal, reads, taken, failed };
}

test("events that are written while a read is under way are read after it", async () => {
  const { events, journal, reads, taken } = reader();
  events.look({ must: false });
  journal.push(pause(3));
  events.look({ must: false });
  expect(reads).toHaveLength(1);
  reads[0]?.end();
  await vi.waitFor(() => expect(reads).toHaveLength(2));
  expect(taken).toEqual([2]);
  expect(events.isReading).toBe(true);
  reads[1]?.end();
  await vi.waitFor(() => expect(taken).toEqual([2, 3]));
  expect(events.isReading).toBe(false);
});

test("a look that finds nothing new reports no events", async () => {
  const takeIn = vi.fn();
  const store = { events: async () => [] };
  const never = () => false;
  const events = new OthersEvents({
    executionId: "e",
    after: 1,
    store,
    storageFailed: never,
    takeIn,
    failed: never,
  });
  events.look({ must: true });
  await vi.waitFor(() => expect(takeIn.mock.calls).toEqual([[[]]]));
  expect(events.isReading).toBe(false);
});

test.each([
  new StoreBusyError({ limit: 1 }),
  new StoreUnavailableError({ cause: new Error("the database is away") }),
])("one that is needed waits and reads again, and counts as reading meanwhile", async (error) => {
  const { events, reads, taken, failed } = reader();
  events.look({ must: true });
  reads[0]?.end(error);
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
  expect(events.isReading).toBe(true);
  vi.runAllTimers();
  reads[1]?.end();
  await vi.waitFor(() => expect(taken).toEqual([2]));
  expect(failed).toEqual([]);
  expect(events.isReading).toBe(false);
});

test("one that is not needed is left to the next look", async () => {
  const { events, reads } = reader();
  events.look({ must: false });
  reads[0]?.end(new StoreBusyError({ limit: 1 }));
  await vi.waitFor(() => expect(events.isReading).toBe(false));
  expect(vi.getTimerCount()).toBe(0);
});

test("after its end nothing is taken in", async () => {
  const { events, reads, taken } = reader();
  events.look({ must: true });
  events.stop();
  reads[0]?.end();
  await Promise.resolve();
  expect([taken, events.isReading]).toEqual([[], false]);
});
