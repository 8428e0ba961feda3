// The commit of a batch: its events in time, its end or idleness, and the events that were recorded of it.
import { describe, expect, test } from "vitest";
import type { NewEvent, StepUsage } from "../../journal/events.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { Suspension } from "../../store/store.ts";
import { AbortScope } from "../body/abort-scope.ts";
import {
  buildCommit,
  buildEnding,
  buildOutcomes,
  type CommitTarget,
  recordedBy,
  usageOf,
} from "./build-commit.ts";
import { CommitBatch, type FollowingEvent } from "./commit-batch.ts";
import { endingOf } from "./settlement.ts";

const target = (changes: Partial<CommitTarget> = {}): CommitTarget => ({
  ...{ executionId: "e", token: "t", number: 3, stepIndex: 2, after: 7, lastAt: 100 },
  values: new KeptValues(null),
  spender: { userId: "ann", workflowId: "publish" },
  ...changes,
});
const identity = { executionId: "e", token: "t", number: 3, stepIndex: 2, after: 7 };
const address = { path: "a", stepIndex: 2, stepType: "andThen" };
const started = (timestamp: number): FollowingEvent => ({
  ...{ type: "step-start", timestamp, ...address },
  input: undefined,
});
const completed = (timestamp: number, output = "1"): FollowingEvent => ({
  ...{ type: "step-complete", timestamp, ...address },
  ...{ output, usage: undefined },
});
const suspension: Suspension = {
  ...{ suspensionId: "s", path: "a", stepIndex: 2, reason: "why", data: null },
  ...{ suspendedAt: 90, deadline: null, onDeadline: null },
};

const error = { name: "E", message: "m" };
const suspendedFields = {
  suspensionId: "s",
  reason: "",
  suspendedAt: 1,
  deadline: undefined,
  data: undefined,
};
const checkpointOf = (usage: StepUsage | undefined): NewEvent => ({
  ...{ type: "checkpoint-complete", timestamp: 1, ...address, output: "1", startedAt: 1, attempt: 1 },
  ...{ call: undefined, usage },
});

function batchOf(events: readonly NewEvent[], following: readonly FollowingEvent[] = []): CommitBatch {
  const batch = new CommitBatch();
  batch.events.push(...events);
  batch.following.push(...following.map((event) => ({ event, scope: new AbortScope() })));
  return batch;
}

