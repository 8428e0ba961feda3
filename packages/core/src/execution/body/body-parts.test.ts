// The parts of a body that others are built from: abort scopes, time limits, records and the recorder of an agent's calls.
import { describe, expect, test, vi } from "vitest";
import { bodyForTest, type GivenBody } from "../../../test/support/running-body.ts";
import { CallsWaitError } from "../../agent/durable/call-waits.ts";
import { PermanentError } from "../../errors/index.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { thenStep } from "../../workflow/steps/and-then.ts";
import { AbortScope } from "./abort-scope.ts";
import { BodyRecords } from "./body-records.ts";
import { ControlFlowSignal } from "./control-flow-signal.ts";
import { isPermanent } from "./permanent.ts";
import { runAttempt } from "./run-attempt.ts";
import { withinLimit } from "./time-limit.ts";

const cancelled = new Error("cancelled");

describe("an abort scope", () => {
  test("closes and aborts all scopes inside, also those whose signal is read later", () => {
    const outer = new AbortScope();
    const [inner, other] = [new AbortScope(outer), new AbortScope(outer)];
    const innermost = new AbortScope(inner);
    const early = innermost.signal;
    outer.close();
    expect([inner, innermost, other].map(({ closed }) => closed)).toEqual([true, true, true]);
    expect(early.aborted).toBe(false);
    outer.abort(cancelled);
    expect([outer, inner, innermost, other].map(({ signal }) => signal.reason)).toEqual(
      Array.from({ length: 4 }, () => cancelled),
    );
    expect(early.reason).toBe(cancelled);
    expect(innermost.signal).toBe(early);
    outer.abort(new Error("again"));
    expect(outer.signal.reason).toBe(cancelled);
    expect(new AbortScope(outer).closed).toBe(true);
  });

  test("that has ended, or belongs to another branch, is not aborted", () => {
    const outer = new AbortScope();
    const [ended, other, aborted] = [new AbortScope(outer), new AbortScope(outer), new AbortScope(outer)];
    ended.leave();
    aborted.abort(cancelled);
    expect([outer.signal.aborted, other.signal.aborted, aborted.signal.aborted]).toEqual([
      false,
      false,
      true,
    ]);
    outer.close();
    outer.abort(new Error("later"));
    expect([ended.closed, ended.signal.aborted, aborted.closed]).toEqual([false, false, false]);
    expect(aborted.signal.reason).toBe(cancelled);
    outer.leave();
  });
});

describe("a time limit", () => {
  function limited() {
    const clock = new TestClock({ start: 1000, skipSleeps: false });
    const outer = new AbortScope();
    const scope = new AbortScope(outer);
    const work = Promise.withResolvers<string>();
    const error = new Error("too slow");
    const results: string[] = [];
    const done = withinLimit(work.promise, { clock, timeout: 500, scope, error, late: "late" });
    void done.then((result) => results.push(result));
    return { clock, outer, scope, work, error, done, results };
  }

  test("does nothing to work that ends in time, and leaves its scope", async () => {
    const { clock, outer, scope, work, done } = limited();
    clock.advance(499);
    work.resolve("in time");
    expect(await done).toBe("in time");
    clock.advance(10_000);
    outer.close();
    expect([scope.closed, scope.signal.aborted]).toEqual([false, false]);
  });

  test("aborts work that takes longer, and waits five seconds for its end", async () => {
    const ended = limited();
    ended.clock.advance(500);
    expect([ended.scope.closed, ended.scope.signal.reason, ended.outer.closed]).toEqual([
      ...[true, ended.error, false],
    ]);
    await Promise.resolve();
    expect(ended.results).toEqual([]);
    ended.work.resolve("too late");
    expect(await ended.done).toBe("late");
    const silent = limited();
    silent.clock.advance(500);
    silent.clock.advance(4999);
    await Promise.resolve();
    expect(silent.results).toEqual([]);
    silent.clock.advance(1);
    expect(await silent.done).toBe("late");
  });
});

