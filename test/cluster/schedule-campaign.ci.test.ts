// A short campaign of schedules: npm run chaos:cluster -- --schedules has the long one.
import { expect, test } from "vitest";
import { check, runScheduleCampaign } from "./schedule-campaign.ts";

test("each second of each schedule has one execution, while nodes are killed", {
  timeout: 240_000,
}, async () => {
  const result = await runScheduleCampaign({ schedules: 20, lasts: 24_000, killEvery: 6000, lease: 2000 });
  expect(result.problems).toEqual([]);
  expect(result.kills).toBe(3);
  expect(result.executions).toBeGreaterThanOrEqual(20 * 20);
});

test("a campaign whose nodes lose executions finds them", { timeout: 240_000 }, async () => {
  const result = await runScheduleCampaign({
    ...{ schedules: 20, lasts: 12_000, killEvery: 6000, lease: 2000, loses: true },
  });
  expect(result.problems.length).toBeGreaterThan(0);
  expect(result.problems.every((problem) => problem.includes("has no execution for"))).toBe(true);
});

test("the check finds a time without an execution, one with two, and one that has not ended", () => {
  const fired = [0, 1000, 1000, 3000].map((at) => ({
    ...{ scheduleId: "a", at, startAt: at + 5, status: at === 3000 ? "running" : "completed" },
  }));
  expect(check(fired, { from: 0, until: 3000, schedules: 1 }).problems).toEqual([
    "a has no execution for 1970-01-01T00:00:02.000Z",
    "a has 1 executions too many",
    "a at 1970-01-01T00:00:03.000Z is running",
  ]);
  const late = check(fired, { from: -500, until: 3000, schedules: 2 }).problems;
  expect(late).toContain("1 of 2 schedules have fired");
  const early = check(fired.slice(1), { from: -500, until: 3000, schedules: 1 }).problems;
  expect(early).toContain("a has no execution for 1970-01-01T00:00:00.000Z");
});
