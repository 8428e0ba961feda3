// The hooks of each event, with everything that they receive.
import { expect, test } from "vitest";
import type { JournalEvent, NewEvent } from "../../journal/events.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import type { WorkflowHooks } from "../../workflow/hooks.ts";
import { callHooks, type HookSubject } from "./call-hooks.ts";

const row: HookSubject = {
  ...{ executionId: "e1", workflowId: "nap", userId: "ada", conversationId: "c1" },
  ...{ context: '{"plan":"pro"}', input: '"row"' },
};
const common = {
  ...{ executionId: "e1", workflowId: "nap", userId: "ada", conversationId: "c1" },
  ...{ context: new Map([["plan", "pro"]]), timestamp: new Date(5), logger: expect.any(RecordingLogger) },
};
const at = { timestamp: 5, stepIndex: 2, stepType: "andThen", path: "list/0/one" } as const;
const step = { stepId: "one", stepPath: "list/0/one", stepIndex: 2, stepType: "andThen" };
const failure = { name: "TypeError", message: "no", step: "list/0/one", stack: "secret" };
const shown = { name: "TypeError", message: "no", step: "list/0/one" };
const ended = { result: undefined, error: undefined, reason: undefined, cancelledBy: undefined };

/** The calls of hooks for these events, once the microtask has run. */
async function callsFor(events: readonly NewEvent[], subject = row) {
  const calls: unknown[] = [];
  const note = (name: string) => (context: unknown) => void calls.push([name, context]);
  const hooks: WorkflowHooks = {
    onStart: note("onStart"),
    onStepEnd: note("onStepEnd"),
    onSuspend: note("onSuspend"),
    onEnd: note("onEnd"),
  };
  const numbered = events.map((event, index): JournalEvent => ({ ...event, sequence: index + 1 }));
  callHooks(hooks, subject, numbered, new RecordingLogger());
  expect(calls).toEqual([]);
  await Promise.resolve();
  return calls;
}

const suspended = {
  type: "workflow-suspended",
  ...{ timestamp: 5, stepIndex: 1, suspensionId: "s1", reason: "why" },
  ...{ suspendedAt: 5, deadline: 9, data: '{"a":1}' },
} as const;
const suspension = { suspensionId: "s1", reason: "why", data: { a: 1 }, stepIndex: 1 };
const replayOf = { executionId: "e0", stepId: "one" };

test.each<[NewEvent, string, object]>([
  [
    { type: "workflow-start", timestamp: 5, input: '"own"', traceparent: undefined, replayOf },
    "onStart",
    { input: "own", replayOf },
  ],
  [
    { type: "workflow-start", timestamp: 5, input: undefined, traceparent: undefined, replayOf: undefined },
    "onStart",
    { input: "row", replayOf: undefined },
  ],
  [
    { type: "step-complete", ...at, output: "[1]", usage: undefined },
    "onStepEnd",
    { ...step, outcome: { kind: "output", output: [1] } },
  ],
  [{ type: "step-skipped", ...at }, "onStepEnd", { ...step, outcome: { kind: "skipped" } }],
  [
    { type: "step-bailed", ...at, result: "2" },
    "onStepEnd",
    { ...step, outcome: { kind: "bailed", result: 2 } },
  ],
  [
    { type: "step-error", ...at, error: failure },
    "onStepEnd",
    { ...step, outcome: { kind: "error", error: shown } },
  ],
  [
    { ...suspended, path: "gate", userId: undefined },
    "onSuspend",
    { ...suspension, stepPath: "gate", suspendedBy: undefined },
  ],
  [
    { ...suspended, path: null, userId: "bob" },
    "onSuspend",
    { ...suspension, stepPath: undefined, suspendedBy: "bob" },
  ],
  [
    { type: "workflow-complete", timestamp: 5, result: '{"b":2}' },
    "onEnd",
    { ...ended, status: "completed", result: { b: 2 } },
  ],
  [
    { type: "workflow-error", timestamp: 5, error: failure },
    "onEnd",
    { ...ended, status: "error", error: shown },
  ],
  [
    { type: "workflow-cancelled", timestamp: 5, reason: "enough", userId: "bob", suspensionId: undefined },
    "onEnd",
    { ...ended, status: "cancelled", reason: "enough", cancelledBy: "bob" },
  ],
])("%o calls its hook", async (event, name, fields) => {
  expect(await callsFor([event])).toEqual([[name, { ...common, ...fields }]]);
});