describe("an attempt of a step with a timeout", () => {
  const attemptOf = (execute: () => unknown, timeout?: number) => {
    const step = thenStep({ id: "one", execute, ...(timeout !== undefined && { timeout }) });
    const body = bodyForTest({ step });
    return { ...body, result: () => runAttempt(body.run) };
  };

  test("ends like its body in time, at once where the body does", async () => {
    expect(attemptOf(() => 1, 500).result()).toMatchObject({ kind: "output", value: "1" });
    expect(attemptOf(() => 1).result()).toMatchObject({ kind: "output", value: "1" });
    expect(await attemptOf(async () => 2, 500).result()).toMatchObject({ kind: "output", value: "2" });
  });

  test("has failed when the body takes longer, and may be tried again", async () => {
    const never = Promise.withResolvers<number>();
    const { result, clock, scope } = attemptOf(() => never.promise, 500);
    const late = result();
    clock.advance(500);
    never.resolve(1);
    expect(await late).toEqual({
      ...{ kind: "error", permanent: false },
      error: expect.objectContaining({
        ...{ name: "StepTimeoutError", step: "list/one" },
        message: expect.stringContaining("500 ms"),
      }),
    });
    expect(scope.closed).toBe(false);
  });

  test("keeps a checkpoint that ends after the timeout for the next one", async () => {
    const held = Promise.withResolvers<number>();
    const step = thenStep({
      ...{ id: "one", timeout: 500 },
      execute: ({ checkpoint }) => checkpoint("a", () => held.promise),
    });
    const { run, clock, journal } = bodyForTest({ step });
    const late = runAttempt(run);
    clock.advance(500);
    held.resolve(7);
    expect(await late).toMatchObject({ kind: "error" });
    expect(journal.checkpoints?.get("list/one#a")).toMatchObject({ recorded: true, output: "7" });
  });
});

describe("the records of a body", () => {
  function recordsOf(given: GivenBody = {}) {
    const body = bodyForTest(given);
    const left: unknown[] = [];
    const leave = (request: unknown): never => {
      left.push(request);
      throw new Error("left");
    };
    const records = new BodyRecords(body.run, { leave, failsWith: () => undefined });
    return { ...body, records, left };
  }
  const done = { path: "list/one#a", output: "1", startedAt: 1, attempt: 1 };

  test("are read once they are complete, and the first one wins", async () => {
    const { records, journal, run } = recordsOf();
    expect(records.read("list/one#a")).toBeUndefined();
    run.log.checkpointFailed(run.command, {
      ...{ path: "list/one#a", attempt: 1, retryAt: 5, error: { name: "Error", message: "no" } },
    });
    expect(records.read("list/one#a")).toBeUndefined();
    expect(await records.record(done, "what")).toBe(1);
    expect(await records.record({ ...done, output: "2" }, "what")).toBe(1);
    expect(records.read("list/one#a")).toMatchObject({ recorded: true, output: "1" });
    expect(journal.checkpoints?.get("list/one#a")).toMatchObject({ failures: 1 });
  });

  test("are refused when they are too long, or the branch has ended", async () => {
    const { records, scope, failures } = recordsOf();
    const long = { ...done, output: `"${"x".repeat(60)}"` };
    await expect(records.record(long, "The text")).rejects.toThrow("The text is 62 bytes");
    expect(() => records.recordLater(long, "The text")).toThrow("The text is 62 bytes");
    scope.close();
    await expect(records.record(done, "what")).rejects.toThrow("The step has ended");
    expect(() => records.recordLater(done, "what")).toThrow("The step has ended");
    const failed = { path: "list/one#a", attempt: 1, retryAt: 5, error: { name: "Error", message: "no" } };
    expect(() => records.failed(failed)).toThrow("The step has ended");
    expect(failures).toEqual([]);
  });

  test("of a body that ends during the commit are kept, but its work does not go on", async () => {
    const { records, scope, journal } = recordsOf();
    const recording = records.record(done, "what");
    scope.close();
    scope.abort(cancelled);
    await expect(recording).rejects.toBe(cancelled);
    expect(journal.checkpoints?.get("list/one#a")).toMatchObject({ recorded: true });
  });

  test("for later are committed on request", async () => {
    const { records, run } = recordsOf();
    const recorded = vi.spyOn(run.log, "checkpointDone");
    const committed = vi.spyOn(run.log, "commitCheckpoints");
    await records.recordLater(done, "what");
    expect(recorded.mock.calls).toEqual([[run.command, done, { later: true }]]);
    expect(committed).not.toHaveBeenCalled();
    records.commit();
    expect(committed).toHaveBeenCalledTimes(1);
  });

  test("may begin while the body counts and the execution runs", () => {
    expect(() => recordsOf().records.checkMayBegin()).not.toThrow();
    const paused = recordsOf({ startsWork: false });
    expect(() => paused.records.checkMayBegin()).toThrow("left");
    expect(paused.left).toEqual([{ kind: "interrupt" }]);
  });
});