describe("a whole batch", () => {
  test("an empty one changes nothing", () => {
    const { commit, ending, idleEvent } = buildCommit(target(), new CommitBatch(), {});
    // Strictly: there is no field for others, facts or usage.
    expect(commit).toStrictEqual({
      ...identity,
      ...{ progress: false, usage: null, events: [], open: [], closeEnded: [], following: [] },
      ...{ closeBelow: [], timers: [], clear: [], end: null, idle: null },
    });
    expect([ending, idleEvent]).toEqual([undefined, undefined]);
  });

  test("no event is earlier than the one before it", () => {
    const batch = batchOf([completed(50), completed(120)], [started(110)]);
    const { events, following, commit } = buildCommit(target(), batch, {});
    expect([events, following].map((each) => each.map(({ timestamp }) => timestamp))).toEqual([
      [100, 120],
      [120],
    ]);
    expect(commit.events).toMatchObject([{ timestamp: 100 }, { timestamp: 120 }]);
    const idle = { resumes: 0, suspension };
    expect(buildCommit(target(), batch, { idle }).idleEvent).toMatchObject({ timestamp: 120 });
    expect(buildCommit(target({ lastAt: 90 }), new CommitBatch(), { idle }).idleEvent).toMatchObject({
      ...{ type: "workflow-suspended", timestamp: 90, path: "a", stepIndex: 2 },
    });
  });

  test.each<[boolean, NewEvent[], FollowingEvent[]]>([
    [false, [started(1)], [started(2)]],
    [true, [completed(1)], []],
    [true, [], [completed(1)]],
    [false, [{ type: "state-changed", timestamp: 1, ...address, patch: "{}" }], []],
    [false, [{ type: "emitted", timestamp: 1, ...address, name: "n", attempt: 1, data: undefined }], []],
    [true, [{ type: "step-skipped", timestamp: 1, ...address }], []],
    [true, [{ type: "step-bailed", timestamp: 1, ...address, result: undefined }], []],
    [true, [{ type: "step-evaluated", timestamp: 1, ...address, output: "true" }], []],
    [true, [{ type: "step-error", timestamp: 1, ...address, error }], []],
    [true, [{ type: "step-retry", timestamp: 1, ...address, error, attempt: 1, retryAt: 2 }], []],
    [true, [{ type: "step-suspended", timestamp: 1, ...address, ...suspendedFields }], []],
    [true, [checkpointOf(undefined)], []],
    [
      true,
      [
        {
          ...{ type: "checkpoint-retry", timestamp: 1, ...address, error, attempt: 1, stepAttempt: 1 },
          retryAt: 2,
        },
      ],
      [],
    ],
  ])("is progress: %s", (progress, events, following) => {
    expect(buildCommit(target(), batchOf(events, following), {}).commit.progress).toBe(progress);
    if (following.length === 0)
      expect(buildOutcomes(target(), batchOf(events)).commit.progress).toBe(progress);
  });

  test("timers, closed suspensions and the event of another writer are named", () => {
    const batch = new CommitBatch();
    batch.setTimer({ path: "nap", dueAt: 5 }, new AbortScope());
    batch.clear.push("old");
    batch.closeBelow.push("all");
    batch.open.push(suspension);
    const others = { sequence: 6, at: 80 };
    expect(buildCommit(target({ others }), batch, {}).commit).toMatchObject({
      ...{ timers: [{ path: "nap", dueAt: 5 }], clear: ["old"], closeBelow: ["all"], open: [suspension] },
      others,
    });
    expect(buildCommit(target(), batch, {}).commit).not.toHaveProperty("others");
  });

  test("a long result is written once, with the event that has it", () => {
    const [short, long] = ["1", JSON.stringify("x".repeat(300))];
    for (const value of [short, long]) {
      const ending = endingOf({ kind: "output", value }, 130);
      const { commit } = buildCommit(target(), batchOf([completed(120, value)]), { ending });
      expect(commit.end).toEqual({
        ...{ status: "completed", error: null },
        result: value === long ? { sameAs: -1 } : value,
      });
      expect(commit.following).toMatchObject([
        { type: "workflow-complete", value: value === long ? { sameAs: -1 } : value },
      ]);
    }
  });
});

test("only the outcomes of a batch: its consequences are left out", () => {
  const batch = batchOf([completed(120)], [started(130)]);
  batch.clear.push("old");
  batch.open.push(suspension);
  const { commit, following } = buildOutcomes(target(), batch, { resumes: 4, suspension });
  expect(commit).toMatchObject({
    ...{ ...identity, progress: true, following: [], clear: [], timers: [], end: null, open: [suspension] },
    ...{ events: [{ type: "step-complete" }], idle: { resumes: 4, event: { timestamp: 120 } } },
  });
  expect(following).toEqual([]);
  expect(buildOutcomes(target(), batch).commit.idle).toBeNull();
  expect(buildOutcomes(target(), batch, { resumes: 4, suspension: undefined }).commit.idle).toEqual({
    ...{ resumes: 4, event: null },
  });
});

test("an end and nothing else names the timers that go", () => {
  const ending = endingOf({ kind: "error", error: { name: "E", message: "m" } }, 50);
  const { commit, following } = buildEnding(target({ others: { sequence: 6, at: 80 } }), ending, ["nap"]);
  expect(commit).toEqual({
    ...identity,
    ...{ progress: false, usage: null, events: [], open: [], closeBelow: [], timers: [], clear: ["nap"] },
    ...{ idle: null, end: { status: "error", result: null, error: '{"name":"E","message":"m"}' } },
    ...{ others: { sequence: 6, at: 80 }, following: [expect.objectContaining({ type: "workflow-error" })] },
  });
  expect(following).toMatchObject([{ timestamp: 100 }]);
  expect(buildEnding(target(), ending).commit.clear).toEqual([]);
});