test("other events call none", async () => {
  const retry = { error: failure, attempt: 1, retryAt: 6 };
  const others: NewEvent[] = [
    { type: "step-start", ...at, input: "1" },
    { type: "step-evaluated", ...at, output: "1" },
    { type: "step-retry", ...at, ...retry },
    { ...suspended, ...at, type: "step-suspended" },
    { type: "state-changed", ...at, patch: "{}" },
    { type: "emitted", ...at, name: "n", attempt: 1, data: "1" },
    {
      type: "checkpoint-complete",
      ...at,
      output: "1",
      startedAt: 1,
      attempt: 1,
      call: undefined,
      usage: undefined,
    },
    { type: "checkpoint-retry", ...at, ...retry, stepAttempt: 1 },
    {
      ...{ type: "workflow-resumed", timestamp: 5, path: "gate", stepIndex: 0, suspensionId: "s1" },
      ...{ resumeData: "1", userId: undefined, byDeadline: false, expired: false },
    },
    { type: "execution-rewound", timestamp: 5, path: "a", stepIndex: 0, resumeData: "1", userId: undefined },
  ];
  expect(await callsFor(others)).toEqual([]);
});

test("an execution without user, conversation and input", async () => {
  const bare: HookSubject = { ...row, userId: null, conversationId: null, input: null };
  const start: NewEvent = {
    ...{
      type: "workflow-start",
      timestamp: 5,
      input: undefined,
      traceparent: undefined,
      replayOf: undefined,
    },
  };
  expect(await callsFor([start], bare)).toEqual([
    [
      "onStart",
      { ...common, userId: undefined, conversationId: undefined, input: undefined, replayOf: undefined },
    ],
  ]);
});

test("a hook that throws or rejects is one line, and the others are called; its logger names the execution", async () => {
  const logger = new RecordingLogger();
  const ids = { executionId: "e1", workflowId: "nap" };
  const skipped = (sequence: number): JournalEvent => ({ type: "step-skipped", ...at, sequence });
  let calls = 0;
  const hooks: WorkflowHooks = {
    onStepEnd: (context) => {
      context.logger.info({}, `call ${++calls}`);
      if (calls === 1) throw new Error("thrown");
      if (calls === 2) return Promise.reject(new Error("rejected"));
      return undefined;
    },
  };
  callHooks(hooks, row, [skipped(1), skipped(2), skipped(3)], logger);
  await expect.poll(() => logger.lines).toHaveLength(5);
  const failed = { level: "error", msg: "a hook failed", ...ids, userId: "ada" };
  expect(logger.of("error")).toEqual([
    { ...failed, err: new Error("thrown") },
    { ...failed, err: new Error("rejected") },
  ]);
  expect(logger.of("info")).toEqual(
    [1, 2, 3].map((call) => ({ level: "info", msg: `call ${call}`, ...ids, userId: "ada" })),
  );
  logger.lines.length = 0;
  callHooks({ onStepEnd: () => Promise.reject("no") }, { ...row, userId: null }, [skipped(1)], logger);
  await expect
    .poll(() => logger.lines)
    .toEqual([{ level: "error", msg: "a hook failed", ...ids, err: "no" }]);
});

test("a workflow without the hook of an event calls none", async () => {
  const logger = new RecordingLogger();
  const events: JournalEvent[] = [
    {
      type: "workflow-start",
      timestamp: 5,
      input: "1",
      traceparent: undefined,
      replayOf: undefined,
      sequence: 1,
    },
    { type: "step-skipped", ...at, sequence: 2 },
    { ...suspended, path: null, userId: undefined, sequence: 3 },
    { type: "workflow-complete", timestamp: 5, result: "1", sequence: 4 },
  ];
  callHooks({}, row, events, logger);
  await Promise.resolve();
  await Promise.resolve();
  expect(logger.lines).toEqual([]);
});
