// Accepted executions without a slot wait here, or in the store where too many wait here already; none is lost.
import { expect, test } from "vitest";
import { plainKind as kind } from "../../../test/support/plain-kind.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { Admission } from "./admission.ts";
import type { WaitingExecution } from "./run-queue.ts";

const waiting = (executionId: string, user = "ada", dueAt?: number): WaitingExecution => ({
  ...{ executionId, user, kind, claim: { owner: "me", token: "t" }, dueAt },
});

/** One slot, and one place for each user among those that wait here. */
function admissionForTest(release = async () => undefined) {
  const ran: string[] = [];
  const released: string[] = [];
  let taken = 0;
  let lookups = 0;
  const woken: number[] = [];
  const logger = new RecordingLogger();
  const admission = new Admission({
    limit: 1,
    userShare: 0.001,
    clock: new TestClock(),
    logger,
    taken: () => taken,
    users: () => [],
    run: async ({ executionId }) => {
      if (executionId === "broken") throw new Error("unreadable");
      taken++;
      ran.push(executionId);
    },
    release: async ({ executionId }) => {
      released.push(executionId);
      await release();
    },
    wakeSleepers: () => woken.push(ran.length),
  });
  admission.claimAbandoned = () => {
    lookups++;
  };
  const free = () => {
    taken--;
    admission.roomFreed();
  };
  return { admission, ran, released, free, lookups: () => lookups, woken, logger };
}

test("it runs, waits here or is put back, and the caller learns which", async () => {
  const { admission, ran, released, free, lookups } = admissionForTest();
  expect(await admission.runWhenFree(waiting("first"))).toBe(true);
  expect(await admission.runWhenFree(waiting("second"))).toBe(true);
  expect(admission.hasUnclaimedBacklog).toBe(false);
  expect(await admission.runWhenFree(waiting("third"))).toBe(false);
  expect([ran, released, admission.hasUnclaimedBacklog]).toEqual([["first"], ["third"], true]);
  free();
  expect(ran).toEqual(["first", "second"]);
  expect(lookups()).toBe(0);
  free();
  expect(lookups()).toBe(1);
});

test("an execution that the store does not take back waits here", async () => {
  const { admission, ran, free } = admissionForTest(() => Promise.reject(new Error("the disk is full")));
  for (const id of ["first", "second", "third"]) await admission.runWhenFree(waiting(id));
  free();
  free();
  expect(ran).toEqual(["first", "second", "third"]);
});

test("those that wait here and those that sleep go first by turns", async () => {
  const { admission, woken, free } = admissionForTest();
  for (const id of ["first", "second"]) await admission.runWhenFree(waiting(id));
  free();
  await admission.runWhenFree(waiting("third"));
  free();
  // Before the second ran, and after the third did.
  expect(woken).toEqual([1, 3]);
});

test("one whose deadline is due runs on a full node, and hurries one that waits", async () => {
  const { admission, ran } = admissionForTest();
  await admission.runWhenFree(waiting("first"));
  await admission.runWhenFree(waiting("second"));
  expect(admission.holds("second", "t")).toBe(true);
  expect([admission.holds("second", "other"), admission.holds("first", "t")]).toEqual([false, false]);
  await admission.runWhenFree(waiting("late", "eve", 5));
  expect(ran).toEqual(["first", "late"]);
  // The tenth for deadlines is taken, too.
  admission.hurry("second");
  expect(ran).toEqual(["first", "late"]);
  const other = admissionForTest();
  await other.admission.runWhenFree(waiting("first"));
  await other.admission.runWhenFree(waiting("second"));
  other.admission.hurry("unknown");
  other.admission.hurry("second");
  expect(other.ran).toEqual(["first", "second"]);
  expect(other.admission.holds("second", "t")).toBe(false);
});

test("one that was forgotten does not run; at the end all that wait are put back", async () => {
  const { admission, ran, released, free } = admissionForTest();
  for (const [id, user] of [["first"], ["second"], ["third", "bob"], ["fourth", "eve"]] as const)
    await admission.runWhenFree(waiting(id, user));
  admission.forget("second");
  free();
  expect(ran).toEqual(["first", "third"]);
  admission.close();
  expect(released).toEqual(["fourth"]);
  free();
  expect(ran).toEqual(["first", "third"]);
});

test("slots are kept for those in the store, as many as are free", async () => {
  const { admission, ran, lookups, free } = admissionForTest();
  const giveBack = admission.keepFor(5);
  expect(admission.slots.room).toBe(0);
  await admission.runWhenFree(waiting("first"));
  expect(ran).toEqual([]);
  admission.waitsInStore();
  expect([admission.hasUnclaimedBacklog, lookups()]).toEqual([true, 0]);
  giveBack();
  admission.runWaiting();
  expect([ran, lookups()]).toEqual([["first"], 0]);
  free();
  expect(lookups()).toBe(1);
});

test("one that cannot be loaded is one line of the log", async () => {
  const { admission, free, logger, ran } = admissionForTest();
  await admission.runWhenFree(waiting("first"));
  await admission.runWhenFree(waiting("broken"));
  await admission.runWhenFree(waiting("third", "bob"));
  free();
  await expect
    .poll(() => logger.lines)
    .toMatchObject([
      {
        ...{ level: "error", executionId: "broken", err: { message: "unreadable" } },
        msg: "an execution that waited for a slot could not be loaded",
      },
    ]);
  expect(ran).toEqual(["first", "third"]);
});
