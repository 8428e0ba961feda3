// Views of rows and events. Empty fields are absent, not undefined: `toStrictEqual` checks it.
import { expect, test } from "vitest";
import { z } from "zod";
import type { JournalEvent } from "../../journal/events.ts";
import type { ExecutionRow, StoredExecution, Suspension } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { viewEvent, viewLiveText, viewResult, viewState, viewSummary, viewSuspension } from "./views.ts";

const at = 1_500;
const iso = "1970-01-01T00:00:01.500Z";

const suspension: Suspension = {
  suspensionId: "s",
  path: null,
  stepIndex: 0,
  reason: "later",
  data: null,
  suspendedAt: at,
  deadline: null,
  onDeadline: null,
  resumeSchema: null,
};

const row: ExecutionRow = {
  executionId: "e",
  kind: "workflow",
  workflowId: "w",
  agentId: null,
  status: "running",
  input: null,
  context: "{}",
  userId: null,
  conversationId: null,
  startAt: at,
  timeoutAt: null,
  endAt: null,
  result: null,
  error: null,
  sequence: 1,
  stepIndex: 0,
  paused: false,
  resumes: 0,
  recoveries: 0,
  tags: [],
  definition: null,
  parked: null,
  replayOf: null,
  trace: null,
  links: null,
};

const stored = (more: Partial<StoredExecution>): StoredExecution => ({
  execution: row,
  suspensions: [],
  timers: [],
  usage: null,
  ...more,
});

const execute = async () => 1;
const resumeSchema = z.object({ yes: z.boolean() });
const workflow = createWorkflow({ id: "w", input: z.unknown() })
  .andThen({ id: "ask", execute, resumeSchema })
  .andThen({ id: "plain", execute });
const schemaOfAsk = expect.objectContaining({ required: ["yes"] });

test("a suspension has its known fields, and nothing else", () => {
  const always = { suspensionId: "s", suspendedAt: iso, reason: "later" };
  const first = { suspendedStepIndex: 0, stepIndex: 0, stepId: "ask" };
  expect(viewSuspension(workflow, suspension)).toStrictEqual({ ...always, ...first });
  expect(viewSuspension(undefined, suspension)).toStrictEqual({ ...always, ...first, stepId: "" });
  // The definition may have lost the step.
  expect(viewSuspension(workflow, { ...suspension, stepIndex: 9 }).stepId).toBe("");
  const plain = { ...suspension, path: "plain", stepIndex: 1, data: '{"n":1}', deadline: at };
  expect(viewSuspension(workflow, plain)).toStrictEqual({
    ...always,
    ...{ suspendedStepIndex: 1, stepIndex: 1, stepId: "plain", stepPath: "plain" },
    ...{ data: { n: 1 }, deadline: iso },
  });
  const asked = { ...always, ...first, stepPath: "ask" };
  const ask = { ...suspension, path: "ask" };
  expect(viewSuspension(workflow, ask)).toStrictEqual({ ...asked, resumeSchema: schemaOfAsk });
  expect(viewSuspension(undefined, ask)).toStrictEqual(asked);
  expect(viewSuspension(workflow, { ...ask, resumeSchema: '{"type":"null"}' })).toStrictEqual({
    ...asked,
    resumeSchema: { type: "null" },
  });
  // A call inside the step has a schema of its own, or none.
  const inside = viewSuspension(workflow, { ...suspension, path: "ask#call" });
  expect(inside).not.toHaveProperty("resumeSchema");
});

