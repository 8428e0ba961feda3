// Reading the events of others: none that comes meanwhile is missed, and a failed read is repeated.
import { setImmediate as turn } from "node:timers/promises";
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
  const failed: [unknown, boolean][] = [];
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
    failed: (error, must) => failed.push([error, must]),
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
  await turn();
  expect(reads).toHaveLength(2);
  expect(taken).toEqual([2]);
  expect(events.isReading).toBe(true);
  reads[1]?.end();
  await turn();
  expect(taken).toEqual([2, 3]);
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
  await turn();
  expect(takeIn.mock.calls).toEqual([[[]]]);
  expect(events.isReading).toBe(false);
});

test.each([
  new StoreBusyError({ limit: 1 }),
  new StoreUnavailableError({ cause: new Error("the database is away") }),
])("one that is needed waits and reads again, and counts as reading meanwhile", async (error) => {
  const { events, reads, taken, failed } = reader();
  events.look({ must: true });
  reads[0]?.end(error);
  await turn();
  expect(vi.getTimerCount()).toBe(1);
  expect(events.isReading).toBe(true);
  vi.advanceTimersByTime(499);
  expect(reads).toHaveLength(1);
  vi.advanceTimersByTime(1);
  reads[1]?.end();
  await turn();
  expect(taken).toEqual([2]);
  expect(failed).toEqual([]);
  expect(events.isReading).toBe(false);
});

test("one that is not needed is left to the next look", async () => {
  const { events, reads } = reader();
  events.look({ must: false });
  reads[0]?.end(new StoreBusyError({ limit: 1 }));
  await turn();
  expect([events.isReading, vi.getTimerCount()]).toEqual([false, 0]);
  events.look({ must: false });
  expect(reads).toHaveLength(2);
});

test.each([true, false])(
  "a journal that cannot be read is reported, with the need for it (%s)",
  async (must) => {
    const { events, reads, failed, taken } = reader();
    const damaged = new Error("damaged");
    events.look({ must });
    reads[0]?.end(damaged);
    await turn();
    expect([failed, events.isReading, vi.getTimerCount()]).toEqual([[[damaged, must]], false, 0]);
    // The next look is a new one: it is not needed because this one was.
    events.look({ must: false });
    reads[1]?.end(damaged);
    await turn();
    expect(failed.slice(1)).toEqual([[damaged, false]]);
    expect(taken).toEqual([]);
  },
);

test("a look during one that is not needed makes it needed", async () => {
  const { events, reads, failed } = reader();
  events.look({ must: false });
  events.look({ must: true });
  reads[0]?.end(new StoreBusyError({ limit: 1 }));
  await turn();
  expect([events.isReading, vi.getTimerCount()]).toEqual([true, 1]);
  vi.advanceTimersByTime(500);
  reads[1]?.end();
  await turn();
  // It has succeeded: the next one is not needed.
  events.look({ must: false });
  await turn();
  expect([events.isReading, failed]).toEqual([false, []]);
});

test("a stop ends the wait for the next read, and a failure after it is not reported", async () => {
  const { events, reads, failed } = reader();
  events.look({ must: true });
  reads[0]?.end(new StoreBusyError({ limit: 1 }));
  await turn();
  events.stop();
  expect([events.isReading, vi.getTimerCount()]).toEqual([false, 0]);
  events.look({ must: true });
  expect(reads).toHaveLength(1);
  const other = reader();
  other.events.look({ must: true });
  other.events.stop();
  other.reads[0]?.end(new Error("damaged"));
  await turn();
  expect([failed, other.failed]).toEqual([[], []]);
});

test("a stop while events are taken in ends the reading", async () => {
  const reads: unknown[] = [];
  const events = new OthersEvents({
    ...{ executionId: "e", after: 1, storageFailed: () => false, failed: () => undefined },
    store: {
      events: async (query) => {
        reads.push(query);
        return [pause(2)];
      },
    },
    takeIn: () => events.stop(),
  });
  events.look({ must: false });
  events.look({ must: false });
  await turn();
  expect(reads).toMatchObject([{ executionId: "e", after: 1 }]);
});

test("after its end nothing is taken in", async () => {
  const { events, reads, taken } = reader();
  events.look({ must: true });
  events.stop();
  reads[0]?.end();
  await turn();
  expect([taken, events.isReading]).toEqual([[], false]);
});
