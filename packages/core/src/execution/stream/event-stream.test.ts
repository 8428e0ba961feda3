// Readers of one execution: the order of events, their end, and the bounded buffer of readers that do not read.
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { heldOperation } from "../../../test/support/wrapped-store.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { decodeEvent } from "../../journal/codec.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
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

test("a reader that leaves is not followed any more, and one that waits is let go", async () => {
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
