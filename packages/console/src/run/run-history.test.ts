// A journal folded into the runs of its steps, at every position.
import { expect, test } from "vitest";
import type { ExecutionEvent } from "../api/types.ts";
import { foldRun, keptEvery, type Run, RunHistory } from "./run-history.ts";
import { attemptsOf, definitionPath, tookOf } from "./step-runs.ts";

let sequence = 0;
function event(type: string, seconds: number, fields: Partial<ExecutionEvent> = {}): ExecutionEvent {
  sequence += 1;
  const timestamp = new Date(seconds * 1000).toISOString();
  const step = fields.stepPath === undefined ? {} : { stepIndex: 0, stepType: "andThen" };
  return { type, executionId: "e", timestamp, sequence, ...step, ...fields };
}

test("a step that is tried again has its attempts, and its last error until it succeeds", () => {
  const whole = foldRun([
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "charge", input: 1 }),
    event("step-retry", 2, {
      stepPath: "charge",
      error: { name: "Error", message: "503" },
      retryAt: new Date(5000).toISOString(),
    }),
    event("step-complete", 6, { stepPath: "charge", output: 2 }),
  ]);
  const run = whole.get("charge");
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
  expect(foldRun(waiting).get("ask")).toMatchObject({ status: "suspended", suspensions: [suspension] });
  const resumed = [...waiting, event("workflow-resumed", 9, { stepPath: "ask" })];
  expect(foldRun(resumed).get("ask")).toMatchObject({ status: "running", endAt: null });
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
  const run = foldRun(events).get("ask");
  expect(run?.attempts).toEqual([
    { startAt: 0, endAt: 1000 },
    { startAt: 901_000, endAt: 903_000, resumed: true },
  ]);
  expect(run && attemptsOf(run)).toBe(1);
  expect(run && tookOf(run, 5_000_000)).toBe(3000);
  const resumed = foldRun(events.slice(0, 5)).get("ask");
  expect(resumed && tookOf(resumed, 902_000)).toBe(2000);
});

test("a step that runs when the execution is cancelled is cancelled with it", () => {
  const run = foldRun([
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "a" }),
    event("workflow-cancelled", 3),
  ]);
  expect(run.endAt).toBe(3000);
  expect(run.get("a")?.status).toBe("cancelled");
});

test("rounds belong to one step of the definition", () => {
  expect(definitionPath("each[31]/extract")).toBe("each/extract");
  const whole = foldRun([
    event("step-start", 0, { stepPath: "each[0]/x" }),
    event("step-complete", 1, { stepPath: "each[0]/x" }),
    event("step-start", 1, { stepPath: "each[1]/x" }),
  ]);
  expect(whole.rounds("each/x")).toMatchObject({ status: "running", total: 2, done: 1 });
});

function suspensionAt(stepPath: string, seconds: number) {
  return {
    ...{ suspensionId: stepPath, suspendedAt: new Date(seconds * 1000).toISOString(), reason: "?" },
    ...{ suspendedStepIndex: 0, stepIndex: 0, stepId: stepPath, stepPath },
  };
}

