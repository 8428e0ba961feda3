// Readers of one execution: the order of events, their end, and the bounded buffer of readers that do not read.
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { rowForTest } from "../../../test/support/test-engine.ts";
import { heldOperation } from "../../../test/support/wrapped-store.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { decodeEvent, encodeEvent } from "../../journal/codec.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store, Suspension } from "../../store/store.ts";
import { systemClock } from "../../values/clock.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { EventStream } from "./event-stream.ts";
import { Feed } from "./feed.ts";
import { KeepAlive } from "./keep-alive.ts";

const store = memoryStore();
const workflow = createWorkflow({ id: "long", input: z.unknown() }).andForEach({
  id: "each",
  items: () => Array.from({ length: 50 }, (_, index) => index),
  step: (chain) => chain.andThen({ id: "give", execute: () => "x".repeat(1000) }),
});
const andante = createAndante({ workflows: { workflow }, store });
beforeAll(() => andante.ready());
afterAll(() => andante.close());

const shownOf = async (executionId: string) => {
  const journal = (await store.events({ executionId, after: 0, limit: 10_000 })).map(decodeEvent);
  const feed = new Feed(1_000_000);
  const shared = { store, feed, clock: systemClock, keepAlive: new KeepAlive(), workflow, executionId };
  const stream = new EventStream({ ...shared, after: 0, catchUp: false, until: "end" });
  return { journal, feed, stream };
};

const piece = { timestamp: 1, path: "each", stepIndex: 0, stepType: "andForEach", delta: "hello" };

test("a piece of text comes after the events that were published before it", async () => {
  const { executionId } = await andante.execute("long", null);
  const { journal, feed, stream } = await shownOf(executionId);
  feed.publish(executionId, journal.slice(0, 2));
  feed.publishLive(executionId, piece);
  feed.publish(executionId, journal.slice(2, 3));
  const types: string[] = [];
  for (let count = 0; count < 4; count++) {
    const { value } = await inTime(stream.next(), "the next event");
    types.push(value?.type ?? "the end");
  }
  const [first, second, third] = journal.map(({ type }) => type);
  expect(types).toEqual([first, second, "text-delta", third]);
});

test("a reader that leaves gets no more events, and the wait of one that waits ends", async () => {
  const { executionId } = await andante.execute("long", null);
  const { feed, stream } = await shownOf(executionId);
  const waiting = stream.next();
  expect(feed.has(executionId)).toBe(true);
  const end = { done: true, value: undefined };
  expect(await stream.return()).toEqual(end);
  expect(await inTime(waiting, "the end")).toEqual(end);
  expect(await inTime(stream.next(), "the end")).toEqual(end);
  expect(feed.has(executionId)).toBe(false);
});

