// Twenty runs of one path without a new event are the most.
import { expect, test } from "vitest";
import { AbortScope } from "../body/abort-scope.ts";
import { maxRunsWithoutEvent, ReentryGuard } from "./reentry-guard.ts";

const scope = new AbortScope();

/** The run that is the last, of one path at one event. */
function lastRun(guard: ReentryGuard, path: string, sequence: number): number {
  for (let run = 1; run <= 2 * maxRunsWithoutEvent; run++)
    if (guard.isLast(path, sequence, scope)) return run;
  return 0;
}

test("the twentieth is the last; each path has its own count, which an event begins anew", () => {
  const guard = new ReentryGuard();
  for (let run = 1; run < maxRunsWithoutEvent; run++) expect(guard.isLast("a", 7, scope)).toBe(false);
  expect(guard.stuckAt).toBeUndefined();
  expect(lastRun(guard, "b", 7)).toBe(20);
  expect(guard.stuckAt).toBe("b");
  expect(guard.isLast("a", 7, scope)).toBe(true);
  expect(lastRun(guard, "a", 8)).toBe(20);
});
