// The waits of an execution: open suspensions, sleepers and the timers of the store.
import { expect, test } from "vitest";
import type { Suspension } from "../../store/store.ts";
import { AbortScope } from "../body/abort-scope.ts";
import type { Fiber } from "./join.ts";
import { OpenWaits } from "./open-waits.ts";

const suspension = (path: string | null, deadline: number | null = null): Suspension => ({
  ...{ suspensionId: `s-${path}`, path, stepIndex: 0, reason: "", data: null },
  ...{ suspendedAt: 1, deadline, onDeadline: null },
});
const fiber = (): Fiber => ({
  interpretation: (function* () {
    return { kind: "skipped" } as const;
  })() as never,
  ...{ scope: new AbortScope(), join: undefined, index: 0, sequence: 0 },
});

test("open suspensions are those of steps, the oldest first; the earliest deadline is the first", () => {
  const waits = new OpenWaits({
    suspensions: [suspension("all/b", 50), suspension(null, 10), suspension("all/a")],
    timers: [],
  });
  expect([...waits.suspensions].map(({ path }) => path)).toEqual(["all/b", "all/a"]);
  expect(waits.firstDeadline).toBe(50);
  expect(waits.below("all")).toEqual(["all/b", "all/a"]);
  waits.open("all/c", suspension("all/c", 40));
  expect(waits.firstDeadline).toBe(40);
  expect(waits.close("all/c")).toBe(true);
  expect(waits.close("all/c")).toBe(false);
  expect(waits.close("all/b")).toBe(true);
  expect([waits.firstDeadline, waits.suspension("all/b"), waits.suspension("all/a")?.suspensionId]).toEqual([
    Number.POSITIVE_INFINITY,
    undefined,
    "s-all/a",
  ]);
  expect(waits.below("all")).toEqual(["all/a"]);
});

test("a sleep needs a timer unless the store has one or its time has come, and that of the store counts", () => {
  const waits = new OpenWaits({ suspensions: [], timers: [{ path: "all/known", dueAt: 70 }] });
  expect(waits.sleep("all/known", fiber(), 90, 10)).toBe(false);
  expect(waits.sleepers.next).toBe(70);
  expect(waits.sleep("all/over", fiber(), 10, 10)).toBe(false);
  expect(waits.sleep("all/new", fiber(), 11, 10)).toBe(true);
  expect(waits.timers).toEqual([
    { path: "all/known", dueAt: 70 },
    { path: "all/new", dueAt: 11 },
  ]);
  expect(waits.below("all")).toEqual(["all/known", "all/over", "all/new"]);
  expect([waits.wake("all/over"), waits.wake("all/new"), waits.wake("all/new")]).toEqual([
    false,
    true,
    false,
  ]);
  expect(waits.sleepers.has("all/over")).toBe(false);
  expect(waits.sleepers.next).toBe(70);
  expect(waits.below("all")).toEqual(["all/known"]);
  expect(waits.timers).toEqual([{ path: "all/known", dueAt: 70 }]);
});
