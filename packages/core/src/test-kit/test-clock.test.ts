// The clock of tests: moves only on request, skips sleeps, keeps the order of times.
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TestClock } from "./test-clock.ts";

test("does not move and rings nothing until it is moved", async () => {
  const clock = new TestClock({ start: 1000, skipSleeps: false });
  const rung: string[] = [];
  clock.at(2000, "sleep", () => rung.push("sleep"));
  clock.at(2000, "limit", () => rung.push("limit"));
  await turn();
  expect([clock.now(), rung]).toEqual([1000, []]);
  clock.advance("1s");
  expect([clock.now(), rung]).toEqual([2000, ["sleep", "limit"]]);
});

test("rings in the order of the times, each at its own time, also alarms set meanwhile", () => {
  const clock = new TestClock({ start: 0, skipSleeps: false });
  const rung: [string, number][] = [];
  clock.at(30, "limit", () => rung.push(["third", clock.now()]));
  clock.at(10, "limit", () => {
    rung.push(["first", clock.now()]);
    clock.at(20, "limit", () => rung.push(["second", clock.now()]));
  });
  clock.advance(100);
  expect(rung).toEqual([
    ["first", 10],
    ["second", 20],
    ["third", 30],
  ]);
  expect(clock.now()).toBe(100);
});

test("skips sleeps and nothing else, but passes over no limit on the way", async () => {
  const clock = new TestClock({ start: 0 });
  const rung: string[] = [];
  clock.at(5000, "limit", () => rung.push("later limit"));
  clock.at(10, "limit", () => rung.push("limit"));
  clock.at(1000, "sleep", () => rung.push("sleep"));
  await turn();
  expect([clock.now(), rung]).toEqual([1000, ["limit", "sleep"]]);
});

test("rings alarms that are due already at once, but never within the call", async () => {
  const clock = new TestClock({ start: 500, skipSleeps: false });
  const rung: string[] = [];
  clock.at(100, "limit", () => rung.push("past"));
  expect(rung).toEqual([]);
  await turn();
  expect([clock.now(), rung]).toEqual([500, ["past"]]);
});

test("an alarm that is called off does not ring", async () => {
  const clock = new TestClock({ start: 0 });
  const rung: string[] = [];
  clock.at(10, "sleep", () => rung.push("sleep"))();
  clock.at(10, "limit", () => rung.push("limit"))();
  clock.advance(10);
  await turn();
  expect(rung).toEqual([]);
});

test("moves to a time and never back", () => {
  const clock = new TestClock({ start: new Date(50) });
  clock.advanceTo(new Date(80));
  clock.advanceTo(60);
  expect(clock.now()).toBe(80);
});
