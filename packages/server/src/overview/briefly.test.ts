import { createAndante, memoryStore } from "@andante/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { briefly } from "./briefly.ts";

const andante = createAndante({ store: memoryStore() });

test("what is asked for twice within a moment is read once, for each key and each Andante", async () => {
  const read = vi.fn(async () => 1);
  await Promise.all([briefly(andante, "a", 60_000, read), briefly(andante, "a", 60_000, read)]);
  expect(read).toHaveBeenCalledTimes(1);
  await briefly(andante, "b", 60_000, read);
  await briefly(createAndante({ store: memoryStore() }), "a", 60_000, read);
  expect(read).toHaveBeenCalledTimes(3);
});

test("it is read again once the moment is over", async () => {
  const read = vi.fn(async () => 1);
  await briefly(andante, "over", 0, read);
  await briefly(andante, "over", 0, read);
  expect(read).toHaveBeenCalledTimes(2);
});

test("a failure is not kept", async () => {
  const failing = () => Promise.reject(new Error("no"));
  await expect(briefly(andante, "fails", 60_000, failing)).rejects.toThrow("no");
  await expect(briefly(andante, "fails", 60_000, async () => 2)).resolves.toBe(2);
});

test("a few are read at once, a hundred more wait for their turn, and the rest is refused", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let reading = 0;
  const read = async () => {
    reading += 1;
    await held;
  };
  const asked = Array.from({ length: 110 }, (_, n) => briefly(andante, `busy ${n}`, 60_000, read));
  const outcomes = Promise.allSettled(asked);
  expect(reading).toBe(4);
  release();
  const refused = (await outcomes).filter(({ status }) => status === "rejected");
  expect(refused).toMatchObject(Array(6).fill({ reason: { code: "store-busy", status: 503 } }));
  expect(reading).toBe(104);
});

test("what takes longer than the moment is not read a second time meanwhile", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const read = vi.fn(() => held);
  const first = briefly(andante, "slow", 0, read);
  const second = briefly(andante, "slow", 0, read);
  release();
  await Promise.all([first, second]);
  expect(read).toHaveBeenCalledTimes(1);
});

test("what nobody asks for again does not stay in memory", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const read = vi.fn(async () => 1);
  await briefly(andante, "large", 60_000, read);
  // By the clock the moment is not over: it is read again only because it was forgotten.
  vi.advanceTimersByTime(60_000);
  await briefly(andante, "large", 60_000, read);
  expect(read).toHaveBeenCalledTimes(2);
});
