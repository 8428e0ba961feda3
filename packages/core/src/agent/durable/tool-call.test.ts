// One call of a tool: read from its record, or run and recorded; approved first, or answered from outside.
import { expect, test, vi } from "vitest";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { loopOver, workOf } from "../../../test/support/loop-for-test.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import { CallsWaitError, type CallWait, decisionSchema } from "./call-waits.ts";
import type { EndedCall, RecordedCall } from "./recorder.ts";
import type { ToolWork } from "./tool-call.ts";

const place = "start.tool[0]";
const facts = { kind: "tool", toolName: "pay", toolCallId: "t" } as const;
const used = (calls: number) => ({ inputTokens: 1, outputTokens: 2, totalTokens: 3, calls });
const ended = (output: unknown, usage?: EndedCall["usage"]) => ({
  ...{ place, call: facts, startedAt: 0, output: JSON.stringify(output), usage },
});

type Given = NonNullable<Parameters<typeof loopOver>[1]>;

function callForTest(given: Given = {}, record?: Partial<RecordedCall>) {
  const known: RecordedCall = { call: facts, output: undefined, usage: undefined, ...record };
  const all = loopOver(record === undefined ? {} : { [place]: known }, given);
  return { ...all, call: all.loop.toolCall("t", "pay") };
}

const outcomeOf = (result: Promise<unknown> | AsyncIterable<unknown>) => {
  if (!(result instanceof Promise)) throw new Error("expected a promise");
  return inTime(result, "the outcome");
};
const valuesOf = (result: Promise<unknown> | AsyncIterable<unknown>) => {
  if (result instanceof Promise) throw new Error("expected values");
  return allInTime(result, "the values");
};

async function* values(...list: unknown[]) {
  for (const value of list) {
    if (value instanceof Error) throw value;
    yield value;
  }
}

test("a call is named by its execution and its path", () => {
  const emit = vi.fn();
  const { call } = callForTest({ recorder: { emit } });
  expect([call.executionId, call.path, call.attempt]).toEqual(["e", `ask#${place}`, 2]);
  expect([call.idempotencyKey, call.hasRun, call.isWalked]).toEqual([`e:ask#${place}`, false, false]);
  call.emit("sent", { a: 1 });
  expect(emit.mock.calls).toEqual([["sent", { a: 1 }]]);
});

test("a recorded outcome is read, with its data and its usage; the tool does not run", async () => {
  const [show, count, execute] = [vi.fn(), vi.fn(), vi.fn()];
  const data = { type: "data-step", data: 1 };
  const output = JSON.stringify({ output: 5, wrote: [data] });
  const { call, written } = callForTest({}, { output, usage: used(1) });
  expect(call.isWalked).toBe(true);
  expect(await outcomeOf(call.run(workOf(execute, { show, used: count })))).toBe(5);
  expect([show.mock.calls, count.mock.calls]).toEqual([[[[data]]], [[used(1)]]]);
  expect([execute.mock.calls, written, call.hasRun]).toEqual([[], [], true]);
  const plain = callForTest({}, { output: '{"error":{"name":"Error","message":"no"}}' });
  await expect(outcomeOf(plain.call.run(workOf(execute, { show, used: count })))).rejects.toThrow(/^no$/);
  expect(count).toHaveBeenCalledTimes(1);
});

test.each<[string, () => unknown]>([
  ["returns", () => ({ paid: 5 })],
  ["promises", async () => ({ paid: 5 })],
  ["promises values", async () => values(1, { paid: 5 })],
])("a tool that %s has its outcome recorded before it is shown", async (_, result) => {
  const execute = vi.fn(result);
  const { call, written } = callForTest();
  const outcome = call.run(workOf(execute, { input: { amount: 5 } }));
  expect(call.hasRun).toBe(true);
  expect(await outcomeOf(outcome)).toEqual({ paid: 5 });
  expect(execute.mock.calls).toEqual([[{ amount: 5 }]]);
  expect(written).toEqual([ended({ output: { paid: 5 } })]);
});

