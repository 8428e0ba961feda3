// Which fibers wait for a time, and which of them are due.
import { expect, test } from "vitest";
import { AbortScope } from "../body/abort-scope.ts";
import type { Fiber } from "./fibers.ts";
import { Sleepers } from "./sleepers.ts";

function* nothing(): Fiber["interpretation"] {
  return { kind: "output", value: "null" };
}

const fiber = (): Fiber => ({
  interpretation: nothing(),
  scope: new AbortScope(),
  join: undefined,
  index: 0,
  sequence: 0,
});

test("a path has a sleeper until that is deleted, and only its own fiber sleeps there", () => {
  const sleepers = new Sleepers();
  const [one, other] = [fiber(), fiber()];
  expect([sleepers.has("nap"), sleepers.has("nap", one)]).toEqual([false, false]);
  sleepers.add("nap", one, 5);
  expect([sleepers.has("nap"), sleepers.has("nap", one), sleepers.has("nap", other)]).toEqual([
    true,
    true,
    false,
  ]);
  expect([sleepers.has("elsewhere"), sleepers.has("elsewhere", one)]).toEqual([false, false]);
  sleepers.delete("nap");
  expect([sleepers.has("nap"), sleepers.has("nap", one)]).toEqual([false, false]);
});

test("the next time is the earliest of those that sleep now", () => {
  const sleepers = new Sleepers();
  expect(sleepers.next).toBeUndefined();
  sleepers.add("late", fiber(), 30);
  expect(sleepers.next).toBe(30);
  sleepers.add("early", fiber(), 10);
  expect(sleepers.next).toBe(10);
  sleepers.add("later", fiber(), 40);
  expect(sleepers.next).toBe(10);
  sleepers.delete("early");
  expect(sleepers.next).toBe(30);
  sleepers.delete("late");
  sleepers.delete("later");
  expect(sleepers.next).toBeUndefined();
});

test("those whose time has come are due, in the order of their times", () => {
  const sleepers = new Sleepers();
  expect(sleepers.due(100)).toEqual([]);
  for (const [path, at] of [
    ["second", 20],
    ["third", 30],
    ["first", 10],
    ["fourth", 31],
  ] as const)
    sleepers.add(path, fiber(), at);
  expect(sleepers.due(30).map(({ path, at }) => [path, at])).toEqual([
    ["first", 10],
    ["second", 20],
    ["third", 30],
  ]);
  expect(sleepers.due(9)).toEqual([]);
});