test("events that do not fit are read from the journal: nothing is lost, and nothing comes twice", async () => {
  const { executionId } = await andante.execute("long", null);
  const journal = (await store.events({ executionId, after: 0, limit: 10_000 })).map(decodeEvent);
  const feed = new Feed(10_000);
  const shared = { store, feed, clock: systemClock, keepAlive: new KeepAlive(), workflow, executionId };
  const streams = Array.from(
    { length: 20 },
    () => new EventStream({ ...shared, after: 0, catchUp: false, until: "end" }),
  );
  let most = 0;
  for (const event of journal) {
    feed.publish(executionId, [event]);
    most = Math.max(most, feed.buffered);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(10_000);
  for (const stream of streams) {
    const sequences: unknown[] = [];
    for await (const { sequence } of stream) sequences.push(sequence);
    expect(sequences).toEqual([...journal.map(({ sequence }) => sequence), undefined]);
  }
  expect(feed.buffered).toBe(0);
});

test("a hint of known events does not make it read the journal, one of more does", async () => {
  const { executionId } = await andante.execute("long", null);
  const journal = (await store.events({ executionId, after: 0, limit: 10_000 })).map(decodeEvent);
  const feed = new Feed(1_000_000);
  let reads = 0;
  const counted: typeof store = {
    ...store,
    events: (query) => {
      reads++;
      return store.events(query);
    },
  };
  const shared = {
    store: counted,
    feed,
    clock: systemClock,
    keepAlive: new KeepAlive(),
    workflow,
    executionId,
  };
  const stream = new EventStream({ ...shared, after: 0, catchUp: false, until: "end" });
  feed.publish(executionId, journal.slice(0, 2));
  for (const { type } of journal.slice(0, 2))
    expect((await inTime(stream.next(), "the next event")).value).toMatchObject({ type });
  const third = stream.next();
  feed.nudge(executionId, 2, false);
  await store.state(executionId);
  expect(reads).toBe(0);
  feed.nudge(executionId, 3, false);
  expect((await inTime(third, "the next event")).value).toMatchObject({ sequence: 3 });
  expect(reads).toBe(1);
  await stream.return();
});

test("a reader of events that a failover has lost continues with the newest that is left, and sees the end", async () => {
  const { executionId } = await andante.execute("long", null);
  const journal = (await store.events({ executionId, after: 0, limit: 10_000 })).map(decodeEvent);
  const last = journal.length;
  // It has been shown as many events as the journal has now, or more, and none of them was its end.
  for (const shown of [last, last + 5]) {
    const feed = new Feed(1_000_000);
    const shared = { store, feed, clock: systemClock, keepAlive: new KeepAlive(), workflow, executionId };
    const stream = new EventStream({ ...shared, after: shown, catchUp: false, until: "end" });
    const next = stream.next();
    feed.nudge(executionId, last, true);
    expect((await inTime(next, "the end")).value).toMatchObject({
      type: journal.at(-1)?.type,
      sequence: last,
    });
    expect((await inTime(stream.next(), "the result")).value).toMatchObject({ type: "workflow-result" });
    await stream.return();
  }
});

test("an old hint of fewer events than were shown changes nothing", async () => {
  const { executionId } = await andante.execute("long", null);
  const journal = (await store.events({ executionId, after: 0, limit: 10_000 })).map(decodeEvent);
  const feed = new Feed(1_000_000);
  const shared = { store, feed, clock: systemClock, keepAlive: new KeepAlive(), workflow, executionId };
  const stream = new EventStream({ ...shared, after: 5, catchUp: false, until: "end" });
  const next = stream.next();
  feed.nudge(executionId, 3, false);
  feed.publish(executionId, journal.slice(5, 6));
  expect((await inTime(next, "the next event")).value).toMatchObject({ sequence: 6 });
  await stream.return();
});

/** A reader from this event on, whose store has these operations replaced. */
function readerFrom(executionId: string, after: number, operations: Partial<Store>) {
  const feed = new Feed(1_000_000);
  const stream = new EventStream({
    ...{ store: { ...store, ...operations }, feed, clock: systemClock, keepAlive: new KeepAlive() },
    ...{ workflow, executionId, after, catchUp: true, until: "end" as const },
  });
  onTestFinished(() => void stream.return());
  return { feed, stream };
}

test("a journal is read in pages, not event by event", async () => {
  const { executionId } = await andante.execute("long", null);
  const pages: number[] = [];
  const { stream } = readerFrom(executionId, 0, {
    events: async (query) => {
      const page = await store.events(query);
      pages.push(page.length);
      return page;
    },
  });
  const events = await allInTime(stream, "the end of the stream");
  expect(pages.reduce((sum, length) => sum + length, 0)).toBe(events.length - 1);
  expect(pages.length).toBeLessThan(10);
});

test("an event that is published while the journal is read is handed out, although the read did not find it", async () => {
  const { executionId } = await andante.execute("long", null);
  const journal = (await store.events({ executionId, after: 0, limit: 10_000 })).map(decodeEvent);
  const early = heldOperation<unknown, []>(async () => []);
  early.hold();
  const { feed, stream } = readerFrom(executionId, 3, { events: early.run });
  const next = stream.next();
  await early.asked;
  feed.publish(executionId, journal.slice(3, 5));
  early.release();
  expect((await inTime(next, "the next event")).value).toMatchObject({ sequence: 4 });
  expect((await inTime(stream.next(), "the next event")).value).toMatchObject({ sequence: 5 });
  await stream.return();
});

test("the stream of an execution that is deleted before its state is read ends without a result", async () => {
  const { executionId } = await andante.execute("long", null);
  const { stream } = readerFrom(executionId, 0, { state: async () => undefined });
  const events = await allInTime(stream, "the end of the stream");
  expect(events.at(-1)).toMatchObject({ type: "workflow-complete" });
});

/** An event of a body whose data has this many characters, quotes included. */
const eventOf = (sequence: number, length = 2): JournalEvent => ({
  ...{ type: "emitted", sequence, timestamp: 1, path: "each", stepIndex: 0, stepType: "andForEach" },
  ...{ name: `event-${sequence}`, attempt: 1, data: JSON.stringify("x".repeat(length - 2)) },
});
const suspendedAt = (sequence: number): JournalEvent => ({
  ...{ type: "workflow-suspended", sequence, timestamp: 1, path: "each", stepIndex: 0, userId: undefined },
  ...{ suspensionId: `s${sequence}`, reason: "why", suspendedAt: 7, deadline: undefined, data: undefined },
});
const endAt = (sequence: number): JournalEvent => ({
  ...{ type: "workflow-complete", sequence, timestamp: 1, result: "5" },
});

interface Journaled {
  readonly after?: number;
  readonly catchUp?: boolean;
  readonly until?: "settled" | "end";
  readonly room?: number;
  /** The open suspension. */
  readonly open?: string;
}

/** A reader of a journal that only this test writes. `reads`: the events that were asked for. */
function readerOf(journal: readonly JournalEvent[], given: Journaled = {}) {
  const { after = 0, catchUp = false, until = "end", room = 10_000_000, open } = given;
  const feed = new Feed(room);
  const reads: unknown[] = [];
  const execution = { ...rowForTest(), endAt: open === undefined ? 9 : null };
  const waiting: Suspension = {
    ...{ suspensionId: open ?? "", path: "each", stepIndex: 0, reason: "why", data: null, suspendedAt: 7 },
    ...{ deadline: null, onDeadline: null, resumeSchema: null },
  };
  const suspensions = open === undefined ? [] : [waiting];
  const operations: Partial<Store> = {
    events: async ({ executionId, ...query }) => {
      reads.push(query);
      const left = journal.filter(({ sequence }) => sequence > query.after);
      return left.slice(0, query.limit).map((event) => ({ ...encodeEvent(event), sequence: event.sequence }));
    },
    state: async () => ({ execution, suspensions, timers: [], usage: null }),
  };
  const stream = new EventStream({
    ...{ store: { ...store, ...operations }, feed, clock: systemClock, keepAlive: new KeepAlive() },
    ...{ workflow, executionId: "e1", after, catchUp, until },
  });
  onTestFinished(() => void stream.return());
  const next = async () => {
    const { done, value } = await inTime(stream.next(), "the next event");
    return done ? "done" : (value.sequence ?? value.type);
  };
  const nexts = async (count: number) => {
    const seen: unknown[] = [];
    while (seen.length < count) seen.push(await next());
    return seen;
  };
  return { feed, stream, reads, next, nexts };
}

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => eventOf(first + index));