test("the values of a tool that yields are passed on as JSON, and the last is recorded", async () => {
  const { call, written, loop } = callForTest();
  const outcome = call.run(workOf(() => values(new Date(0), "last")));
  if (outcome instanceof Promise) throw new Error("expected values");
  const iterator = outcome[Symbol.asyncIterator]();
  expect(await iterator.next()).toEqual({ done: false, value: "1970-01-01T00:00:00.000Z" });
  const all = loop.toolsEnded(100_000).then(() => "ended");
  expect(await Promise.race([all, new Promise((resolve) => setImmediate(resolve, "runs"))])).toBe("runs");
  expect(await iterator.next()).toEqual({ done: false, value: "last" });
  expect(written).toEqual([]);
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(written).toEqual([ended({ output: "last" })]);
  expect(await inTime(all, "the end of the tool")).toBe("ended");
});

test.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw new Error("no");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no"))],
])("the error of a tool that %s is recorded", async (_, execute) => {
  const { call, written, loop } = callForTest();
  await expect(outcomeOf(call.run(workOf(execute)))).rejects.toEqual(new Error("no"));
  expect(written).toEqual([ended({ error: { name: "Error", message: "no" } })]);
  expect(loop.left).toBeUndefined();
});

test("the error after a value is recorded in its place", async () => {
  const { call, written } = callForTest();
  await expect(valuesOf(call.run(workOf(() => values(1, new Error("no")))))).rejects.toEqual(new Error("no"));
  expect(written).toEqual([ended({ error: { name: "Error", message: "no" } })]);
});

test("data parts are recorded with the outcome: the last of each id, and none that was only sent", async () => {
  const { call, written } = callForTest();
  const part = (type: `data-${string}`, data: number, id?: string) => ({
    ...{ type, data },
    ...(id !== undefined && { id }),
  });
  const parts = [part("data-a", 1, "x"), part("data-a", 2), part("data-a", 3), part("data-b", 4, "x")];
  for (const each of [...parts, part("data-a", 5, "x")]) call.wrote(each);
  call.wrote({ ...part("data-c", 6), transient: true });
  call.wrote({ ...part("data-c", 7), transient: false });
  await outcomeOf(call.run(workOf(() => 1)));
  const wrote = [part("data-a", 5, "x"), ...parts.slice(1), { ...part("data-c", 7), transient: false }];
  expect(written).toEqual([ended({ output: 1, wrote })]);
  const failing = callForTest();
  failing.call.wrote(part("data-a", 1));
  await expect(outcomeOf(failing.call.run(workOf(() => Promise.reject("no"))))).rejects.toBe("no");
  expect(failing.written).toEqual([ended({ thrown: "no", wrote: [part("data-a", 1)] })]);
});

test("usage that no record has is recorded with the tool, once", async () => {
  const { call, written } = callForTest();
  expect(call.unrecorded).toBeUndefined();
  call.used(used(1));
  call.used(used(2));
  const both = { inputTokens: 2, outputTokens: 4, totalTokens: 6, calls: 3 };
  expect(call.unrecorded).toEqual(both);
  await outcomeOf(call.run(workOf(() => 1)));
  expect(written).toEqual([ended({ output: 1 }, both)]);
  expect(call.unrecorded).toBeUndefined();
});

test("a tool that may not begin does not run, and its caller gets the error once the loop has stopped", async () => {
  const reason = new Error("the server stops");
  const checkMayBegin = () => {
    throw reason;
  };
  const execute = vi.fn();
  const { call, loop } = callForTest({ checkMayBegin });
  const held = Promise.withResolvers<void>();
  void loop.track(held.promise);
  const outcome = call.run(workOf(execute));
  const heard = vi.fn();
  const hears = inTime(Promise.resolve(outcome), "the outcome").catch(heard);
  await new Promise(setImmediate);
  expect(heard).not.toHaveBeenCalled();
  held.resolve();
  await hears;
  expect(heard.mock.calls).toEqual([[expect.any(LoopLeftError)]]);
  expect([loop.signal.aborted, execute.mock.calls]).toEqual([true, []]);
  expect(loop.left).toMatchObject({ reason, isWalkedAgain: true });
});