test("a step waits while one of its tools does, and keeps each answer with its author, and its checkpoints", () => {
  const [first, second] = [
    suspensionAt("settle#call[0].tool[0]", 2),
    suspensionAt("settle#call[0].tool[1]", 2),
  ];
  const events = [
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "settle", stepType: "andAgent" }),
    event("checkpoint-complete", 1, { stepPath: "settle#call[0]", output: { text: "…" } }),
    event("step-suspended", 2, { stepPath: first.stepPath, suspension: first }),
    event("step-suspended", 2, { stepPath: second.stepPath, suspension: second }),
    event("workflow-suspended", 2, { suspension: first }),
  ];
  const waiting = foldRun(events);
  expect(waiting.get("settle")).toMatchObject({ status: "suspended", endAt: 2000 });
  expect(waiting.get("settle")?.suspensions).toHaveLength(2);
  expect(waiting.checkpoints("settle")).toMatchObject([{ name: "call[0]", output: { text: "…" } }]);
  const answered = (suspension: typeof first, seconds: number) =>
    event("workflow-resumed", seconds, {
      ...{ stepPath: suspension.stepPath, suspensionId: suspension.suspensionId },
      ...{ resumeData: { approved: true }, userId: "ada" },
    });
  events.push(answered(first, 60));
  expect(foldRun(events).get("settle")).toMatchObject({ status: "suspended", suspensions: [second] });
  events.push(answered(second, 90));
  const run = foldRun(events);
  expect(run.get("settle")).toMatchObject({ status: "running", suspensions: [], waited: 88_000 });
  expect(run.answers("settle")).toMatchObject([
    { answeredAt: 60_000, userId: "ada", data: { approved: true }, suspension: first },
    { answeredAt: 90_000, userId: "ada", suspension: second },
  ]);
});

test("the end of a container ends its open steps: the loser of a race does not run on", () => {
  const lane = { stepType: "andThen" };
  const run = foldRun([
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "carriers", stepType: "andRace" }),
    event("step-start", 0, { stepPath: "carriers/dhl", ...lane }),
    event("step-start", 0, { stepPath: "carriers/post", ...lane }),
    event("step-complete", 2, { stepPath: "carriers/post", ...lane }),
    event("step-complete", 2, { stepPath: "carriers", stepType: "andRace" }),
    event("step-start", 3, { stepPath: "ask" }),
    event("workflow-suspended", 3, { suspension: suspensionAt("ask", 3) }),
  ]);
  expect(run.get("carriers/dhl")).toMatchObject({ status: "cancelled", endAt: 2000 });
  expect(run.get("carriers/dhl")?.attempts).toEqual([{ startAt: 0, endAt: 2000 }]);
  expect(run.get("carriers")).toMatchObject({ status: "completed", endAt: 2000 });
});

test("a container waits when all of its open steps do, and runs again with the first that is resumed", () => {
  const inside = { stepType: "andThen" };
  const all = { stepPath: "both", stepType: "andAll" };
  const events = [
    event("workflow-start", 0),
    event("step-start", 0, all),
    event("step-start", 0, { stepPath: "both/gate", ...inside }),
    event("step-start", 0, { stepPath: "both/work", ...inside }),
    event("step-suspended", 1, { stepPath: "both/gate", suspension: suspensionAt("both/gate", 1) }),
  ];
  expect(foldRun(events).get("both")?.status).toBe("running");
  events.push(event("step-complete", 4, { stepPath: "both/work", ...inside }));
  expect(foldRun(events).get("both")).toMatchObject({ status: "suspended", endAt: 4000 });
  events.push(
    event("workflow-resumed", 100, { stepPath: "both/gate" }),
    event("step-complete", 101, { stepPath: "both/gate", ...inside }),
    event("step-complete", 101, all),
  );
  const run = foldRun(events).get("both");
  expect(run).toMatchObject({ status: "completed", startAt: 0, endAt: 101_000 });
  expect(run && tookOf(run, 0)).toBe(5000);
});

test("a sleep is neither running nor waiting for a person", () => {
  const events = [
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "nap", stepType: "andSleep" }),
  ];
  expect(foldRun(events).get("nap")?.status).toBe("sleeping");
  events.push(event("step-complete", 9, { stepPath: "nap", stepType: "andSleep" }));
  expect(foldRun(events).get("nap")).toMatchObject({ status: "completed", endAt: 9000 });
});

test("an event that a step emits under the name of another changes no step", () => {
  const run = foldRun([
    event("step-start", 0, { stepPath: "a" }),
    event("step-error", 1, { stepPath: "a", from: "a", data: null, error: "no" }),
    event("workflow-complete", 1, { from: "a", data: null }),
  ]);
  expect(run.endAt).toBeNull();
  expect(run.get("a")?.status).toBe("running");
});

