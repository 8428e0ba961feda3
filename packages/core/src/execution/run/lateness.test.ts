// Limits that have passed: which of them wait, for how long, and when they are processed again.
import { expect, test } from "vitest";
import { runCommand } from "../../../test/support/run-command.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { AbortScope } from "../body/abort-scope.ts";
import { CatchUpPacing } from "./catch-up-pacing.ts";
import type { CommitBatch } from "./commit-batch.ts";
import type { Fiber } from "./fibers.ts";
import { Lateness } from "./lateness.ts";

function* nothing() {
  return { kind: "skipped" } as const;
}
const fiberOf = (): Fiber => ({
  ...{ interpretation: nothing(), scope: new AbortScope(), join: undefined, index: 0, sequence: 0 },
});

/** A lateness at 1000. `catchesUp`: the last timer was due at 100 and has fired now. */
function latenessOf(catchesUp = false) {
  const clock = new TestClock({ start: 1000, skipSleeps: false });
  const calls: string[] = [];
  const state: { settled: boolean | undefined } = { settled: true };
  const batch: Pick<CommitBatch, "starts"> = { starts: [] };
  const progress = { nextWake: undefined as number | undefined, pacing: new CatchUpPacing(), batch };
  if (catchesUp) progress.pacing.record(100, 1000);
  const lateness = new Lateness({
    ...{ clock, progress },
    isSettled: () => state.settled,
    wake: () => void calls.push(`woken at ${clock.now()}`),
    limitIsDue: (at) => void calls.push(`limit at ${at}`),
  });
  return { lateness, calls, state, progress, clock };
}

test("fibers that begin while the execution catches up are late until they end", () => {
  const { lateness } = latenessOf(true);
  const [one, other] = [fiberOf(), fiberOf()];
  expect(lateness.hasLate).toBe(false);
  lateness.ended(one);
  lateness.began(one);
  lateness.began(other);
  lateness.ended(one);
  expect(lateness.hasLate).toBe(true);
  lateness.ended(other);
  expect(lateness.hasLate).toBe(false);
  const punctual = latenessOf();
  punctual.lateness.began(one);
  expect(punctual.lateness.hasLate).toBe(false);
});

test("a limit waits until a sleep that ends before it or with it has ended", () => {
  const { lateness, calls, progress, state } = latenessOf();
  progress.nextWake = 501;
  expect(lateness.holds(500)).toBe(false);
  progress.nextWake = 500;
  expect([lateness.holds(500), calls]).toEqual([true, []]);
  lateness.releaseLimit();
  expect(calls).toEqual([]);
  progress.nextWake = undefined;
  state.settled = false;
  lateness.releaseLimit();
  lateness.releaseLimit();
  expect(calls).toEqual(["limit at 500"]);
});

test("the earliest of the limits that wait is processed again", () => {
  const { lateness, calls, progress } = latenessOf();
  progress.nextWake = 10;
  for (const limit of [500, 400, 450]) expect(lateness.holds(limit)).toBe(true);
  progress.nextWake = undefined;
  lateness.releaseLimit();
  expect(calls).toEqual(["limit at 400"]);
});

test("while the work of a late timer is under way, a limit keeps its distance to that", () => {
  const { lateness, calls, clock } = latenessOf(true);
  // Nothing is under way.
  expect(lateness.holds(300)).toBe(false);
  const fiber = fiberOf();
  lateness.began(fiber);
  expect([lateness.holds(300), calls]).toEqual([true, ["limit at 1200"]]);
  // One that was due before that timer has no distance to keep.
  expect(lateness.holds(100)).toBe(false);
  clock.advance(199);
  lateness.releaseLimit();
  expect(calls).toHaveLength(1);
  clock.advance(1);
  expect(lateness.holds(300)).toBe(false);
  lateness.releaseLimit();
  expect(calls).toEqual(["limit at 1200", "limit at 300"]);
});

test("bodies to start, and results that are not recorded, are such work", () => {
  const starting = latenessOf(true);
  starting.progress.batch.starts.push({ fiber: fiberOf(), command: runCommand("a") });
  expect(starting.lateness.holds(300)).toBe(true);
  const recording = latenessOf(true);
  recording.state.settled = false;
  expect(recording.lateness.holds(300)).toBe(true);
});

test("one that is paused or released holds nothing", () => {
  const { lateness, state, progress } = latenessOf(true);
  lateness.began(fiberOf());
  progress.nextWake = 1;
  state.settled = undefined;
  expect(lateness.holds(300)).toBe(false);
});

test("the alarm wakes it once; a stop cancels it and releases the limit", () => {
  const { lateness, calls, clock, progress, state } = latenessOf();
  lateness.setAlarm(1500);
  clock.advance(499);
  expect(calls).toEqual([]);
  clock.advance(1);
  expect(calls).toEqual(["woken at 1500"]);
  lateness.setAlarm(1600);
  lateness.setAlarm(undefined);
  clock.advance(1000);
  progress.nextWake = 10;
  lateness.holds(400);
  lateness.setAlarm(9000);
  state.settled = undefined;
  lateness.stop();
  clock.advance(9000);
  expect(calls).toEqual(["woken at 1500", "limit at 400"]);
});