test("a result and a state have their known fields, and nothing else", () => {
  const result = { executionId: "e", startAt: iso, endAt: null, status: "running", result: null };
  expect(viewResult(workflow, stored({}))).toStrictEqual(result);
  const state = { ...result, workflowId: "w", input: null, context: {} };
  expect(viewState(workflow, stored({}))).toStrictEqual(state);
  const replayOf = { executionId: "f", stepId: "ask" };
  const marks = { tags: ["red"], parked: "changed", replayOf };
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 4 };
  const failed = JSON.stringify({ name: "Error", message: "secret", step: "ask" });
  const ended = { endAt: at, result: "[1]", input: "2", context: '{"a":1}', error: failed };
  const full = stored({ execution: { ...row, ...marks, ...ended }, suspensions: [suspension], usage });
  const shown = viewSuspension(workflow, suspension);
  expect(viewState(workflow, full)).toStrictEqual({
    ...state,
    ...{ endAt: iso, result: [1], input: 2, context: { a: 1 }, error: "Failed to execute workflow", usage },
    ...{ suspension: shown, suspensions: [shown], tags: ["red"], parked: { reason: "changed" }, replayOf },
  });
  const lent = JSON.stringify({ name: "Error", message: "too late", public: true });
  expect(viewResult(workflow, stored({ execution: { ...row, error: lent } })).error).toBe("too late");
});

test("a summary has its known fields, and nothing else", () => {
  const always = { executionId: "e", workflowId: "w", status: "running", startAt: iso, stepIndex: 0 };
  const summary = { ...always, endAt: null, userId: null, conversationId: null };
  expect(viewSummary(row)).toStrictEqual(summary);
  const failure = { name: "Error", message: "no" };
  expect(viewSummary({ ...row, endAt: at, error: JSON.stringify(failure) })).toStrictEqual({
    ...summary,
    endAt: iso,
    error: failure,
  });
  const inStep = { ...failure, step: "ask" };
  const marked = { tags: ["red"], parked: "changed", error: JSON.stringify(inStep) };
  expect(viewSummary({ ...row, ...marked })).toStrictEqual({
    ...summary,
    ...{ tags: ["red"], parked: { reason: "changed" }, error: inStep },
  });
});

const step = { path: "all/ask", stepIndex: 0, stepType: "andThen" } as const;
const address = { from: "ask", stepPath: "all/ask", stepIndex: 0, stepType: "andThen" };
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 4 };
const error = { name: "Error", message: "no" };
const when = { timestamp: at, sequence: 7 };
const opened = {
  ...{ suspensionId: "s", reason: "later", suspendedAt: at },
  deadline: undefined,
  data: undefined,
};
const openedView = {
  suspensionId: "s",
  suspendedAt: iso,
  reason: "later",
  suspendedStepIndex: 0,
  stepIndex: 0,
};
const resumed = { suspensionId: "s", userId: undefined, expired: false, stepIndex: 0 } as const;
const ended = { reason: undefined, userId: undefined, suspensionId: undefined };