test("a reader that waits is woken by a commit, by a piece of text, and by the end of the process", async () => {
  const { feed, stream, next } = readerOf([]);
  const first = next();
  feed.publish("e1", [eventOf(1)]);
  expect(await first).toBe(1);
  const text = stream.next();
  feed.publishLive("e1", piece);
  expect(await inTime(text, "the text")).toEqual({
    done: false,
    value: {
      ...{ type: "text-delta", executionId: "e1", timestamp: "1970-01-01T00:00:00.001Z", delta: "hello" },
      ...{ from: "each", stepPath: "each", stepIndex: 0, stepType: "andForEach" },
    },
  });
  const last = next();
  feed.stop();
  expect(await last).toBe("done");
});

test("events that were published before the process stops are still handed out", async () => {
  const { feed, nexts } = readerOf([]);
  feed.publish("e1", range(1, 2));
  feed.stop();
  expect(await nexts(3)).toEqual([1, 2, "done"]);
});

test("a piece of text comes after the last event of a commit, also of one that another process wrote", async () => {
  const { feed, nexts } = readerOf(range(1, 6));
  feed.publish("e1", range(1, 3));
  feed.publish("e1", []);
  feed.publishLive("e1", piece);
  expect(await nexts(4)).toEqual([1, 2, 3, "text-delta"]);
  feed.nudge("e1", 6, false);
  feed.nudge("e1", 5, false);
  feed.publishLive("e1", piece);
  expect(await nexts(4)).toEqual([4, 5, 6, "text-delta"]);
});

test.each([
  ["a thousand events", [range(1, 600), range(601, 1000)], [range(1, 600), range(601, 1001)], 10_000_000],
  [
    "a million characters",
    [[eventOf(1, 400_000), eventOf(2, 600_000)]],
    [[eventOf(1, 1_000_001)]],
    10_000_000,
  ],
  ["the room of all readers", [[eventOf(1, 99)], [eventOf(2, 2)]], [[eventOf(1, 99)], [eventOf(2, 3)]], 101],
])("%s are kept for a slow reader, more are read from the journal", async (_, fit, exceed, room) => {
  const kept = readerOf([], { room });
  for (const events of fit) kept.feed.publish("e1", events);
  const all = fit.flat().map(({ sequence }) => sequence);
  expect(await kept.nexts(all.length)).toEqual(all);
  expect([kept.reads, kept.feed.buffered]).toEqual([[], 0]);
  const journal = exceed.flat();
  const read = readerOf(journal, { room });
  for (const events of exceed) read.feed.publish("e1", events);
  expect(await read.nexts(journal.length)).toEqual(journal.map(({ sequence }) => sequence));
  expect(read.reads.length).toBeGreaterThan(0);
});

