// The waiters of an execution: each is settled once, and one that has left is not.
import { expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import type { Settlement } from "../run/settlement.ts";
import { Waiters } from "./waiters.ts";

const stopped: Settlement = { kind: "stopped" };

test("all waiters of an execution are settled, and then removed", async () => {
  const waiters = new Waiters();
  const waits = [waiters.wait("e"), waiters.wait("e")];
  const other = waiters.wait("other");
  waiters.settle("e", stopped);
  for (const { settled } of waits) expect(await inTime(settled, "the settlement")).toBe(stopped);
  expect([waiters.has("e"), waiters.has("other")]).toEqual([false, true]);
  waiters.settleAll(stopped);
  expect(await inTime(other.settled, "the settlement")).toBe(stopped);
  expect(waiters.has("other")).toBe(false);
});

test("a waiter that has left is not settled, and the others still are", async () => {
  const waiters = new Waiters();
  const [one, other] = [waiters.wait("e"), waiters.wait("e")];
  const told: string[] = [];
  void one.settled.then(() => told.push("one"));
  one.cancel();
  one.cancel();
  expect(waiters.has("e")).toBe(true);
  waiters.settle("e", stopped);
  await inTime(other.settled, "the settlement");
  expect(told).toEqual([]);
  waiters.wait("e").cancel();
  expect(waiters.has("e")).toBe(false);
});
