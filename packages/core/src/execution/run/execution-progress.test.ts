// The progress of one execution, batch by batch: the events, the bodies to run, the times to wait for and the branches that lost.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { WorkflowResumedEvent } from "../../journal/events.ts";
import { Journal } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { andSleep, andThen } from "../../workflow/steps/free-steps.ts";
import type { BodyResult } from "../body/run-body.ts";
import { StateGauge, sizeLimits } from "../limits/limits.ts";
import { CommitBatch } from "./commit-batch.ts";
import { nothingKept } from "./execution-fold.ts";
import { ExecutionProgress } from "./execution-progress.ts";
import type { LoadedExecution } from "./loaded-execution.ts";

const start = createWorkflow({ id: "w", input: z.unknown() });
const step = (id: string) => ({ id, execute: () => 1 });
const body = (id: string) => andThen(step(id));
const gate = { kind: "suspend", reason: "why", data: undefined, deadline: null, onDeadline: null } as const;
const output = (value: string): BodyResult => ({ kind: "output", value });
const failure = (permanent = false): BodyResult => ({
  ...{ kind: "error", error: { name: "Error", message: "broken" }, permanent },
});
const suspends = (deadline: number | null = null): BodyResult => ({
  kind: "suspended",
  request: { ...gate, deadline, onDeadline: deadline === null ? null : '"fail"' },
});

function progressOf(workflow: WorkflowDefinition, loaded: Partial<LoadedExecution> = {}) {
  const clock = new TestClock({ start: 1000, skipSleeps: false });
  const limits = sizeLimits({});
  const execution: LoadedExecution = {
    ...{ workflow, token: "t", suspensions: [], timers: [], stepIndex: 0, paused: false, timeoutAt: null },
    ...{ startAt: 1000, journal: new Journal(), values: new KeptValues(null), input: "5", bytes: 0 },
    ...{ sequence: 1, lastAt: 1000, kept: nothingKept },
    ...loaded,
  };
  const due: number[] = [];
  const progress = new ExecutionProgress({
    ...{ execution, clock, limits, stateGauge: new StateGauge(limits) },
    limitIsDue: (at) => void due.push(at),
    onAsyncCheck: () => undefined,
  });
  const running = new Map<string, CommitBatch["starts"][number]>();
  /** What the next commit holds; it is committed by this. */
  const commit = () => {
    progress.openNext();
    const { batch } = progress;
    batch.prune();
    progress.batch = new CommitBatch();
    for (const one of batch.starts) running.set(one.command.path, one);
    const named = ({ type, path }: { type: string; path?: string | null }) => `${type} ${path}`;
    const said = {
      events: batch.events.map(named),
      following: batch.following.map(({ event }) => named(event)),
      open: batch.open.map(({ path }) => path),
      closed: [...batch.closeEnded.map((path) => `ended ${path}`), ...batch.closeBelow],
      timers: Array.from(batch.timers.values(), ({ timer }) => `${timer.path} ${timer.dueAt}`),
      clear: batch.clear,
      lost: batch.lost.map(({ reason }) => reason.message),
      starts: batch.starts.map(({ command }) => command.path),
    };
    return Object.fromEntries(Object.entries(said).filter(([, list]) => list.length > 0));
  };
  const end = (path: string, result: BodyResult) => {
    const one = running.get(path);
    if (one === undefined) throw new Error(`${path} does not run`);
    progress.consume({ ...one, result });
  };
  const resume = (path: string, changes: Partial<WorkflowResumedEvent> = {}) => {
    const suspension = progress.waits.suspensions.find((each) => each.path === path);
    progress.resume(path, {
      ...{
        type: "workflow-resumed",
        timestamp: 1,
        path,
        stepIndex: 0,
        resumeData: '"yes"',
        userId: undefined,
      },
      ...{ suspensionId: suspension?.suspensionId ?? "", byDeadline: false, expired: false },
      ...changes,
    });
  };
  progress.begin();
  return { progress, clock, due, commit, end, resume, running };
}

test("one step after the other, and the outcome is that of the last", () => {
  const { progress, commit, end } = progressOf(start.andThen(step("a")).andThen(step("b")));
  expect(commit()).toEqual({ following: ["step-start a"], starts: ["a"] });
  expect(progress.stepIndex).toBe(0);
  end("a", output("1"));
  expect(commit()).toEqual({ events: ["step-complete a"], following: ["step-start b"], starts: ["b"] });
  expect([progress.stepIndex, progress.outcome, progress.firstOpen]).toEqual([1, undefined, undefined]);
  end("b", output("2"));
  expect(commit()).toEqual({ events: ["step-complete b"] });
  expect(progress.outcome).toMatchObject({ kind: "output", value: "2" });
});