test("the journal is read in pages of 500 events and as many characters as there is room for", async () => {
  const { next, reads, feed } = readerOf(range(1, 3), { catchUp: true, after: 1, room: 2_000_000 });
  expect(await next()).toBe(2);
  expect(reads).toEqual([{ after: 1, limit: 500, length: 1_000_000 }]);
  feed.buffered += 1_999_000;
  expect(await next()).toBe(3);
  const waiting = next();
  await expect.poll(() => reads.length).toBe(2);
  // An empty page means that nothing is left: it is not asked for again.
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
  expect(reads.slice(1)).toEqual([{ after: 3, limit: 500, length: 1000 }]);
  feed.publish("e1", [eventOf(4)]);
  expect(await waiting).toBe(4);
  const full = readerOf(range(1, 1), { catchUp: true, room: 0 });
  expect(await full.next()).toBe(1);
  expect(full.reads).toEqual([{ after: 0, limit: 500, length: 1 }]);
});

test("events that come twice are handed out once; a gap is read from the journal", async () => {
  const { feed, nexts, reads } = readerOf(range(1, 5));
  feed.publish("e1", range(1, 2));
  feed.publish("e1", range(2, 3));
  expect([await nexts(3), reads.length]).toEqual([[1, 2, 3], 0]);
  feed.publish("e1", [eventOf(5)]);
  expect(await nexts(2)).toEqual([4, 5]);
  expect(reads[0]).toMatchObject({ after: 3 });
});

test("an end in another process is read with the events before it", async () => {
  const { feed, nexts } = readerOf([...range(1, 3), endAt(4)]);
  feed.publish("e1", [eventOf(1)]);
  expect(await nexts(1)).toEqual([1]);
  feed.nudge("e1", 4, true);
  expect(await nexts(5)).toEqual([2, 3, 4, "workflow-result", "done"]);
});

test("a stream until the end continues after a suspension, one until it settles does not while it is open", async () => {
  const journal = [eventOf(1), suspendedAt(2), eventOf(3), endAt(4)];
  const whole = readerOf(journal, { catchUp: true, open: "s2" });
  expect(await whole.nexts(4)).toEqual([1, 2, 3, 4]);
  const old = readerOf(journal, { catchUp: true, until: "settled" });
  expect(await old.nexts(6)).toEqual([1, 2, 3, 4, "workflow-result", "done"]);
  const other = readerOf(journal, { catchUp: true, until: "settled", open: "s9" });
  expect(await other.nexts(3)).toEqual([1, 2, 3]);
  const open = readerOf(journal, { catchUp: true, until: "settled", open: "s2" });
  expect(await open.nexts(2)).toEqual([1, 2]);
  // The time when it settled.
  expect(await inTime(open.stream.next(), "the result")).toMatchObject({
    value: { type: "workflow-result", timestamp: "1970-01-01T00:00:00.007Z", executionId: "e1" },
  });
  expect(await open.next()).toBe("done");
  expect(open.feed.has("e1")).toBe(false);
});

test("a suspension that is published and resumed before it is read is not the end", async () => {
  const { feed, nexts } = readerOf([suspendedAt(1), eventOf(2)], { until: "settled" });
  feed.publish("e1", [suspendedAt(1)]);
  expect(await nexts(2)).toEqual([1, 2]);
});

test("the result has the time of the end", async () => {
  const { stream, nexts } = readerOf([endAt(1)], { catchUp: true });
  await nexts(1);
  expect(await inTime(stream.next(), "the result")).toMatchObject({
    done: false,
    value: { type: "workflow-result", timestamp: "1970-01-01T00:00:00.009Z" },
  });
});

test("a reader that leaves before the result gets none, and frees its memory", async () => {
  const { feed, stream, nexts, next } = readerOf([]);
  feed.publish("e1", [endAt(1)]);
  feed.publish("e1", [eventOf(2, 50)]);
  feed.publishLive("e1", piece);
  expect([await nexts(1), feed.buffered]).toEqual([[1], 50]);
  await stream.return();
  expect([await next(), feed.buffered]).toEqual(["done", 0]);
});

test("an old hint of fewer events than were shown is compared with the journal", async () => {
  const { feed, next, reads } = readerOf(range(1, 6), { after: 5 });
  const waiting = next();
  feed.nudge("e1", 3, false);
  expect(await waiting).toBe(6);
  expect(reads.slice(0, 2)).toEqual([
    { after: 4, limit: 1, length: 1 },
    { after: 5, limit: 500, length: 1_000_000 },
  ]);
});
