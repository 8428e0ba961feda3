// The bytes and the time of files: shared by users, returned when their calls end, and counted exactly.
import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { FilesBusyError } from "../../errors/index.ts";
import { type FileBounds, FileBudget, FilePool } from "./file-budget.ts";

const mebibyte = 1024 * 1024;
const never = new AbortController().signal;
const bytes = (length: number) => ({ data: new Uint8Array(length) });
const waits = async (promise: Promise<unknown> | undefined) =>
  Promise.race([Promise.resolve(promise).then(() => false), turn(true)]);
const first = (userId?: string) => ({ userId, holds: false });
const further = (userId?: string) => ({ userId, holds: true });
/** Loads a file of so many bytes, which are reserved before. */
const file = (length: number) => async (bounds: FileBounds) => {
  await bounds.reserve(length, bounds.signal);
  return bytes(length);
};

test("a file that fits passes one that waits for more, however many bytes have passed and left", async () => {
  const pool = new FilePool();
  void pool.take(1, first("a"), never);
  const large = pool.take(50 * mebibyte, first("b"), never);
  // The first fits into the reserve, the second does not.
  for (const size of [mebibyte, 30 * mebibyte])
    for (let passed = 0; passed < 100; passed++) {
      expect(pool.take(size, first("c"), never)).toBeUndefined();
      pool.give(size, "c");
    }
  expect(await waits(large)).toBe(true);
});

test("a file that was passed is the first to get its bytes when there is room for it", async () => {
  const pool = new FilePool(10, 3);
  void pool.take(4, first("a"), never);
  const large = pool.take(7, first("b"), never);
  expect(pool.take(3, first("c"), never)).toBeUndefined();
  const next = pool.take(4, first("c"), never);
  expect([await waits(large), await waits(next)]).toEqual([true, true]);
  pool.give(3, "c");
  pool.give(4, "a");
  expect([await waits(large), await waits(next)]).toEqual([false, true]);
});

test("users get their bytes in turn: the one whose last grant is longest ago first", async () => {
  const pool = new FilePool(10, 0);
  void pool.take(10, first("hasty"), never);
  const again = pool.take(10, first("hasty"), never);
  const other = pool.take(10, first("late"), never);
  pool.give(10, "hasty");
  expect([await waits(again), await waits(other)]).toEqual([true, false]);
  pool.give(10, "late");
  expect(await waits(again)).toBe(false);
});

test("a user who has left begins like a new one", async () => {
  const pool = new FilePool(10, 0);
  for (const userId of ["b", "a"]) {
    void pool.take(10, first(userId), never);
    pool.give(10, userId);
  }
  void pool.take(10, first("c"), never);
  const [a, b] = [pool.take(10, first("a"), never), pool.take(10, first("b"), never)];
  pool.give(10, "c");
  expect([await waits(a), await waits(b)]).toEqual([false, true]);
});

test("the reserved bytes are for users who hold no more than these, callers without a user are one", async () => {
  for (const userId of ["mallory", undefined]) {
    const pool = new FilePool(10, 3);
    expect(pool.take(7, first(userId), never)).toBeUndefined();
    const more = pool.take(1, first(userId), never);
    expect(await waits(more)).toBe(true);
    const large = pool.take(4, first("large"), never);
    expect(await waits(large)).toBe(true);
    expect(pool.take(2, first("ada"), never)).toBeUndefined();
    expect(pool.take(1, first("ada"), never)).toBeUndefined();
    pool.give(3, "ada");
    void pool.take(1, first("ada"), never);
    pool.give(7, userId);
    expect([await waits(more), await waits(large)]).toEqual([false, false]);
  }
});

test("32 files of a user wait, further ones are refused at once; those of others wait", async () => {
  const pool = new FilePool(10, 0);
  void pool.take(10, first("a"), never);
  const waiting = Array.from({ length: 32 }, () => pool.take(1, first("a"), never));
  expect(() => pool.take(1, first("a"), never)).toThrow(FilesBusyError);
  expect(await waits(pool.take(1, first("b"), never))).toBe(true);
  pool.give(10, "a");
  expect(await waits(Promise.all(waiting.slice(0, 9)))).toBe(false);
  expect(await waits(waiting[9])).toBe(true);
});

test("of the calls that hold bytes one waits for more; the next is refused where it finds no room", async () => {
  const pool = new FilePool(10, 0);
  void pool.take(4, first("a"), never);
  void pool.take(4, first("b"), never);
  const large = pool.take(10, first("c"), never);
  const one = pool.take(4, further("a"), never);
  expect(() => pool.take(4, further("b"), never)).toThrow(FilesBusyError);
  expect(pool.take(2, further("b"), never)).toBeUndefined();
  expect(await waits(one)).toBe(true);
  pool.give(6, "b");
  expect([await waits(one), await waits(large)]).toEqual([false, true]);
  // It has left the queue.
  expect(await waits(pool.take(4, further("b"), never))).toBe(true);
});

