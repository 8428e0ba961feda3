// A journal folded into the runs of its steps.
import { expect, test } from "vitest";
import type { ExecutionEvent } from "../api/types.ts";
import { attemptsOf, definitionPath, foldRun, statusOfRounds, tookOf } from "./step-runs.ts";

let sequence = 0;
function event(type: string, seconds: number, fields: Partial<ExecutionEvent> = {}): ExecutionEvent {
  sequence += 1;
  const timestamp = new Date(seconds * 1000).toISOString();
  const step = fields.stepPath === undefined ? {} : { stepIndex: 0, stepType: "andThen" };
  return { type, executionId: "e", timestamp, sequence, ...step, ...fields };
}

test("a step that is tried again has its attempts, and its last error until it succeeds", () => {
  const { steps } = foldRun([
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "charge", input: 1 }),
    event("step-retry", 2, {
      stepPath: "charge",
      error: { name: "Error", message: "503" },
      retryAt: new Date(5000).toISOString(),
    }),
    event("step-complete", 6, { stepPath: "charge", output: 2 }),
  ]);
  const run = steps.get("charge");
  expect(run).toMatchObject({ status: "completed", output: 2, startAt: 0, endAt: 6000 });
  expect(run?.attempts).toEqual([
    { startAt: 0, endAt: 2000, error: "Error: 503" },
    { startAt: 5000, endAt: 6000 },
  ]);
});

test("a waiting step is suspended until it is resumed", () => {
  const suspension = {
    suspensionId: "s",
    suspendedAt: "",
    reason: "?",
    suspendedStepIndex: 0,
    stepIndex: 0,
    stepId: "ask",
    stepPath: "ask",
  };
  const waiting = [
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "ask" }),
    event("workflow-suspended", 1, { suspension }),
  ];
  expect(foldRun(waiting).steps.get("ask")).toMatchObject({ status: "suspended", suspension });
  const resumed = [...waiting, event("workflow-resumed", 9, { stepPath: "ask" })];
  expect(foldRun(resumed).steps.get("ask")).toMatchObject({ status: "running", endAt: null });
});

test("a resume is not a further attempt, and the wait for a person is not the step's own time", () => {
  const suspension = {
    ...{ suspensionId: "s", suspendedAt: "", reason: "?", suspendedStepIndex: 0, stepIndex: 0 },
    ...{ stepId: "ask", stepPath: "ask" },
  };
  const events = [
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "ask" }),
    event("step-suspended", 1, { stepPath: "ask", suspension }),
    event("workflow-suspended", 1, { suspension }),
    event("workflow-resumed", 901, { stepPath: "ask" }),
    event("step-complete", 903, { stepPath: "ask" }),
  ];
  const run = foldRun(events).steps.get("ask");
  expect(run?.attempts).toEqual([
    { startAt: 0, endAt: 1000 },
    { startAt: 901_000, endAt: 903_000, resumed: true },
  ]);
  expect(run && attemptsOf(run)).toBe(1);
  expect(run && tookOf(run, 5_000_000)).toBe(3000);
  const resumed = foldRun(events.slice(0, 5)).steps.get("ask");
  expect(resumed && tookOf(resumed, 902_000)).toBe(2000);
});

test("a step that runs when the execution is cancelled is cancelled with it", () => {
  const run = foldRun([
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "a" }),
    event("workflow-cancelled", 3),
  ]);
  expect(run.endAt).toBe(3000);
  expect(run.steps.get("a")?.status).toBe("cancelled");
});

test("rounds belong to one step of the definition", () => {
  expect(definitionPath("each[31]/extract")).toBe("each/extract");
  const { steps } = foldRun([
    event("step-start", 0, { stepPath: "each[0]/x" }),
    event("step-complete", 1, { stepPath: "each[0]/x" }),
    event("step-start", 1, { stepPath: "each[1]/x" }),
  ]);
  expect(statusOfRounds([...steps.values()])).toBe("running");
});
