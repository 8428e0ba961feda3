import { expect, test } from "vitest";
import type { JournalEvent } from "../../journal/events.ts";
import { bucketOf, noDuration } from "./duration-buckets.ts";
import { type CountedExecution, RollupTally } from "./rollup-tally.ts";

const execution = (): CountedExecution => ({ workflowId: "publish", startAt: 60_000 });
const at = (timestamp: number) => ({ sequence: 1, timestamp });
const step = (path: string, timestamp: number) => ({
  ...at(timestamp),
  path,
  stepIndex: 0,
  stepType: "step",
});
const failure = { name: "Error", message: "no" };
const start = (path: string, timestamp: number): JournalEvent => ({
  ...step(path, timestamp),
  type: "step-start",
  input: undefined,
});
const complete = (path: string, timestamp: number): JournalEvent => ({
  ...step(path, timestamp),
  type: "step-complete",
  output: undefined,
  usage: undefined,
});

test("the tokens of a step's agents are added up; a step without any has no row for them", () => {
  const tally = new RollupTally();
  const usage = { inputTokens: 30, outputTokens: 12, totalTokens: 42, calls: 1 };
  const asked = { ...step("ask", 60_000), type: "step-complete", output: undefined, usage } as const;
  tally.receive(execution(), [asked, { ...asked, path: "each[1]/ask" }, asked, complete("send", 60_000)]);
  const tokens = tally.take().filter(({ kind }) => kind === "tokens");
  expect(tokens.map(({ step, count }) => [step, count])).toEqual([
    ["ask", 84],
    ["each/ask", 42],
  ]);
});

test("answers are counted with the time that their questions waited", () => {
  const tally = new RollupTally();
  for (const waited of [90_000, 90_000, 5]) tally.answered("publish", 60_000, waited);
  const place = { minute: 1, workflowId: "publish", step: "", kind: "answered" };
  expect(tally.take()).toEqual([
    { ...place, bucket: bucketOf(90_000), count: 2 },
    { ...place, bucket: bucketOf(5), count: 1 },
  ]);
});

test("executions and steps are counted by minute, with how long they took", () => {
  const tally = new RollupTally();
  const one = execution();
  tally.receive(one, [
    { ...at(60_000), type: "workflow-start", input: undefined, traceparent: undefined, replayOf: undefined },
    start("write", 60_000),
  ]);
  tally.receive(one, [complete("write", 60_250), start("send", 60_250)]);
  tally.receive(one, [
    { ...step("send", 60_300), type: "step-retry", error: failure, attempt: 1, retryAt: 60_400 },
    { ...step("send", 120_000), type: "step-error", error: failure },
    { ...at(120_000), type: "workflow-error", error: failure },
  ]);
  const place = { workflowId: "publish", count: 1, bucket: noDuration };
  expect(tally.take()).toEqual([
    { ...place, minute: 1, step: "", kind: "started" },
    { ...place, minute: 1, step: "write", kind: "completed", bucket: bucketOf(250) },
    { ...place, minute: 1, step: "send", kind: "retried" },
    { ...place, minute: 2, step: "send", kind: "failed" },
    { ...place, minute: 2, step: "", kind: "failed" },
  ]);
  expect(tally.isEmpty).toBe(true);
  expect(one.stepStarts?.size).toBe(0);
});

test("the rounds of a loop are one step", () => {
  const tally = new RollupTally();
  const one = execution();
  for (const round of [0, 1, 2]) {
    tally.receive(one, [start(`each[${round}]/resize`, 0)]);
    tally.receive(one, [complete(`each[${round}]/resize`, 10)]);
  }
  expect(tally.take()).toMatchObject([{ step: "each/resize", count: 3, bucket: bucketOf(10) }]);
});

test("the time of a person is not counted as the duration of a step, nor of its containers", () => {
  const tally = new RollupTally();
  const one = execution();
  tally.receive(one, [start("both", 0), start("both/approve", 0), start("both/check", 0)]);
  const wait = { reason: "", suspensionId: "s", suspendedAt: 5, deadline: undefined, data: undefined };
  tally.receive(one, [{ ...step("both/approve", 5), ...wait, type: "step-suspended" }]);
  tally.receive(one, [complete("both/check", 20), complete("both/approve", 9_000), complete("both", 9_000)]);
  const buckets = tally.take().map(({ step: path, bucket }) => [path, bucket]);
  expect(buckets).toEqual([
    ["both/check", bucketOf(20)],
    ["both/approve", noDuration],
    ["both", noDuration],
  ]);
});

test("memory is bounded: counts that find no room are dropped, and their number is known", () => {
  const tally = new RollupTally();
  const one = execution();
  for (let minute = 0; minute < 20_500; minute += 1) tally.receive(one, [complete("write", minute * 60_000)]);
  expect(tally.lost).toBe(500);
  expect(tally.take()).toHaveLength(20_000);
});