test("a call that leaves makes room for those behind it, and one that has its bytes keeps them", async () => {
  const pool = new FilePool(10, 0);
  const granted = new AbortController();
  expect(pool.take(5, first(), granted.signal)).toBeUndefined();
  granted.abort();
  const leaving = new AbortController();
  const large = pool.take(6, first(), leaving.signal);
  const medium = pool.take(5, first(), never);
  expect(medium).toBeUndefined();
  pool.give(5, undefined);
  leaving.abort(new Error("left"));
  await expect(large).rejects.toEqual(new Error("left"));
  expect(pool.take(5, first(), never)).toBeUndefined();
  expect(await waits(pool.take(1, first(), never))).toBe(true);
  expect(() => pool.take(1, first(), leaving.signal)).toThrow("left");
});

test("a pool has 64 MiB: 50 for one user, 14 for the others", async () => {
  const pool = new FilePool();
  expect(pool.take(50 * mebibyte, first("a"), never)).toBeUndefined();
  expect(await waits(pool.take(1, first("a"), never))).toBe(true);
  expect(await waits(pool.take(14 * mebibyte + 1, first("b"), never))).toBe(true);
  expect(pool.take(14 * mebibyte, first("c"), never)).toBeUndefined();
  expect(await waits(pool.take(1, first("d"), never))).toBe(true);
});

test("a file of known length reserves it, one of unknown length a MiB at a time, up to the bytes of its call", async () => {
  const taken: number[] = [];
  const pool = new FilePool();
  const take = vi.spyOn(pool, "take").mockImplementation((length) => void taken.push(length));
  const budget = new FileBudget({ bytes: 3 * mebibyte, pool });
  await budget.load(async ({ reserve, signal }) => {
    await reserve(100, signal);
    await reserve(99, signal);
    await reserve(101, signal);
    await reserve(100 + mebibyte, signal);
    await reserve(101 + mebibyte, signal);
    await reserve(3 * mebibyte, signal);
    await expect(reserve(3 * mebibyte + 1, signal)).rejects.toThrow("more than 3145728 bytes");
    return bytes(0);
  });
  expect(taken).toEqual([100, mebibyte, mebibyte, mebibyte - 100]);
  expect(take.mock.calls.map(([, { holds }]) => holds)).toEqual([false, true, true, true]);
});

test("a call that waited for room and ran out of time can try again, also with its next file", async () => {
  const pool = new FilePool(10, 0);
  const budget = new FileBudget({ milliseconds: 20, pool });
  void pool.take(10, first(), never);
  await expect(budget.load(file(1))).rejects.toEqual(new FilesBusyError());
  await expect(budget.load(file(1))).rejects.toEqual(new FilesBusyError());
  budget.restore();
  pool.give(10, undefined);
  expect(await budget.load(file(1))).toEqual(bytes(1));
});

test("a file that is too slow is the caller's mistake, with room", async () => {
  const slow = ({ signal }: FileBounds) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const budget = new FileBudget({ milliseconds: 20 });
  await expect(budget.load(slow)).rejects.toMatchObject({ name: "TimeoutError" });
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
  const pool = new FilePool(10, 0);
  const budget = new FileBudget({ bytes: 10, pool, userId: "a" });
  await budget.load(file(4));
  await budget.load(file(2));
  expect(pool.take(4, first(), never)).toBeUndefined();
  const next = pool.take(6, first(), never);
  expect(await waits(next)).toBe(true);
  budget.restore();
  expect(await waits(next)).toBe(false);
  budget.restore();
  expect(await waits(pool.take(1, first(), never))).toBe(true);
});

test("the files of a call count for its user", async () => {
  const pool = new FilePool(10, 3);
  await new FileBudget({ pool, userId: "a" }).load(file(7));
  expect(await waits(new FileBudget({ pool, userId: "a" }).load(file(1)))).toBe(true);
  expect(await waits(new FileBudget({ pool, userId: "b" }).load(file(1)))).toBe(false);
});

test("a file that fails, and one whose call has ended, hold nothing; nothing is loaded after the end", async () => {
  const pool = new FilePool(10, 0);
  const budget = new FileBudget({ bytes: 10, pool });
  const failing = async ({ reserve, signal }: FileBounds) => {
    await reserve(10, signal);
    throw new Error("gone");
  };
  await expect(budget.load(failing)).rejects.toThrow("gone");
  const loading = Promise.withResolvers<{ data: Uint8Array }>();
  const loaded = budget.load(async ({ reserve, signal }) => {
    await reserve(10, signal);
    return loading.promise;
  });
  await turn();
  budget.end();
  const next = pool.take(10, first(), never);
  expect(await waits(next)).toBe(true);
  loading.resolve(bytes(3));
  expect(await loaded).toEqual(bytes(3));
  expect(await waits(next)).toBe(false);
  await expect(budget.load(file(1))).rejects.toThrow("the call has ended");
});
