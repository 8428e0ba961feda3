import { StoreRefusedError } from "@andante/core/errors";
import { expect, test } from "vitest";
import { Batch } from "./batch.ts";

interface Call {
  readonly key: string;
  readonly value: string;
}

function open(length = 1) {
  const batches: string[][] = [];
  const held: (() => void)[] = [];
  const batch = new Batch<Call, string>({
    perform: async (given) => {
      batches.push(given.map(({ value }) => value));
      await new Promise<void>((resolve) => held.push(resolve));
      const refused = given.find(({ value }) => value === "refused");
      if (refused !== undefined)
        throw new StoreRefusedError({ operation: "test", cause: new Error("a bad value") });
      if (given.length > 1 && given.some(({ value }) => value === "locked"))
        throw Object.assign(new Error("a lock"), { code: "55P03" });
      if (given.some(({ value }) => value === "lost")) throw new Error("the connection is lost");
      return given.map(({ value }) => `done ${value}`);
    },
    keysOf: ({ key }) => [key],
    lengthOf: () => length,
  });
  const call = (value: string, key = value) => batch.call({ key, value });
  const next = async (count: number) => {
    await expect.poll(() => held.length).toBeGreaterThanOrEqual(count);
    for (const resolve of held.splice(0, Math.max(1, count))) resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { call, batches, next };
}

test("calls of one turn are performed together, and each has its result", async () => {
  const { call, batches, next } = open();
  const results = Promise.all(["a", "b", "c"].map((value) => call(value)));
  await next(1);
  expect(await results).toEqual(["done a", "done b", "done c"]);
  expect(batches).toEqual([["a", "b", "c"]]);
});

test("two calls with a key in common are never in one batch", async () => {
  const { call, batches, next } = open();
  const results = Promise.all([call("a", "k"), call("b", "k"), call("c"), call("d", "k")]);
  for (let each = 0; each < 3; each++) await next(1);
  expect(await results).toEqual(["done a", "done b", "done c", "done d"]);
  expect(batches).toEqual([["a", "c"], ["b"], ["d"]]);
});

test("a call that the database refuses fails alone", async () => {
  const { call, batches, next } = open();
  const results = Promise.allSettled([call("a"), call("refused"), call("c")]);
  for (let each = 0; each < 4; each++) await next(1);
  expect((await results).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(batches).toEqual([["a", "refused", "c"], ["a"], ["refused"], ["c"]]);
});

test("of calls that are longer than a batch one is performed at a time", async () => {
  const { call, batches, next } = open(9_000_000);
  const results = Promise.all([call("a"), call("b"), call("c")]);
  for (const expected of [["a"], ["b"], ["c"]]) {
    await expect.poll(() => batches.length).toBeGreaterThan(0);
    expect(batches.splice(0)).toEqual([expected]);
    await next(1);
  }
  expect(await results).toEqual(["done a", "done b", "done c"]);
});

test("a call that waits for a lock waits alone, as do later ones with its key", async () => {
  const { call, batches, next } = open();
  const results = Promise.all([call("a"), call("locked"), call("c")]);
  await next(1);
  // While they are performed alone, others are.
  const others = Promise.all([call("d"), call("e"), call("f", "locked")]);
  await next(5);
  expect(await results).toEqual(["done a", "done locked", "done c"]);
  expect(await others).toEqual(["done d", "done e", "done f"]);
  expect(batches).toEqual([["a", "locked", "c"], ["a"], ["locked"], ["c"], ["f"], ["d", "e"]]);
});

test("a database that fails refuses all calls of the batch once", async () => {
  const { call, batches, next } = open();
  const results = Promise.allSettled([call("a"), call("lost")]);
  await next(1);
  expect((await results).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(batches).toHaveLength(1);
});

test.each([
  [1, 100],
  [1_000_000, 4],
  [9_000_000, 1],
])("with calls of %i characters a batch has at most %i", async (length, most) => {
  const { call, batches, next } = open(length);
  let isOver = false;
  const results = Promise.all(Array.from({ length: 120 }, (_, index) => call(`${index}`))).finally(() => {
    isOver = true;
  });
  while (!isOver) await next(0);
  await results;
  expect(Math.max(...batches.map((each) => each.length))).toBe(most);
  expect(batches.flat()).toEqual(Array.from({ length: 120 }, (_, index) => `${index}`));
});

test("5000 calls wait at most; a further one is refused", async () => {
  const { call, next } = open();
  let isOver = false;
  const results = Promise.all(Array.from({ length: 5_000 }, (_, index) => call(`${index}`))).finally(() => {
    isOver = true;
  });
  await expect(call("further")).rejects.toMatchObject({ code: "store-busy", status: 503 });
  while (!isOver) await next(1);
  expect(await results).toHaveLength(5_000);
  const again = call("again");
  await next(1);
  expect(await again).toBe("done again");
});

test("5000 calls wait for locks at most, and keep no others out", async () => {
  const { call, next } = open();
  const both = Promise.all([call("a"), call("locked")]);
  await next(1);
  const others = Promise.all(Array.from({ length: 4_998 }, (_, index) => call(`${index}`, "locked")));
  await expect(call("further", "locked")).rejects.toMatchObject({ code: "store-busy", status: 503 });
  const free = call("free");
  await next(5_001);
  expect([...(await both), ...(await others), await free]).toHaveLength(5_001);
});