describe("branches", () => {
  test("a failure decides: the others are stopped, and their later outcomes do not count", () => {
    const { progress, commit, end } = progressOf(start.andAll({ id: "all", steps: [body("a"), body("b")] }));
    expect(commit()).toEqual({
      following: ["step-start all", "step-start all/a", "step-start all/b"],
      starts: ["all/a", "all/b"],
    });
    end("all/a", failure());
    expect(progress.batch.failed).toMatchObject([{ failure: { message: "broken" }, retried: false }]);
    expect(commit()).toEqual({
      ...{ events: ["step-error all/a"], following: ["step-error all"] },
      lost: ["Another branch has decided"],
    });
    end("all/b", output("2"));
    expect(commit()).toEqual({});
    expect(progress.outcome?.kind).toBe("error");
  });

  test("the winner of a race clears the timers of the others and closes their suspensions", () => {
    const steps = [body("a"), andSleep({ id: "nap", duration: 500 }), body("gate")];
    const { progress, commit, end, resume } = progressOf(start.andRace({ id: "race", steps }));
    expect(commit()).toMatchObject({ timers: ["race/nap 1500"], starts: ["race/a", "race/gate"] });
    end("race/gate", suspends());
    expect(commit()).toEqual({ events: ["step-suspended race/gate"], open: ["race/gate"] });
    expect(progress.firstOpen?.path).toBe("race/gate");
    expect(progress.waits).toMatchObject({ timers: [{ path: "race/nap", dueAt: 1500 }] });
    const { suspensionId = "" } = progress.firstOpen ?? {};
    end("race/a", output("1"));
    expect(commit()).toEqual({
      ...{ events: ["step-complete race/a"], following: ["step-complete race"] },
      ...{ closed: ["race"], clear: ["race/nap"] },
      lost: ["Another branch has decided", "Another branch has decided"],
    });
    expect(progress.waits).toEqual({ suspensions: [], timers: [] });
    resume("race/gate", { suspensionId });
    expect(commit()).toEqual({});
  });

  test("a thousand start with the commit of their items, the rest with the next one", () => {
    const items = () => Array.from({ length: 1100 }, (_, index) => index);
    const each = start.andForEach({ id: "each", items, concurrency: 2000, step: body("one") });
    const { progress, commit, end } = progressOf(each);
    expect(commit().starts).toEqual(["each#items"]);
    end("each#items", output(JSON.stringify(items())));
    const counts = [];
    do counts.push(commit().starts?.length ?? 0);
    while (progress.isHeld && counts.length < 10);
    expect(counts).toEqual([1000, 100]);
    end("each[7]/one", failure());
    expect(commit()).toMatchObject({ events: ["step-error each[7]/one"], following: ["step-error each"] });
  });
});

describe("attempts", () => {
  const retry = { attempts: 2, delay: 300, jitter: false };

  test("another one follows after its delay, and the last failure is the outcome", () => {
    const { progress, commit, end, clock } = progressOf(start.andThen({ ...step("a"), retry }));
    commit();
    end("a", failure());
    expect(progress.batch.failed).toMatchObject([{ retried: true }]);
    expect(commit()).toEqual({ events: ["step-retry a"], timers: ["a 1300"] });
    expect(progress.wakeUp(false)).toBe(1300);
    clock.advance(300);
    expect(progress.nextWake).toBe(1300);
    expect(progress.wakeUp(false)).toBeUndefined();
    expect(commit()).toEqual({ clear: ["a"], starts: ["a"] });
    end("a", failure());
    expect(commit()).toEqual({ events: ["step-error a"] });
    expect(progress.outcome?.kind).toBe("error");
  });

  test("a permanent failure has none", () => {
    const { commit, end } = progressOf(start.andThen({ ...step("a"), retry }));
    commit();
    end("a", failure(true));
    expect(commit()).toEqual({ events: ["step-error a"] });
  });

  test("a body that was interrupted, or waits for a checkpoint, runs again", () => {
    const { commit, end, clock, progress } = progressOf(start.andThen(step("a")));
    commit();
    end("a", { kind: "interrupted" });
    expect(commit()).toEqual({ starts: ["a"] });
    end("a", { kind: "waiting", until: 2000 });
    expect(commit()).toEqual({ timers: ["a 2000"] });
    clock.advance(999);
    expect(progress.wakeUp(false)).toBe(2000);
    clock.advance(1);
    progress.wakeUp(false);
    expect(commit()).toEqual({ clear: ["a"], starts: ["a"] });
  });
});

