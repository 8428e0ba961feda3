// The context of a body: its fields, and the words with which it refuses a call.
import { expect, test } from "vitest";
import { z } from "zod";
import { bodyFlow, bodyForTest, type GivenBody } from "../../../test/support/running-body.ts";
import type { Step } from "../../workflow/step.ts";
import { ControlFlowSignal } from "./control-flow-signal.ts";

interface Given extends Omit<GivenBody, "step"> {
  readonly step?: Partial<Step>;
}

function contextOf({ step, ...given }: Given = {}) {
  const [one] = bodyFlow.steps;
  if (one === undefined) throw new Error("the workflow has a step");
  const body = bodyForTest({ ...given, step: Object.assign({ ...one }, step) });
  return { ...body, context: body.context() };
}

/** The request with which the body leaves. */
function requestOf(leave: () => unknown): unknown {
  try {
    leave();
  } catch (thrown) {
    return ControlFlowSignal.requestOf(thrown) ?? thrown;
  }
  throw new Error("it did not leave");
}

test("its fields are those of the execution and the step", () => {
  const { context, scope, logger } = contextOf();
  const { input, executionId, workflowId, stepPath, attempt, idempotencyKey, userId, conversationId } =
    context;
  expect({
    input,
    executionId,
    workflowId,
    stepPath,
    attempt,
    idempotencyKey,
    userId,
    conversationId,
  }).toEqual({
    ...{ input: { a: 1 }, executionId: "e1", workflowId: "nap", stepPath: "list/one", attempt: 2 },
    ...{ idempotencyKey: "e1:list/one", userId: "ada", conversationId: "c1" },
  });
  expect(context.context).toEqual(new Map([["plan", "pro"]]));
  expect([context.data, context.resumeData, context.suspendData, context.state]).toEqual([
    ...[2, undefined, undefined, {}],
  ]);
  expect(context.signal).toBe(scope.signal);
  context.logger.info({ a: 1 }, "a line");
  expect(context.logger).toBe(context.logger);
  expect(logger.lines).toEqual([
    {
      ...{ level: "info", msg: "a line", a: 1, stepPath: "list/one", workflowId: "nap" },
      ...{ executionId: "e1", userId: "ada", conversationId: "c1" },
    },
  ]);
  const nobody = contextOf({ userId: null }).context;
  expect([nobody.userId, nobody.conversationId]).toEqual([undefined, undefined]);
});

test("after a resume it has the resume data and the data of its suspension", () => {
  const { context, journal } = contextOf({ command: { resumeData: '"go"' } });
  expect([context.resumeData, context.suspendData]).toEqual(["go", undefined]);
  journal.suspended("list/one", 3, "s1", '{"amount":5}');
  expect(context.suspendData).toEqual({ amount: 5 });
  const first = contextOf();
  first.journal.suspended("list/one", 3, "s1", '{"amount":5}');
  expect(first.context.suspendData).toBeUndefined();
});

test("suspend and bail leave the body with their values, of which the first counts", () => {
  const { context } = contextOf();
  const suspend = { kind: "suspend", reason: "why", data: '{"amount":1}', deadline: null, onDeadline: null };
  expect(requestOf(() => context.suspend("why", { amount: 1 }))).toEqual(suspend);
  expect(requestOf(() => context.suspend())).toEqual({ ...suspend, reason: "", data: undefined });
  expect(requestOf(() => context.suspend("why", { amount: 1 }, { deadline: 500 }))).toEqual({
    ...{ ...suspend, deadline: 1500, onDeadline: '"fail"' },
  });
  expect(requestOf(() => context.bail([1]))).toEqual({ kind: "bail", result: "[1]" });
  expect(requestOf(() => context.bail())).toEqual({ kind: "bail", result: undefined });
  expect(context.controlFlow).toEqual(suspend);
});

test("a suspend that cannot be kept is refused with its reason", () => {
  const { context } = contextOf({ reason: 3 });
  const message = (call: () => unknown) => String(requestOf(call));
  expect(message(() => context.suspend("long"))).toContain("Suspend reason of step list/one");
  // A body in plain JavaScript may pass anything.
  const untyped: { suspend(reason: unknown): unknown } = context;
  expect(message(() => untyped.suspend(7))).toContain(
    "Step list/one: suspend reason validation failed: expected a string",
  );
  expect(message(() => context.suspend("", { amount: "1" }))).toContain(
    "Step list/one: suspend data validation failed",
  );
  expect(message(() => context.suspend("", { amount: 1e60, more: "x".repeat(60) }))).not.toContain("output");
  const long = { deadline: 5, onDeadline: { resume: "x".repeat(30) } };
  expect(message(() => context.suspend("", undefined, long))).toContain(
    "Resume data for the deadline of step list/one",
  );
  expect(message(() => context.bail("x".repeat(60)))).toContain("Result of bail of step list/one");
  const asynchronous = contextOf({ step: { suspendSchema: z.string().refine(async () => true) } });
  expect(message(() => asynchronous.context.suspend("", "x"))).toContain(
    "Step list/one: suspend data validation failed: the schema must not be asynchronous",
  );
  const own = contextOf({ step: { suspendSchema: z.string() } });
  expect(requestOf(() => own.context.suspend("", "x"))).toMatchObject({ data: '"x"' });
});

