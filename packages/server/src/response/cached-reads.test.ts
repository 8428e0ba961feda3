import { expect, onTestFinished, test, vi } from "vitest";
import { CachedReads } from "./cached-reads.ts";

const reads = new CachedReads();
const here = new AbortController().signal;
const ask = <T>(of: CachedReads, key: string, milliseconds: number, read: () => Promise<T>) =>
  of.get({ key, milliseconds, signal: here, read });

test("a value that is asked for twice within a moment is read once, for each key and each app", async () => {
  const read = vi.fn(async () => 1);
  await Promise.all([ask(reads, "a", 60_000, read), ask(reads, "a", 60_000, read)]);
  expect(read).toHaveBeenCalledTimes(1);
  await ask(reads, "b", 60_000, read);
  await ask(new CachedReads(), "a", 60_000, read);
  expect(read).toHaveBeenCalledTimes(3);
});

test("it is read again after the moment", async () => {
  const read = vi.fn(async () => 1);
  await ask(reads, "over", 0, read);
  await ask(reads, "over", 0, read);
  expect(read).toHaveBeenCalledTimes(2);
});

test("a failure is not kept", async () => {
  const failing = () => Promise.reject(new Error("no"));
  await expect(ask(reads, "fails", 60_000, failing)).rejects.toThrow("no");
  await expect(ask(reads, "fails", 60_000, async () => 2)).resolves.toBe(2);
});

test("it is given up when all that wait for it are gone, and read again for the next", async () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const read = vi.fn(
    (signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(new Error("given up")))),
  );
  const askWith = (signal: AbortSignal) => reads.get({ key: "gone", milliseconds: 60_000, signal, read });
  const asked = [askWith(one.signal), askWith(other.signal)];
  const outcomes = Promise.allSettled(asked);
  one.abort();
  expect(read.mock.calls[0]?.[0].aborted).toBe(false);
  other.abort();
  expect(await outcomes).toMatchObject(Array(2).fill({ reason: { message: "given up" } }));
  const again = reads.get({ key: "gone", milliseconds: 0, signal: here, read: async () => 3 });
  await expect(again).resolves.toBe(3);
});

test("a read that takes longer than the moment is not made a second time meanwhile", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const read = vi.fn(() => held);
  const first = ask(reads, "slow", 0, read);
  const second = ask(reads, "slow", 0, read);
  release();
  await Promise.all([first, second]);
  expect(read).toHaveBeenCalledTimes(1);
});

test("a value that is not asked for again does not stay in memory", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const read = vi.fn(async () => 1);
  await ask(reads, "large", 60_000, read);
  // By the clock the entry is still valid: it is read again only because it was removed.
  vi.advanceTimersByTime(60_000);
  await ask(reads, "large", 60_000, read);
  expect(read).toHaveBeenCalledTimes(2);
});
