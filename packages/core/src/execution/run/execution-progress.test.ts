// The progress of one execution, batch by batch: the events, the bodies to run, the times to wait for and the branches that lost.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { WorkflowResumedEvent } from "../../journal/events.ts";
import { Journal } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { Outcome } from "../../journal/outcome.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { WorkflowState } from "../../workflow/step-context.ts";
import { andSleep, andThen } from "../../workflow/steps/free-steps.ts";
import type { BodyResult } from "../body/run-body.ts";
import { StateChanges } from "../body/state-changes.ts";
import { type AndanteLimits, StateGauge, sizeLimits } from "../limits/limits.ts";
import { CommitBatch } from "./commit-batch.ts";
import { nothingKept } from "./execution-fold.ts";
import { ExecutionProgress } from "./execution-progress.ts";
import type { Fiber } from "./fibers.ts";
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

function progressOf(
  workflow: WorkflowDefinition,
  loaded: Partial<LoadedExecution> = {},
  given: AndanteLimits = {},
) {
  const clock = new TestClock({ start: 1000, skipSleeps: false });
  const limits = sizeLimits(given);
  const execution: LoadedExecution = {
    ...{ workflow, token: "t", suspensions: [], timers: [], stepIndex: 0, paused: false, timeoutAt: null },
    ...{ startAt: 1000, journal: new Journal(), values: new KeptValues(null), input: "5", bytes: 0 },
    ...{ sequence: 1, lastAt: 1000, kept: nothingKept },
    ...loaded,
  };
  const due: number[] = [];
  const checks: { readonly fiber: Fiber; readonly outcome: Promise<Outcome> }[] = [];
  const progress = new ExecutionProgress({
    ...{ execution, clock, limits, stateGauge: new StateGauge(limits) },
    limitIsDue: (at) => void due.push(at),
    onAsyncCheck: (fiber, outcome) => void checks.push({ fiber, outcome }),
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
  return { progress, clock, due, commit, end, resume, running, checks };
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
    ...{ deadline: null, onDeadline: null },
  });
  const waiting = (...calls: ReturnType<typeof call>[]): BodyResult => ({
    kind: "calls-suspended",
    calls,
    sleeps: [],
  });

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

  test("a call that does not wait any more loses its suspension, and has another one when it waits again", () => {
    const { commit, end, resume, progress } = progressOf(start.andThen(step("ask")));
    commit();
    end("ask", waiting(call(0), call(1), call(2)));
    commit();
    resume(call(0).path);
    commit();
    end("ask", waiting(call(2)));
    expect(commit()).toEqual({ closed: [`ended ${call(1).path}`] });
    expect(progress.waits.suspensions.map(({ path }) => path)).toEqual([call(2).path]);
    resume(call(2).path);
    commit();
    end("ask", waiting(call(1)));
    expect(commit()).toEqual({ events: [`step-suspended ${call(1).path}`], open: [call(1).path] });
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

describe("state", () => {
  const changing = (patch: WorkflowState, journal = new Journal()): BodyResult => {
    const changes = new StateChanges(journal, "a");
    changes.add(patch);
    return { kind: "output", value: "1", changes };
  };

  test("is recorded before the outcome, and is in the journal", () => {
    const { progress, commit, end } = progressOf(start.andThen(step("a")));
    commit();
    end("a", changing({ count: 1 }));
    expect(progress.batch.events).toEqual([
      {
        ...{ type: "state-changed", timestamp: 1000, path: "a", stepIndex: 0, stepType: "andThen" },
        patch: '{"count":1}',
      },
      {
        ...{ type: "step-complete", timestamp: 1000, path: "a", stepIndex: 0, stepType: "andThen" },
        ...{ output: "1", usage: undefined },
      },
    ]);
    expect(progress.outcome).toEqual({ kind: "output", value: "1" });
  });

  test("that is too large fails the step for good, and is not kept", () => {
    const retry = { attempts: 3, delay: 0, jitter: false };
    const { progress, commit, end } = progressOf(start.andThen({ ...step("a"), retry }), {}, { state: 20 });
    commit();
    end("a", changing({ text: "x".repeat(30) }));
    expect(progress.batch.failed).toMatchObject([{ retried: false, failure: { name: "OutputLimitError" } }]);
    expect(commit()).toEqual({ events: ["step-error a"] });
    expect(progress.outcome).toMatchObject({ kind: "error", error: { step: "a" } });
  });
});

describe("checks", () => {
  const checked = (result: z.ZodType) =>
    createWorkflow({ id: "w", input: z.unknown(), result }).andThen(step("a"));

  test("are made at once: the value as the schema returns it, or a failure that names it", () => {
    const good = progressOf(checked(z.number().transform((value) => value + 1)));
    good.commit();
    good.end("a", output("1"));
    expect(good.progress.outcome).toEqual({ kind: "output", value: "2" });
    const bad = progressOf(checked(z.string()));
    bad.commit();
    bad.end("a", output("1"));
    expect(bad.progress.outcome).toMatchObject({
      kind: "error",
      error: { name: "StepSchemaError", message: expect.stringContaining("result"), step: "workflow w" },
    });
    expect(good.checks).toEqual([]);
  });

  test("that are asynchronous are waited for", async () => {
    const schema = z.number().refine(async (value) => value === 1, "not one");
    for (const [value, expected] of [
      ["1", { kind: "output", value: "1" }],
      ["2", { kind: "error", error: { message: expect.stringContaining("not one") } }],
    ] as const) {
      const { progress, commit, end, checks } = progressOf(checked(schema));
      commit();
      end("a", output(value));
      expect([progress.outcome, checks.length]).toEqual([undefined, 1]);
      const [check] = checks;
      if (check === undefined) throw new Error("nothing is checked");
      progress.consume({ fiber: check.fiber, command: undefined, result: await check.outcome });
      expect(progress.outcome).toMatchObject(expected);
    }
    const throwing = z.unknown().transform(() => {
      throw new Error("broken schema");
    });
    const { commit, end, checks } = progressOf(checked(throwing));
    commit();
    end("a", output("1"));
    expect(await checks[0]?.outcome).toMatchObject({ kind: "error", error: { message: "broken schema" } });
  });
});

test("a tap passes its data on; its own failure is recorded", () => {
  const { progress, commit, end } = progressOf(start.andTap(step("look")).andTap(step("fail")));
  commit();
  end("look", output("9"));
  expect(progress.batch.events).toMatchObject([{ type: "step-complete", path: "look", output: "5" }]);
  commit();
  end("fail", failure());
  expect(progress.batch.events).toMatchObject([{ type: "step-error", path: "fail" }]);
  expect(progress.outcome).toEqual({ kind: "output", value: "5" });
});

test("an output of a container that is too large fails it", () => {
  const workflow = start.andAll({ id: "all", steps: [body("a")] });
  const { progress, commit, end } = progressOf(workflow, {}, { containerOutput: 10 });
  commit();
  end("all/a", output(JSON.stringify("x".repeat(20))));
  expect(commit()).toEqual({ events: ["step-complete all/a"], following: ["step-error all"] });
  expect(progress.outcome).toMatchObject({ kind: "error", error: { step: "all" } });
});

test("the time that a child workflow had is cleared when it has ended", () => {
  const child = createWorkflow({ id: "child", input: z.unknown(), timeout: 400 }).andThen(step("a"));
  const { progress, commit, end, clock } = progressOf(start.andWorkflow({ id: "sub", workflow: child }));
  expect(commit()).toMatchObject({ timers: ["sub 1400"], starts: ["sub/a"] });
  end("sub/a", output("1"));
  expect(commit()).toMatchObject({ following: ["step-complete sub"], clear: ["sub"] });
  expect(progress.nextWake).toBeUndefined();
  const late = progressOf(start.andWorkflow({ id: "sub", workflow: child }));
  late.commit();
  late.clock.advance(400);
  late.progress.wakeUp(false);
  expect(late.commit()).toMatchObject({ following: ["step-error sub"], clear: ["sub"] });
  clock.advance(1000);
  expect(progress.wakeUp(false)).toBeUndefined();
});

test("a suspension by a deadline counts for the times that follow, and results of branches that lost do not", () => {
  const { progress, commit, end, resume, clock } = progressOf(start.andThen(step("gate")));
  commit();
  end("gate", suspends(1200));
  commit();
  clock.advance(1000);
  expect(progress.pacing.isCatchingUp).toBe(false);
  resume("gate", { byDeadline: true, expired: true });
  expect(progress.pacing.isCatchingUp).toBe(true);
  expect(progress.outcome).toMatchObject({ kind: "error", error: { name: "DeadlineError" } });
  const caller = progressOf(start.andThen(step("gate")));
  caller.commit();
  caller.end("gate", suspends(1200));
  caller.commit();
  caller.clock.advance(1000);
  caller.resume("gate");
  expect(caller.progress.pacing.isCatchingUp).toBe(false);
  // Brought here by a deadline that had passed.
  expect(progressOf(start.andThen(step("a")), { dueAt: 900 }).progress.pacing.isCatchingUp).toBe(true);
  expect(progressOf(start.andThen(step("a")), { dueAt: 1000 }).progress.pacing.isCatchingUp).toBe(false);
});

test("no more than a slice of sleeps end between two commits", () => {
  const items = () => Array.from({ length: 501 }, (_, index) => index);
  const each = start.andForEach({
    id: "each",
    items,
    concurrency: 2000,
    step: (chain) => chain.andSleep({ id: "nap", duration: 100 }),
  });
  const { progress, commit, end, clock } = progressOf(each);
  commit();
  end("each#items", output(JSON.stringify(items())));
  for (let count = 0; count < 5 && (count === 0 || progress.isHeld); count++) commit();
  clock.advance(100);
  expect(progress.wakeUp(false)).toBe(1100);
  expect(commit().following).toHaveLength(500);
  expect(progress.wakeUp(false)).toBeUndefined();
  expect(commit().following).toEqual(["step-complete each[500]/nap", "step-complete each"]);
});

test("the delay before another attempt, and its number, are recorded", () => {
  const retry = { attempts: 3, delay: 300, jitter: false };
  const { progress, commit, end, clock, running } = progressOf(start.andThen({ ...step("a"), retry }));
  commit();
  end("a", failure());
  expect(progress.batch.events).toMatchObject([
    { type: "step-retry", path: "a", attempt: 1, retryAt: 1300, error: { message: "broken" } },
  ]);
  commit();
  clock.advance(300);
  progress.wakeUp(false);
  commit();
  expect(running.get("a")?.command.attempt).toBe(2);
  end("a", failure());
  expect(progress.batch.failed).toMatchObject([{ retried: true }]);
  expect(progress.batch.events).toMatchObject([{ type: "step-retry", attempt: 2 }]);
});

test("a suspension has the request of its body", () => {
  const { progress, commit, end } = progressOf(start.andThen(step("gate")));
  commit();
  end("gate", suspends(1200));
  expect(progress.firstOpen).toEqual({
    ...{ suspensionId: expect.any(String), path: "gate", stepIndex: 0, suspendedAt: 1000, reason: "why" },
    ...{ data: null, deadline: 1200, onDeadline: '"fail"' },
  });
  expect(progress.batch.open).toEqual([progress.firstOpen]);
});