test.each<[string, JournalEvent, object]>([
  ["start", { ...when, type: "workflow-start", input: "1", traceparent: "t", replayOf: undefined }, {}],
  [
    "start of a replay",
    {
      ...when,
      type: "workflow-start",
      input: "1",
      traceparent: "t",
      replayOf: { executionId: "f", stepId: "s" },
    },
    { replayOf: { executionId: "f", stepId: "s" } },
  ],
  ["step that starts", { ...when, ...step, type: "step-start", input: "1" }, { ...address, input: 1 }],
  [
    "step without an output",
    { ...when, ...step, type: "step-complete", output: undefined, usage: undefined },
    { ...address, output: null },
  ],
  [
    "step that asked",
    { ...when, ...step, type: "step-complete", output: "1", usage },
    { ...address, output: 1, usage },
  ],
  ["condition", { ...when, ...step, type: "step-evaluated", output: "true" }, { ...address, output: true }],
  ["step that is skipped", { ...when, ...step, type: "step-skipped" }, address],
  ["step that bails", { ...when, ...step, type: "step-bailed", result: "1" }, { ...address, result: 1 }],
  ["end", { ...when, type: "workflow-complete", result: "1" }, { result: 1 }],
  [
    "change of the state",
    { ...when, ...step, type: "state-changed", patch: '{"a":1}' },
    { ...address, state: { a: 1 } },
  ],
  [
    "event of a body",
    { ...when, ...step, type: "emitted", name: "progress", attempt: 2, data: "1" },
    { ...address, type: "progress", attempt: 2, data: 1 },
  ],
  [
    "checkpoint",
    {
      ...when,
      ...step,
      type: "checkpoint-complete",
      output: "1",
      startedAt: at,
      attempt: 2,
      call: undefined,
      usage: undefined,
    },
    { ...address, output: 1, startedAt: iso, attempt: 2 },
  ],
  [
    "call of an agent",
    {
      ...when,
      ...step,
      type: "checkpoint-complete",
      output: "1",
      startedAt: at,
      attempt: 1,
      call: { kind: "agent" },
      usage,
    },
    { ...address, output: 1, startedAt: iso, attempt: 1, call: { kind: "agent" }, usage },
  ],
  ["step that fails", { ...when, ...step, type: "step-error", error }, { ...address, error }],
  ["failure", { ...when, type: "workflow-error", error }, { error }],
  [
    "retry",
    { ...when, ...step, type: "step-retry", error, attempt: 1, retryAt: at },
    { ...address, error, attempt: 1, retryAt: iso },
  ],
  [
    "retry of a checkpoint",
    { ...when, ...step, type: "checkpoint-retry", error, attempt: 1, stepAttempt: 3, retryAt: at },
    { ...address, error, attempt: 1, retryAt: iso },
  ],
  [
    "suspension of a step",
    { ...when, ...step, ...opened, type: "step-suspended", data: "1", deadline: at, resumeSchema: "true" },
    {
      ...address,
      suspension: {
        ...openedView,
        stepId: "ask",
        stepPath: "all/ask",
        data: 1,
        deadline: iso,
        resumeSchema: true,
      },
    },
  ],
  [
    "pause",
    { ...when, ...opened, type: "workflow-suspended", path: null, stepIndex: 0, userId: "ada" },
    { suspension: { ...openedView, stepId: "ask" }, userId: "ada" },
  ],
  [
    "suspension by a step",
    { ...when, ...opened, type: "workflow-suspended", path: "plain", stepIndex: 0, userId: undefined },
    { suspension: { ...openedView, stepId: "plain", stepPath: "plain" } },
  ],
  [
    "resume of a pause",
    { ...when, ...resumed, type: "workflow-resumed", path: null, resumeData: undefined, byDeadline: false },
    { stepIndex: 0, suspensionId: "s", resumeData: null },
  ],
  [
    "deadline",
    { ...when, ...resumed, type: "workflow-resumed", path: "plain", resumeData: "1", byDeadline: true },
    { from: "plain", stepPath: "plain", stepIndex: 0, suspensionId: "s", resumeData: 1, byDeadline: true },
  ],
  [
    "rewind",
    { ...when, type: "execution-rewound", path: "plain", stepIndex: 1, resumeData: "1", userId: "ada" },
    { from: "plain", stepPath: "plain", stepIndex: 1, resumeData: 1, userId: "ada" },
  ],
  ["cancel", { ...when, ...ended, type: "workflow-cancelled" }, {}],
  [
    "cancel with a reason",
    { ...when, ...ended, type: "workflow-cancelled", reason: "enough", userId: "ada" },
    { reason: "enough", userId: "ada" },
  ],
])("the event of a %s", (_, event, shown) => {
  const common = { type: event.type, executionId: "e", timestamp: iso, sequence: 7 };
  expect(viewEvent(workflow, "e", event, "full")).toStrictEqual({ ...common, ...shown });
});

test("in public an error is its public text", () => {
  const failed: JournalEvent = { ...when, ...step, type: "step-error", error };
  expect(viewEvent(workflow, "e", failed, "public")).toMatchObject({ error: "Failed to execute workflow" });
  const lent: JournalEvent = { ...when, type: "workflow-error", error: { ...error, public: true } };
  expect(viewEvent(workflow, "e", lent, "public")).toMatchObject({ error: "no" });
});

test("an agent's text and tool calls have the address of its step", () => {
  const text = { ...step, timestamp: at, delta: "hi" };
  const always = { executionId: "e", timestamp: iso, ...address };
  expect(viewLiveText("e", text)).toStrictEqual({ ...always, type: "text-delta", delta: "hi" });
  const tool = { type: "tool-call", toolCallId: "c", toolName: "add" } as const;
  expect(viewLiveText("e", { ...text, tool })).toStrictEqual({ ...always, ...tool });
});
