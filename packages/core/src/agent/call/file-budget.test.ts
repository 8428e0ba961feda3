// The bytes and the time of files: shared by calls in order, returned when they end, and counted exactly.
import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { type FileBounds, FileBudget, FilePool } from "./file-budget.ts";

const mebibyte = 1024 * 1024;
const never = new AbortController().signal;
const bytes = (length: number) => ({ data: new Uint8Array(length) });
const waits = async (promise: Promise<unknown>) => Promise.race([promise.then(() => false), turn(true)]);

test("calls get bytes of the pool in order: a small one does not overtake a large one", async () => {
  const pool = new FilePool(10);
  await pool.take(10, never);
  const [large, small] = [pool.take(6, never), pool.take(1, never)];
  pool.give(5);
  expect([await waits(large), await waits(small)]).toEqual([true, true]);
  pool.give(1);
  expect([await waits(large), await waits(small)]).toEqual([false, true]);
  pool.give(1);
  expect(await waits(small)).toBe(false);
  expect(await waits(pool.take(4, never))).toBe(true);
});

test("a call that leaves makes room for those behind it, and one that has its bytes keeps them", async () => {
  const pool = new FilePool(10);
  const first = new AbortController();
  await pool.take(5, first.signal);
  first.abort();
  const second = new AbortController();
  const large = pool.take(6, second.signal);
  const small = pool.take(5, never);
  expect(await waits(small)).toBe(true);
  second.abort();
  await expect(large).rejects.toEqual(
    new Error("the files of other calls take all the memory that files may take"),
  );
  expect(await waits(small)).toBe(false);
  expect(await waits(pool.take(1, never))).toBe(true);
});

test("a pool has 64 MiB", async () => {
  const pool = new FilePool();
  expect(await waits(pool.take(64 * mebibyte, never))).toBe(false);
  expect(await waits(pool.take(1, never))).toBe(true);
});

/** The bounds of each attempt to load a file that is too long for all but the last of them. */
async function attempts(budget: FileBudget, failures: number, isTooLong?: (error: unknown) => boolean) {
  const bounds: FileBounds[] = [];
  const load = async (given: FileBounds) => {
    if (bounds.push(given) <= failures) throw new Error("too long");
    return bytes(1);
  };
  const result = await budget.load(load, isTooLong).catch((error: unknown) => error);
  return { result, most: bounds.map(({ maxBytes }) => maxBytes), bounds };
}

test("a file may have 8 MiB, and on a second attempt all bytes that are left, if it was too long", async () => {
  const [usual, all] = [8 * mebibyte, 50 * mebibyte];
  const tooLong = new Error("too long");
  const budget = new FileBudget();
  expect(await attempts(budget, 0)).toMatchObject({ result: bytes(1), most: [usual] });
  expect(await attempts(budget, 1, () => true)).toMatchObject({ result: bytes(1), most: [usual, all - 1] });
  expect(await attempts(budget, 2, () => true)).toMatchObject({ result: tooLong, most: [usual, all - 2] });
  expect(await attempts(budget, 1, () => false)).toMatchObject({ result: tooLong, most: [usual] });
  expect(await attempts(budget, 1)).toMatchObject({ result: tooLong, most: [usual] });
  const small = new FileBudget({ bytes: usual });
  expect(await attempts(small, 1, () => true)).toMatchObject({ result: tooLong, most: [usual] });
  expect((await attempts(new FileBudget({ bytes: usual + 1 }), 1, () => true)).most).toEqual([
    usual,
    usual + 1,
  ]);
});

test("the time of loading is counted, the time between files is not", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  const timeout = vi.spyOn(AbortSignal, "timeout");
  const budget = new FileBudget({ milliseconds: 100 });
  const loadIn = (milliseconds: number) =>
    budget.load(async () => {
      now.mockReturnValue(performance.now() + milliseconds);
      return bytes(0);
    });
  await loadIn(30.5);
  now.mockReturnValue(1000);
  await loadIn(69);
  await loadIn(0.5);
  expect(timeout.mock.calls).toEqual([[100], [70], [1]]);
  await expect(loadIn(1)).rejects.toEqual(new Error("the files of this call took more than 100 ms to load"));
  budget.restore();
  await loadIn(1);
  expect(timeout.mock.calls.at(-1)).toEqual([100]);
  timeout.mockClear();
  await new FileBudget().load(async () => bytes(0));
  expect(timeout.mock.calls).toEqual([[30_000]]);
  vi.restoreAllMocks();
});

test("files are held in the pool until the call restores them, once", async () => {
  const pool = new FilePool(10);
  const budget = new FileBudget({ bytes: 10, pool });
  await budget.load(async () => bytes(4));
  await budget.load(async () => bytes(2));
  await pool.take(4, never);
  const next = pool.take(6, never);
  expect(await waits(next)).toBe(true);
  budget.restore();
  expect(await waits(next)).toBe(false);
  budget.restore();
  expect(await waits(pool.take(1, never))).toBe(true);
});

test("a file that fails, and one whose call has ended, hold nothing", async () => {
  const pool = new FilePool(10);
  const budget = new FileBudget({ bytes: 10, pool });
  await expect(budget.load(() => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  const loading = Promise.withResolvers<{ data: Uint8Array }>();
  const loaded = budget.load(() => loading.promise);
  await turn();
  budget.end();
  expect(await waits(pool.take(1, never))).toBe(true);
  loading.resolve(bytes(3));
  expect(await loaded).toEqual(bytes(3));
  await pool.take(9, never);
  expect(await waits(pool.take(1, never))).toBe(true);
});
