// Many readers that do not read: together they keep a bounded part of what is published, and each still reads it all.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createAndante } from "../../andante/create-andante.ts";
import { decodeEvent } from "../../journal/codec.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
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

test("what does not fit is read from the journal: nothing is lost, and nothing comes twice", async () => {
  const { executionId } = await andante.execute("long", null);
  const journal = (await store.events({ executionId, after: 0, limit: 10_000 })).map(decodeEvent);
  const feed = new Feed(10_000);
  const shared = { store, feed, keepAlive: new KeepAlive(), workflow, executionId };
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
