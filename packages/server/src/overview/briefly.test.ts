import { createAndante, memoryStore } from "@andante/core";
import { expect, test, vi } from "vitest";
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
