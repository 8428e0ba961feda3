// Turns of the event loop for long work: one piece in each, and work that continues before work that begins.
import { channel } from "node:diagnostics_channel";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { inTurn, ownTurn } from "./own-turn.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

// The time that work takes does not depend on other processes, and each test begins in an empty turn.
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  await nextTurn();
});
afterEach(() => void vi.useRealTimers());

/** Counts the turns of the event loop until it is over. */
function countTurns() {
  const turns = { now: 0, isOver: false };
  const count = () => {
    turns.now += 1;
    if (!turns.isOver) setImmediate(count);
  };
  count();
  return turns;
}

test("no two pieces of work have the same turn, and those that continue come first", async () => {
  const turns = countTurns();
  const order: string[] = [];
  const began = new Set<number>();
  const piece = async (name: string, work: "begin" | "continue") => {
    await ownTurn(work);
    order.push(name);
    began.add(turns.now);
  };
  const twice = async (name: string) => {
    await piece(`${name} begins`, "begin");
    await piece(`${name} continues`, "continue");
  };
  await Promise.all([twice("one"), twice("another"), piece("third begins", "begin")]);
  turns.isOver = true;
  expect(order).toEqual([
    "one begins",
    "one continues",
    "another begins",
    "another continues",
    "third begins",
  ]);
  expect(began.size).toBe(order.length);
});

test("clients that connect in every turn delay long work by 200 ms, and short work by a turn", async () => {
  const connections = channel("net.server.socket");
  const turns = countTurns();
  let isOver = false;
  const connect = () => {
    connections.publish({});
    vi.advanceTimersByTime(10);
    if (!isOver) setImmediate(connect);
  };
  connect();
  await ownTurn("continue");
  expect(turns.now).toBeGreaterThanOrEqual(20);
  expect(turns.now).toBeLessThan(30);
  void inTurn(() => vi.advanceTimersByTime(51));
  const before = turns.now;
  await inTurn(() => undefined);
  expect(turns.now - before).toBeLessThan(3);
  [isOver, turns.isOver] = [true, true];
});

test("work that continues without end does not keep other work from beginning", async () => {
  let begun = false;
  let continued = 0;
  const endless = async () => {
    while (!begun && continued < 1000) {
      await ownTurn("continue");
      continued += 1;
    }
  };
  const begin = ownTurn("begin").then(() => {
    begun = true;
  });
  await Promise.all([endless(), endless(), begin]);
  expect(continued).toBeLessThan(20);
});

const workFor = (milliseconds: number) => {
  vi.advanceTimersByTime(milliseconds);
  return "done";
};

test("work that follows 50 ms of other work waits for a later turn, which takes 50 ms as well", async () => {
  const turns = countTurns();
  expect(inTurn(() => workFor(30))).toBe("done");
  expect(inTurn(() => workFor(30))).toBe("done");
  const first = turns.now;
  const began: number[] = [];
  const later = [1, 2, 3].map(() =>
    inTurn(() => {
      began.push(turns.now);
      return workFor(30);
    }),
  );
  expect(began).toEqual([]);
  expect(await Promise.all(later)).toEqual(["done", "done", "done"]);
  turns.isOver = true;
  const [second, third, fourth] = began;
  expect(third).toBe(second);
  expect(new Set([first, second, fourth]).size).toBe(3);
  await nextTurn();
  expect(inTurn(() => "at once")).toBe("at once");
});

test("work that throws counts, too", async () => {
  const fail = () => {
    workFor(60);
    throw new Error("failed");
  };
  const failed = inTurn(fail);
  const later = inTurn(() => 1);
  expect(later).toBeInstanceOf(Promise);
  await expect(failed).rejects.toThrow("failed");
  expect(await later).toBe(1);
});