test.each(["suspend", "bail", "setState", "emit", "checkpoint"] as const)(
  "%s is refused in a function beside the body",
  (name) => {
    const { context } = contextOf({ command: { path: "list/one#condition" } });
    const calls = {
      suspend: () => context.suspend(),
      bail: () => context.bail(),
      setState: () => context.setState({}),
      emit: () => context.emit("half"),
      checkpoint: () => context.checkpoint("a", () => 1),
    };
    const action = name === "setState" ? "set state" : name;
    expect(calls[name]).toThrow(`list/one#condition cannot ${action}: only the body of a step can`);
  },
);

test("inside a checkpoint only events may be sent", async () => {
  const { context, emitted } = contextOf();
  const refused: string[] = [];
  await context.checkpoint("work", () => {
    context.emit("half", 1);
    for (const call of [() => context.suspend(), () => context.setState({}), () => context.bail()])
      refused.push(String(requestOf(call)));
  });
  expect(refused.map((each) => each.split(": ").slice(-2).join(": "))).toEqual(
    ["suspend", "set state", "bail"].map(
      (action) => `Checkpoint list/one#work cannot ${action}: only the body around it can`,
    ),
  );
  expect(emitted).toEqual([["list/one", "half", "1"]]);
});

test.each([
  ...["", "x".repeat(101), "workflow-start", "step-x", "execution-x", "state-x", "checkpoint-x"],
  ...["text-delta", "tool-call", "tool-result", "tool-error", "emitted"],
])("an event of the type %j is refused", (type) => {
  const { context, emitted } = contextOf();
  expect(() => context.emit(type)).toThrow(
    `Step list/one: event type validation failed: ${JSON.stringify(type)} is reserved, empty or longer than 100 characters`,
  );
  expect(emitted).toEqual([]);
});

test("events are sent while the attempt counts and the body runs", () => {
  const { context, emitted, scope } = contextOf();
  context.emit("x".repeat(100));
  context.emit("my-step-x", { a: 1 });
  expect(() => context.emit("big", "x".repeat(60))).toThrow('Event "big" of step list/one');
  context.setState({ count: 1 });
  expect(context.state).toEqual({ count: 1 });
  expect(context.end()).toBeUndefined();
  context.emit("late");
  context.setState({ count: 2 });
  expect(context.state).toEqual({ count: 1 });
  const lost = contextOf();
  lost.scope.close();
  lost.context.emit("late");
  expect(emitted).toEqual([
    ["list/one", "x".repeat(100), undefined],
    ["list/one", "my-step-x", '{"a":1}'],
  ]);
  expect([lost.emitted, scope.closed]).toEqual([[], false]);
});

test("a body ends when its checkpoints have; none begins after that", async () => {
  const { context } = contextOf();
  const held = Promise.withResolvers<number>();
  const value = context.checkpoint("work", () => held.promise);
  const ended = context.end();
  expect(() => context.checkpoint("late", () => 1)).toThrow(
    "Checkpoint list/one#late cannot begin: the body has ended. Await every checkpoint",
  );
  context.setState({ still: true });
  held.resolve(5);
  expect(await value).toBe(5);
  await ended;
  context.setState({ late: true });
  expect(context.state).toEqual({ still: true });
});

test("pieces of a reply are published while the attempt counts", () => {
  const { context, published, scope } = contextOf();
  context.publishLive({ delta: "he" });
  scope.close();
  context.publishLive({ delta: "llo" });
  expect(published).toEqual([
    { path: "list/one", stepIndex: 3, stepType: "andThen", timestamp: 1000, delta: "he" },
  ]);
});

test("the data of a step is that of its exact path, or of the newest of its id that has ended", () => {
  const { context, journal } = contextOf();
  expect(context.getStepData("two")).toBeUndefined();
  journal.started("two", 0, "1", 5);
  expect(context.getStepData("two")).toBeUndefined();
  journal.started("list[0]/two", 0, "2", 5);
  journal.ended("list[0]/two", 0, { kind: "output", value: "3" }, 6);
  const at = { timestamp: 6, path: "list[0]/two", stepIndex: 0, stepType: "andThen", usage: undefined };
  journal.committed({ type: "step-complete", ...at, output: "3", sequence: 6 });
  expect(context.getStepData("two")).toEqual({ input: 2, output: 3 });
  journal.ended("two", 0, { kind: "bailed", value: "4" }, 7);
  expect(context.getStepData("two")).toEqual({ input: 1, output: undefined });
});

test("a failure that is final stays; any other is replaced", async () => {
  const { context } = contextOf();
  await expect(context.checkpoint("big", () => "x".repeat(60))).rejects.toThrow(
    "Output of checkpoint list/one#big",
  );
  expect(context.failure).toMatchObject({ isFinal: false });
  context.recorder().failed("first");
  context.recorder().failed("second");
  expect(context.failure).toEqual({ error: "first", isFinal: true });
});