test("a tool that fails because it was stopped has no outcome", async () => {
  const controller = new AbortController();
  const reason = new Error("stopped");
  const { call, written, loop } = callForTest({ recorder: { signal: controller.signal } });
  const execute = () => {
    controller.abort(reason);
    throw new Error("aborted");
  };
  await expect(outcomeOf(call.run(workOf(execute)))).rejects.toMatchObject({ reason, isWalkedAgain: true });
  expect(written).toEqual([]);
  expect(loop.left).toMatchObject({ reason, isWalkedAgain: true });
});

test.each<[string, () => unknown]>([
  ["output", () => 1n],
  ["value", () => values(1n)],
])("an %s that cannot be recorded fails the loop", async (_, execute) => {
  const { call, loop } = callForTest();
  const result = call.run(workOf(execute));
  const outcome = result instanceof Promise ? outcomeOf(result) : valuesOf(result);
  await expect(outcome).rejects.toBeInstanceOf(LoopLeftError);
  expect(loop.left).toMatchObject({ isWalkedAgain: false });
  expect(String(loop.left?.reason)).toContain(`Output of tool ask#${place}`);
  expect(loop.signal.aborted).toBe(true);
});

function waiting(resumed?: unknown) {
  const waits: [string, CallWait][] = [];
  const resumedWith = (at: string) =>
    at === place && resumed !== undefined ? JSON.stringify(resumed) : undefined;
  const recorder = { waits: { resumedWith, wait: (at: string, wait: CallWait) => waits.push([at, wait]) } };
  const all = callForTest({ recorder: Object(recorder) });
  return { ...all, waits };
}

const inputSchema = { type: "object", properties: { amount: { type: "number" } } } as const;
const outputSchema = { type: "string" } as const;
const schemas = { inputSchema: async () => inputSchema, outputSchema: async () => outputSchema };
const work = (execute: ToolWork["execute"], fields: Partial<ToolWork> = {}) =>
  workOf(execute, { input: { amount: 5 }, ...schemas, ...fields });

test.each<[string, string | undefined, Partial<ToolWork>, Partial<CallWait>]>([
  [
    "its output",
    undefined,
    { isClients: true },
    { reason: "The tool pay waits for its output", resumeSchema: outputSchema },
  ],
  [
    "approval",
    undefined,
    {},
    { reason: "The tool pay needs approval", resumeSchema: decisionSchema(inputSchema) },
  ],
  ["approval, with a reason", "It is a lot", {}, { reason: "It is a lot" }],
  ["approval of a tool that yields", "It is a lot", { yields: true }, { reason: "It is a lot" }],
])("a tool waits for %s", async (_, reason, fields, expected) => {
  const { call, loop, waits } = waiting();
  const execute = vi.fn();
  if (fields.isClients !== true) call.mustBeApproved(reason);
  const result = call.run(work(execute, fields));
  const outcome = result instanceof Promise ? outcomeOf(result) : valuesOf(result);
  await expect(outcome).rejects.toMatchObject({ reason: new CallsWaitError(), isWalkedAgain: true });
  expect(waits).toEqual([[place, expect.objectContaining(expected)]]);
  expect(waits[0]?.[1].data).toEqual({ toolName: "pay", input: { amount: 5 } });
  expect(loop.left?.reason).toBeInstanceOf(CallsWaitError);
  expect(execute).not.toHaveBeenCalled();
});

test("where calls cannot wait, or it needs no approval, a tool runs at once", async () => {
  const { call } = callForTest();
  call.mustBeApproved(undefined);
  expect(await outcomeOf(call.run(work(() => 1)))).toBe(1);
  const free = waiting();
  expect(await outcomeOf(free.call.run(work(() => 2)))).toBe(2);
  expect(free.waits).toEqual([]);
});