describe("the recorded events", () => {
  const built = () =>
    buildCommit(target(), batchOf([completed(120)], [started(130)]), { idle: { resumes: 0, suspension } });
  const recorded = (kind: "ok" | "superseded", idle: boolean, sequence: number) => {
    const { events, stored } = recordedBy(built(), { kind, sequence, idle } as never);
    return [events.map((event) => `${event.sequence} ${event.type}`), stored.map(({ type }) => type)];
  };

  test("are all of them where the commit was accepted", () => {
    const types = ["step-complete", "step-start", "workflow-suspended"];
    expect(recorded("ok", true, 10)).toEqual([
      ["8 step-complete", "9 step-start", "10 workflow-suspended"],
      types,
    ]);
    expect(recorded("ok", false, 9)).toEqual([["8 step-complete", "9 step-start"], types.slice(0, 2)]);
  });

  test("are the outcomes alone where others were first", () => {
    expect(recorded("superseded", false, 8)).toEqual([["8 step-complete"], ["step-complete"]]);
  });
});

test("usage is counted by the calls, and by steps only where that is asked for", () => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
  const call: NewEvent = {
    ...{ type: "checkpoint-complete", timestamp: 1, ...address, output: "1", startedAt: 1, attempt: 1 },
    ...{ call: undefined, usage },
  };
  const step: NewEvent = { type: "step-complete", timestamp: 1, ...address, output: "1", usage };
  expect(usageOf([call, step, completed(1), call])).toMatchObject({ totalTokens: 6, calls: 2 });
  expect(usageOf([call, step, completed(1), call], "step-complete")).toMatchObject({
    totalTokens: 3,
    calls: 1,
  });
  expect(usageOf([step])).toBeNull();
});

test("a call without usage adds no field for it to either kind of commit", () => {
  const batch = batchOf([checkpointOf(undefined)]);
  for (const { commit } of [buildCommit(target(), batch, {}), buildOutcomes(target(), batch)]) {
    expect(commit).toMatchObject({ progress: true, usage: null });
    expect(commit).not.toHaveProperty("spent");
  }
});

test("usage and the steps that ended with a call waiting below them are in both kinds of commits", () => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
  const batch = batchOf([checkpointOf(usage)]);
  batch.closeEnded.push("a");
  const expected = { closeEnded: ["a"], usage: expect.objectContaining({ totalTokens: 3 }) };
  expect(buildCommit(target(), batch, {}).commit).toMatchObject(expected);
  expect(buildOutcomes(target(), batch).commit).toMatchObject(expected);
});

test("the event of idleness is at the time of its suspension, or of the last event when that is later", () => {
  const idle = { resumes: 0, suspension };
  for (const [lastAt, timestamp] of [
    [89, 90],
    [90, 90],
    [91, 91],
  ] as const) {
    expect(buildCommit(target({ lastAt }), new CommitBatch(), { idle }).idleEvent).toMatchObject({
      timestamp,
    });
    expect(buildOutcomes(target({ lastAt }), new CommitBatch(), idle).idleEvent).toMatchObject({ timestamp });
  }
});

test("a long result of an end and nothing else is written once", () => {
  const value = JSON.stringify("x".repeat(300));
  const { commit } = buildEnding(target(), endingOf({ kind: "output", value }, 130));
  expect(commit).toMatchObject({ end: { result: { sameAs: -1 } }, following: [{ value }] });
});

test("an idle request without an event adds none", () => {
  const built = buildCommit(target(), batchOf([completed(120)]), {
    idle: { resumes: 2, suspension: undefined },
  });
  expect(built.commit.idle).toEqual({ resumes: 2, event: null });
  const { events, stored } = recordedBy(built, { kind: "ok", sequence: 8, idle: true });
  expect([events.map(({ sequence }) => sequence), stored.length]).toEqual([[8], 1]);
});

test("how an execution ends with an outcome: its event, its columns and the settlement", () => {
  expect(endingOf({ kind: "output", value: "5" }, 7)).toEqual({
    event: { type: "workflow-complete", timestamp: 7, result: "5" },
    end: { status: "completed", result: "5", error: null },
    settlement: { kind: "ended", status: "completed", endAt: 7, result: "5", error: undefined },
  });
  expect(endingOf({ kind: "skipped" }, 7)).toEqual({
    event: { type: "workflow-complete", timestamp: 7, result: undefined },
    end: { status: "completed", result: null, error: null },
    settlement: { kind: "ended", status: "completed", endAt: 7, result: undefined, error: undefined },
  });
  expect(endingOf({ kind: "error", error }, 7)).toEqual({
    event: { type: "workflow-error", timestamp: 7, error },
    end: { status: "error", result: null, error: '{"name":"E","message":"m"}' },
    settlement: { kind: "ended", status: "error", endAt: 7, result: undefined, error },
  });
});
