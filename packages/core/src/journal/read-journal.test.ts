// Journals are read in pages that are bounded in number and in length, and nothing is left out between them.
import { expect, test } from "vitest";
import type { EventsQuery } from "../store/store.ts";
import { type StoredEvent, storedLength } from "../store/stored-event.ts";
import { type JournalRange, readJournal } from "./read-journal.ts";

/** A store that holds one journal of events whose texts have these lengths. */
function storeOf(lengths: readonly number[]) {
  const queries: EventsQuery[] = [];
  const stored: readonly StoredEvent[] = lengths.map((length, index) => ({
    sequence: index + 1,
    timestamp: 0,
    type: "step-start",
    path: "a",
    stepIndex: 0,
    stepType: "andThen",
    value: "1".repeat(length),
    detail: null,
  }));
  const events = async (query: EventsQuery) => {
    queries.push(query);
    const page: StoredEvent[] = [];
    let total = 0;
    for (const event of stored.slice(query.after, query.after + query.limit)) {
      page.push(event);
      total += storedLength(event);
      if (total >= (query.length ?? Number.POSITIVE_INFINITY)) break;
    }
    return page;
  };
  return { events, queries };
}

async function read(store: ReturnType<typeof storeOf>, range: Omit<JournalRange, "executionId"> = {}) {
  const pages: number[][] = [];
  let bytes = 0;
  for await (const page of readJournal(store, { executionId: "e", ...range })) {
    pages.push(page.events.map(({ sequence }) => sequence));
    bytes += page.bytes;
  }
  return { pages, bytes };
}

test("a short journal is one page and one query", async () => {
  const store = storeOf([1, 2, 3]);
  expect(await read(store)).toEqual({ pages: [[1, 2, 3]], bytes: 6 });
  expect(store.queries).toHaveLength(1);
});

test("an empty one has no page", async () => {
  expect((await read(storeOf([]))).pages).toEqual([]);
});

test("a long one comes in order, every event once", async () => {
  const { pages } = await read(storeOf(new Array(4_500).fill(1)));
  expect(pages.map((page) => page.length)).toEqual([2000, 2000, 500]);
  expect(pages.flat()).toEqual(Array.from({ length: 4_500 }, (_, index) => index + 1));
});

test("long texts end a page early and lose nothing", async () => {
  const { pages } = await read(storeOf([5_000_000, 5_000_000, 5_000_000]));
  expect(pages).toEqual([[1, 2], [3]]);
});

test("only the range is read", async () => {
  const { pages } = await read(storeOf([1, 1, 1, 1, 1]), { after: 1, upTo: 4 });
  expect(pages).toEqual([[2, 3, 4]]);
});

test("a journal that ends before its range ends is read as far as it goes", async () => {
  const store = storeOf([1, 1]);
  expect((await read(store, { upTo: 10 })).pages).toEqual([[1, 2]]);
});

test("a journal that lacks an event is refused with its number, within a page and between two", async () => {
  const whole = storeOf([1, 1, 1, 1, 1]);
  for (const missing of [1, 3, 4]) {
    const events = async (query: EventsQuery) =>
      (await whole.events(query)).filter(({ sequence }) => sequence !== missing);
    const { queries } = whole;
    await expect(read({ events, queries })).rejects.toMatchObject({
      code: "journal-damaged",
      message: `The journal is damaged at event ${missing}: it is missing`,
    });
  }
});

test("a read that is aborted between two pages asks for no further one", async () => {
  const store = storeOf(Array.from({ length: 4001 }, () => 1));
  const controller = new AbortController();
  const reading = readJournal(store, { executionId: "e", signal: controller.signal });
  expect((await reading.next()).value?.events).toHaveLength(2000);
  controller.abort(new Error("the client is gone"));
  await expect(reading.next()).rejects.toThrow("the client is gone");
  expect(store.queries).toHaveLength(1);
});