describe("the recorder of an agent's calls", () => {
  const used = { inputTokens: 10, outputTokens: 5, totalTokens: 15, calls: 1 };
  const recorderOf = (given: GivenBody = {}) => {
    const body = bodyForTest(given);
    return { ...body, recorder: body.context().recorder() };
  };
  const call = { kind: "tool", toolName: "look", toolCallId: "c" } as const;

  test("has its execution, attempt and signal, and the paths of places", () => {
    const { recorder, scope, clock } = recorderOf();
    expect([recorder.executionId, recorder.attempt, recorder.now()]).toEqual(["e1", 2, clock.now()]);
    expect(recorder.signal).toBe(scope.signal);
    expect(recorder.pathOf("call[0]")).toBe("list/one#call[0]");
    expect([recorder.isEmpty, recorder.usage]).toEqual([true, undefined]);
  });

  test("reads the calls that it has recorded, and adds up their usage", async () => {
    const { recorder, context, run } = recorderOf();
    const recorded = vi.spyOn(run.log, "checkpointDone");
    await recorder.record({ place: "call[0]", call, output: "1", startedAt: 7, usage: used });
    expect(recorded.mock.calls).toEqual([
      [run.command, { path: "list/one#call[0]", attempt: 1, call, output: "1", startedAt: 7, usage: used }],
    ]);
    await recorder.record({ place: "call[1]", call, output: "2", startedAt: 8, usage: undefined });
    await recorder.record({ place: "call[2]", call, output: "3", startedAt: 9, usage: used });
    expect(recorder.read("call[0]")).toEqual({ call, output: "1", usage: used });
    expect([recorder.read("call[3]"), recorder.isEmpty]).toEqual([undefined, false]);
    expect(recorder.usage).toEqual({ inputTokens: 20, outputTokens: 10, totalTokens: 30, calls: 2 });
    // A checkpoint of a body is no call.
    await context().checkpoint("plain", () => 1);
    expect(recorder.read("plain")).toBeUndefined();
    const long = { place: "call[4]", call, output: `"${"x".repeat(60)}"`, startedAt: 1, usage: undefined };
    await expect(recorder.record(long)).rejects.toThrow("Output of list/one#call[4] is 62 bytes");
  });

  test("leaves the body with the calls that wait, the last request of each", () => {
    const { recorder } = recorderOf();
    recorder.waits.wait("call[0]", { reason: "a", data: { n: 1 }, resumeSchema: { type: "number" } });
    recorder.waits.wait("call[1]", { reason: "b", data: {}, resumeSchema: undefined, again: true });
    recorder.waits.wait("call[0]", { reason: "c", data: { n: 2 }, resumeSchema: { type: "number" } });
    const leave = (reason: unknown) => {
      try {
        return recorder.leave(reason);
      } catch (thrown) {
        return ControlFlowSignal.requestOf(thrown) ?? thrown;
      }
    };
    const never = { deadline: null, onDeadline: null };
    const first = { path: "list/one#call[0]", reason: "c", data: '{"n":2}', again: false, ...never };
    const second = { path: "list/one#call[1]", reason: "b", data: "{}", again: true, ...never };
    expect(leave(new CallsWaitError())).toEqual({
      kind: "suspend-calls",
      calls: [
        { ...first, resumeSchema: '{"type":"number"}' },
        { ...second, resumeSchema: null },
      ],
      sleeps: [],
    });
    expect(leave(cancelled)).toBe(cancelled);
    const long = { reason: "a", data: { text: "x".repeat(60) }, resumeSchema: undefined };
    expect(() => recorder.waits.wait("call[2]", long)).toThrow("list/one#call[2] is 71 bytes");
    expect(() => recorder.waits.wait("call[2]", { ...long, data: { n: 1n } })).toThrow(
      "Suspend data of list/one#call[2]",
    );
  });

  test("reads the decision for a call that was resumed", () => {
    const { recorder, journal } = recorderOf();
    expect(recorder.waits.resumedWith("call[0]")).toBeUndefined();
    journal.suspended("list/one#call[0]", 3, "s1", undefined);
    expect(recorder.waits.resumedWith("call[0]")).toBeUndefined();
    journal.resumed("list/one#call[0]", {
      ...{ type: "workflow-resumed", sequence: 4, timestamp: 1, path: null, stepIndex: 3, userId: undefined },
      ...{ suspensionId: "s1", resumeData: '{"approved":true}', byDeadline: false, expired: false },
    });
    expect(recorder.waits.resumedWith("call[0]")).toBe('{"approved":true}');
  });

  test("defers the last call with its path", () => {
    const { recorder, run } = recorderOf();
    const recorded = vi.spyOn(run.log, "checkpointDone");
    const deferral = recorder.deferring();
    deferral.defer({ place: "call[0]", call, output: "1", startedAt: 7, usage: undefined });
    expect(recorded.mock.calls[0]?.slice(1)).toEqual([
      { path: "list/one#call[0]", attempt: 1, call, output: "1", startedAt: 7, usage: undefined },
      { later: true },
    ]);
    expect(deferral.isDeferring).toBe(true);
  });
});

test("the host's permanent errors are permanent, others are not", () => {
  expect([isPermanent(new PermanentError("no")), isPermanent(new Error("no")), isPermanent("no")]).toEqual([
    ...[true, false, false],
  ]);
});