describe("waits", () => {
  test("a step runs again with the data of its own suspension only", () => {
    const { commit, end, resume, progress, running } = progressOf(start.andThen(step("gate")));
    commit();
    end("gate", suspends());
    commit();
    resume("gate", { suspensionId: "another" });
    expect(commit()).toEqual({});
    resume("gate");
    expect(commit()).toEqual({ starts: ["gate"] });
    expect(running.get("gate")?.command.resumeData).toBe('"yes"');
    expect(progress.firstOpen).toBeUndefined();
    // It may suspend again.
    end("gate", suspends());
    expect(commit()).toEqual({ events: ["step-suspended gate"], open: ["gate"] });
    resume("gate");
    commit();
    end("gate", output("1"));
    expect(commit()).toEqual({ events: ["step-complete gate"] });
  });

  const call = (number: number, again = false) => ({
    ...{ path: `ask#call[0].tool[${number}]`, reason: "may it?", data: "{}", resumeSchema: null, again },
  });
  const waiting = (...calls: ReturnType<typeof call>[]): BodyResult => ({ kind: "calls-suspended", calls });

  test("calls of an agent wait side by side; those that wait already keep their suspensions", () => {
    const { commit, end, resume, progress } = progressOf(start.andThen(step("ask")));
    commit();
    end("ask", waiting(call(0), call(1)));
    const [first, second] = [call(0).path, call(1).path];
    expect(commit()).toEqual({
      events: [`step-suspended ${first}`, `step-suspended ${second}`],
      open: [first, second],
    });
    const kept = progress.waits.suspensions.find(({ path }) => path === second);
    resume(first);
    expect(commit()).toEqual({ starts: ["ask"] });
    // Resumed again while the body runs, it would run twice at once.
    end("ask", waiting(call(1)));
    expect(commit()).toEqual({});
    expect(progress.waits.suspensions).toEqual([kept]);
    resume(second);
    expect(commit()).toEqual({ starts: ["ask"] });
    // The decision did not suffice.
    end("ask", waiting(call(1, true)));
    expect(commit()).toEqual({ events: [`step-suspended ${second}`], open: [second] });
    expect(progress.waits.suspensions[0]?.suspensionId).not.toBe(kept?.suspensionId);
    // One that waits again and was not resumed since keeps its suspension.
    resume(second);
    commit();
    end("ask", waiting(call(1), call(2)));
    expect(commit()).toMatchObject({ open: [call(2).path], starts: ["ask"] });
    end("ask", output("1"));
    expect(commit()).toMatchObject({ events: ["step-complete ask"], closed: ["ended ask"] });
  });

  test("sleeps end in the order of their times, and a limit between them comes first", () => {
    const nap = (id: string, duration: number) => andSleep({ id, duration });
    const steps = [nap("long", 900), nap("short", 300), body("gate")];
    const { commit, end, clock, due, progress } = progressOf(start.andAll({ id: "all", steps }));
    commit();
    end("all/gate", suspends(1500));
    commit();
    expect(progress.nextWake).toBe(1300);
    clock.advance(2000);
    expect(progress.wakeUp(false)).toBeUndefined();
    expect(due).toEqual([1500]);
    expect(commit()).toEqual({ following: ["step-complete all/short"], clear: ["all/short"] });
    expect(progress.pacing.isCatchingUp).toBe(true);
  });

  test("the timeout of the execution is such a limit, and one at the same time as a sleep is not", () => {
    for (const [timeoutAt, expected] of [
      [1299, [1299]],
      [1300, []],
      [null, []],
    ] as const) {
      const { clock, due, progress, commit } = progressOf(start.andSleep({ id: "nap", duration: 300 }), {
        timeoutAt,
      });
      commit();
      clock.advance(300);
      progress.wakeUp(false);
      expect(due).toEqual(expected);
      expect(commit()).toEqual(
        expected.length > 0 ? {} : { following: ["step-complete nap"], clear: ["nap"] },
      );
    }
  });

  test("while work that follows from a late sleep is under way, the next one keeps its distance", () => {
    const steps = [andSleep({ id: "one", duration: 100 }), andSleep({ id: "two", duration: 400 })];
    const { commit, clock, progress } = progressOf(start.andAll({ id: "all", steps }));
    commit();
    clock.advance(100);
    progress.wakeUp(false);
    expect(commit()).toMatchObject({ following: ["step-complete all/one"] });
    const late = progressOf(start.andAll({ id: "all", steps }));
    late.commit();
    late.clock.advance(1000);
    expect(late.progress.wakeUp(true)).toBe(2300);
    expect(late.commit()).toMatchObject({ following: ["step-complete all/one"] });
    expect(late.progress.wakeUp(true)).toBe(2300);
    expect(late.commit()).toEqual({});
    expect(late.progress.wakeUp(false)).toBeUndefined();
    expect(late.commit()).toMatchObject({ following: ["step-complete all/two", "step-complete all"] });
  });
});

test("the first events of a new execution are taken for its creation", () => {
  const { progress, commit } = progressOf(start.andThen(step("a")));
  expect(progress.takeFirstEvents(2).map(({ type }) => type)).toEqual(["step-start"]);
  expect(commit()).toEqual({ starts: ["a"] });
});

test("a body's own events are recorded with its path", () => {
  const { progress, commit, running } = progressOf(start.andThen(step("a")));
  commit();
  const { command } = running.get("a") ?? {};
  if (command === undefined) throw new Error("a does not run");
  progress.emit(command, "said", '"hello"');
  expect(progress.batch.events).toMatchObject([
    { type: "emitted", path: "a", name: "said", data: '"hello"', attempt: 1, timestamp: 1000 },
  ]);
});