test.each<[string, unknown, unknown, unknown[]]>([
  ["as the model asked", { approved: true }, { paid: 5 }, [{ amount: 5 }]],
  [
    "with another input",
    { approved: true, input: { amount: 4 } },
    { paid: 4 },
    [{ parsed: true, amount: 4 }],
  ],
])("a tool that was approved %s runs", async (_, resumed, outcome, inputs) => {
  for (const yields of [false, true]) {
    const { call, written, waits } = waiting(resumed);
    call.mustBeApproved(undefined);
    const execute = vi.fn((input: unknown) => ({ paid: Object(input).amount }));
    const parse = async (input: unknown) => ({ parsed: true, ...Object(input) });
    const result = call.run(work(execute, { parse, yields }));
    if (result instanceof Promise) expect(await outcomeOf(result)).toEqual(outcome);
    else expect(await valuesOf(result)).toEqual([outcome]);
    expect(execute.mock.calls).toEqual([inputs]);
    expect(written).toEqual([ended({ output: outcome })]);
    expect(waits).toEqual([]);
  }
});

test("the values of an approved tool that yields are passed on", async () => {
  const { call, written } = waiting({ approved: true });
  call.mustBeApproved(undefined);
  expect(await valuesOf(call.run(work(() => values(1, 2), { yields: true })))).toEqual([1, 2]);
  expect(written).toEqual([ended({ output: 2 })]);
});

test.each<[string, unknown, string]>([
  ["is denied", { approved: false }, "The call of pay was denied"],
  [
    "is denied with a reason",
    { approved: false, reason: "too much" },
    "The call of pay was denied: too much",
  ],
  ["is not approved in so many words", { approved: "yes" }, "The call of pay was denied"],
])("a call that %s has the denial as its outcome", async (_, resumed, message) => {
  for (const yields of [false, true]) {
    const { call, written } = waiting(resumed);
    call.mustBeApproved(undefined);
    const execute = vi.fn();
    const result = call.run(work(execute, { yields }));
    const outcome = result instanceof Promise ? outcomeOf(result) : valuesOf(result);
    await expect(outcome).rejects.toMatchObject({ message });
    expect(JSON.parse(written[0]?.output ?? "null").error).toMatchObject({ message });
    expect(execute).not.toHaveBeenCalled();
  }
});

test("a decision that is no object is refused, and the output from outside is the outcome", async () => {
  const { call } = waiting(["approved"]);
  call.mustBeApproved(undefined);
  await expect(outcomeOf(call.run(work(() => 1)))).rejects.toEqual(
    new TypeError("The decision on pay: it is not a JSON object"),
  );
  const outside = waiting({ approved: false });
  expect(await outcomeOf(outside.call.run(work(() => 1, { isClients: true })))).toEqual({ approved: false });
  expect(outside.written).toEqual([ended({ output: { approved: false } })]);
});

test("an approved tool does not run when nothing may begin any more", async () => {
  for (const yields of [false, true]) {
    const { call, loop } = waiting({ approved: true });
    call.mustBeApproved(undefined);
    loop.leave(new Error("enough"));
    const execute = vi.fn();
    const result = call.run(work(execute, { yields }));
    const outcome = result instanceof Promise ? outcomeOf(result) : valuesOf(result);
    await expect(outcome).rejects.toMatchObject({ reason: new Error("enough") });
    expect(execute).not.toHaveBeenCalled();
  }
});

test("the schema of a decision has that of the input, unless it refers to its own root", () => {
  const schema = (input: object) => ({
    type: "object",
    properties: {
      approved: { type: "boolean", description: "Whether the tool may run." },
      reason: { type: "string", description: "Why; the model reads it when the call is denied." },
      input,
    },
    required: ["approved"],
    additionalProperties: false,
  });
  expect(decisionSchema({ $schema: "x", type: "object" })).toEqual(schema({ type: "object" }));
  expect(decisionSchema({ properties: { next: { $ref: "#" } } })).toEqual(schema({}));
  expect(new CallsWaitError()).toMatchObject({
    ...{ name: "CallsWaitError", message: "The agent waits" },
  });
});