test("a long journal is folded once, and a move through it folds a few hundred events at most", () => {
  let folded = 0;
  const events = Array.from({ length: 10_000 }, (_, index) => {
    const made = event(index % 2 === 0 ? "step-start" : "step-complete", index, {
      stepPath: `each[${index >> 1}]/x`,
    });
    const { timestamp } = made;
    const get = () => {
      folded += 1;
      return timestamp;
    };
    return Object.defineProperty(made, "timestamp", { get });
  });
  const history = new RunHistory(events, new RunHistory(events.slice(0, 8000)));
  expect(folded).toBe(events.length);
  for (const position of [1, 9999, 5001, 5000, 257, 512, 10_000]) {
    folded = 0;
    const run = history.at(position);
    expect(run.rounds("each/x")).toMatchObject({
      total: Math.ceil(position / 2),
      done: position >> 1,
      last: { path: `each[${(position - 1) >> 1}]/x` },
    });
    expect(run.get("each[0]/x")?.status).toBe(position === 1 ? "running" : "completed");
    expect(run.current?.path).toBe(`each[${(position - 1) >> 1}]/x`);
    expect(folded).toBeLessThanOrEqual(keptEvery);
  }
  history.at(5001);
  folded = 0;
  expect(history.at(5002).get("each[2499]/x")).toBe(history.at(5001).get("each[2499]/x"));
  expect(folded).toBe(1);
});

test("the run at every position is that of the events up to it, in any order of positions", () => {
  const suspension = suspensionAt("both/gate", 1);
  const inside = { stepType: "andThen" };
  const events = [
    event("workflow-start", 0),
    event("step-start", 0, { stepPath: "both", stepType: "andAll" }),
    event("step-start", 0, { stepPath: "both/gate", ...inside }),
    event("state-changed", 0, { state: { seen: 1 } }),
    event("step-suspended", 1, { stepPath: "both/gate", suspension }),
    ...Array.from({ length: 600 }, (_, round) =>
      event("checkpoint-complete", 1, { stepPath: `both/gate#call[${round}]`, output: round }),
    ),
    event("workflow-resumed", 9, { stepPath: "both/gate", resumeData: true }),
    event("state-changed", 9, { state: { seen: 2 } }),
    event("step-error", 10, { stepPath: "both/gate", error: "no", ...inside }),
    event("workflow-error", 10, { error: "no" }),
  ];
  const history = new RunHistory(events);
  const shown = (run: Run) => ({
    ...{ steps: run.steps(), state: run.state(), current: run.current, endAt: run.endAt, at: run.lastAt },
    ...{ checkpoints: run.checkpoints("both/gate"), answers: run.answers("both/gate") },
    rounds: [run.rounds("both"), run.rounds("both/gate")],
  });
  for (const position of [609, 1, 5, 608, 607, 300, 256, 606, 255, 511, 609, 4])
    expect(shown(history.at(position))).toEqual(shown(foldRun(events.slice(0, position))));
});

test("a position before the execution went back shows the steps that it then forgot", () => {
  const events = [
    event("step-start", 0, { stepPath: "a", stepIndex: 0 }),
    event("step-complete", 1, { stepPath: "a", stepIndex: 0 }),
    event("step-start", 1, { stepPath: "b", stepIndex: 1 }),
    event("execution-rewound", 2, { stepPath: "a", stepIndex: 0 }),
    event("step-start", 3, { stepPath: "a", stepIndex: 0 }),
  ];
  const history = new RunHistory(events);
  expect(history.at(5).get("b")).toBeUndefined();
  expect(history.at(5).get("a")).toMatchObject({ status: "running", startAt: 3000 });
  expect(history.at(3).get("b")?.status).toBe("running");
  expect(history.at(3).get("a")?.status).toBe("completed");
});
