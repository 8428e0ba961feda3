// What was accepted and finds no slot waits here, or in the store where too many wait here already; nothing is lost.
import { expect, test } from "vitest";
import { plainKind as kind } from "../../../test/support/plain-kind.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { Admission } from "./admission.ts";
import type { WaitingExecution } from "./run-queue.ts";

const waiting = (executionId: string, user = "ada"): WaitingExecution => ({
  ...{ executionId, user, kind, claim: { owner: "me", token: "t" } },
});

/** One slot, and one place for each user among those that wait here. */
function admissionForTest(release = async () => undefined) {
  const ran: string[] = [];
  const released: string[] = [];
  let taken = 0;
  let lookups = 0;
  const admission = new Admission({
    limit: 1,
    userShare: 0.001,
    clock: new TestClock(),
    logger: createLogger({ level: "silent" }),
    taken: () => taken,
    users: () => [],
    run: async ({ executionId }) => {
      taken++;
      ran.push(executionId);
    },
    release: async ({ executionId }) => {
      released.push(executionId);
      await release();
    },
    wakeSleepers: () => undefined,
  });
  admission.claimAbandoned = () => {
    lookups++;
  };
  const free = () => {
    taken--;
    admission.roomFreed();
  };
  return { admission, ran, released, free, lookups: () => lookups };
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
