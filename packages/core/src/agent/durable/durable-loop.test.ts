// The loop of an agent over its records: the records that it reads, and the reasons to leave it.
import type { UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { loopOver, workOf as work } from "../../../test/support/loop-for-test.ts";
import { OutputLimitError } from "../../errors/index.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import { CallsWaitError } from "./call-waits.ts";
import type { RecordedCall } from "./recorder.ts";

const said = (prompt: string, ...parts: object[]): RecordedCall => ({
  call: { kind: "model", model: "m", prompt },
  output: JSON.stringify({ parts }),
  usage: undefined,
});

test("a call of the model that is recorded is walked, and the next one is not", () => {
  const { loop } = loopOver({ "call[0]": said("p") });
  expect(loop.walkModelCall("p")).toEqual({ parts: [] });
  expect(loop.isWalked(0)).toBe(true);
  expect(loop.nextPlace).toBe("call[1]");
  expect(loop.walkModelCall("p")).toBeUndefined();
});

test("a prompt that is not the recorded one is worth one warning, and the record is used", () => {
  const logger = new RecordingLogger();
  const { loop } = loopOver({ "call[0]": said("p"), "call[1]": said("q") }, { logger });
  expect(loop.walkModelCall("other")).toEqual({ parts: [] });
  expect(loop.walkModelCall("another")).toEqual({ parts: [] });
  expect(logger.lines).toEqual([
    {
      ...{ level: "warn", stepPath: "ask#call[0]" },
      msg: "the prompt differs from the one whose reply is recorded; the record is used",
    },
  ]);
});

test("the record of an agent that was asked as a whole is not one of the model", () => {
  const whole: RecordedCall = { call: { kind: "agent" }, output: '"text"', usage: undefined };
  expect(loopOver({ "call[0]": whole }).loop.walkModelCall("p")).toBeUndefined();
});

test("messages that steer and are too long for a record wait for replies of their own; another failure leaves the loop", async () => {
  const message: UIMessage = { id: "u2", role: "user", parts: [{ type: "text", text: "in green" }] };
  const waiting = async () => [message];
  const failing = (error: Error) => loopOver({}, { recorder: { record: () => Promise.reject(error) } }).loop;
  const long = failing(new OutputLimitError({ subject: "It", size: 2, limit: 1, option: "limits.output" }));
  expect([await long.steered(waiting), long.left]).toEqual([[], undefined]);
  const broken = failing(new Error("broken"));
  await expect(broken.steered(waiting)).rejects.toBeInstanceOf(LoopLeftError);
  const { loop, written } = loopOver({});
  expect(await loop.steered(waiting)).toEqual([message]);
  expect(written).toMatchObject([{ place: "call[0].steering", output: JSON.stringify([message]) }]);
});

test("leaving the loop waits for running work, however it ends", async () => {
  const { loop } = loopOver({});
  const [good, bad] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const stopped = new Promise((resolve) => loop.signal.addEventListener("abort", resolve));
  const tracked = [loop.track(good.promise), loop.track(bad.promise)];
  const left = loop.leave(new Error("enough"));
  good.resolve("done");
  await tracked[0];
  await new Promise(setImmediate);
  expect(loop.signal.aborted).toBe(false);
  bad.reject(new Error("broken"));
  await expect(tracked[1]).rejects.toThrow("broken");
  await inTime(stopped, "the end of the loop");
  expect(loop.signal.reason).toBe(left);
});

test("calls beside one that waits may begin until the loop has stopped; after any other reason none may", async () => {
  const waiting = loopOver({}).loop;
  const tool = Promise.withResolvers<void>();
  const tracked = waiting.track(tool.promise);
  const stopped = new Promise((resolve) => waiting.signal.addEventListener("abort", resolve));
  const left = waiting.leave(new CallsWaitError());
  expect(() => waiting.checkMayBegin()).not.toThrow();
  tool.resolve();
  await tracked;
  await inTime(stopped, "the end of the loop");
  expect(() => waiting.checkMayBegin()).toThrow(left);
  const failing = loopOver({}).loop;
  const held = Promise.withResolvers<void>();
  const running = failing.track(held.promise);
  const failed = failing.leave(new Error("enough"));
  expect(() => failing.checkMayBegin()).toThrow(failed);
  held.resolve();
  await running;
});

test("an agent that is asked as a whole is not asked when nothing may begin, and need not be when it is recorded", async () => {
  const refuse = () => {
    throw new Error("the budget is used");
  };
  const run = vi.fn(async () => ({ output: '"text"', usage: undefined }));
  await expect(loopOver({}, { checkMayBegin: refuse }).loop.whole("a", run)).rejects.toMatchObject({
    reason: new Error("the budget is used"),
  });
  const whole: RecordedCall = { call: { kind: "agent" }, output: '"before"', usage: undefined };
  expect(await loopOver({ "call[0]": whole }, { checkMayBegin: refuse }).loop.whole("a", run)).toBe(whole);
  expect(run).not.toHaveBeenCalled();
  const { loop, written } = loopOver({});
  expect(await loop.whole("a", run)).toMatchObject({ call: { kind: "agent" }, output: '"text"' });
  expect(written).toMatchObject([{ place: "call[0]", output: '"text"' }]);
});

test("calls with the same id are distinguished once the first has run", async () => {
  const asked = { type: "tool-call", toolCallId: "t", toolName: "look", input: "{}" };
  const { loop } = loopOver({ "call[0]": said("p", asked, asked) });
  loop.walkModelCall("p");
  const first = loop.toolCall("t", "look");
  expect(loop.toolCall("t", "look"), "it has not run").toBe(first);
  await first.run(work(() => "seen"));
  const second = loop.toolCall("t", "look");
  expect([first.place, second.place]).toEqual(["call[0].tool[0]", "call[0].tool[1]"]);
  await second.run(work(() => "seen"));
  expect(loop.toolCall("t", "look"), "there are no more").toBe(second);
});

test("a call that a person has approved before the first of the model is the same after it has run", async () => {
  const { loop } = loopOver({});
  const call = loop.toolCall("t", "remove");
  await call.run(work(() => "gone"));
  expect(loop.toolCall("t", "remove")).toBe(call);
});

test("calls that no call of the model asked for have a place each, and are found again by their ids", async () => {
  const done = { output: '"gone"', usage: undefined };
  const recorded = (toolCallId: string): RecordedCall => ({
    call: { kind: "tool", toolName: "remove", toolCallId },
    ...done,
  });
  const places = (records: Record<string, RecordedCall>, ...ids: string[]) => {
    const { loop } = loopOver(records);
    return ids.map((id) => loop.toolCall(id, "remove").place.replace(/^.*tool/, "tool"));
  };
  const [place] = [loopOver({}).loop.toolCall("t", "remove").place];
  const at = (position: number) => place.replace("tool[0]", `tool[${position}]`);
  expect(places({}, "t", "u", "t", "v")).toEqual(["tool[0]", "tool[1]", "tool[0]", "tool[2]"]);
  const known = { [at(0)]: recorded("t"), [at(1)]: recorded("u") };
  expect(places(known, "u", "t", "v")).toEqual(["tool[1]", "tool[0]", "tool[2]"]);
});

test("the outcome of a tool that promises values is the last of them", async () => {
  const { loop, written } = loopOver({});
  async function* values() {
    yield "one";
    yield "two";
  }
  const outcome = loop.toolCall("t", "count").run(work(async () => values()));
  expect(await outcome).toBe("two");
  expect(JSON.stringify(written)).toContain("two");
});

const asked = (toolCallId: string) => ({ type: "tool-call", toolCallId, toolName: "look", input: "{}" });
const call = {
  call: { kind: "model", model: "m", prompt: "p" },
  output: "{}",
  startedAt: 1,
  usage: undefined,
} as const;
const outcome: RecordedCall = {
  call: { kind: "tool", toolName: "look", toolCallId: "t" },
  output: '{"output":1}',
  usage: undefined,
};

test("the next call is recorded as a whole once all its tools are", () => {
  const reply = said("p", asked("t"), asked("u"));
  const isRecorded = (records: Record<string, RecordedCall>) => {
    const { loop } = loopOver(records);
    return [loop.nextCallIsRecorded, loop.nextIsRecorded];
  };
  const [first, second] = ["call[0].tool[0]", "call[0].tool[1]"];
  expect(isRecorded({})).toEqual([false, false]);
  expect(isRecorded({ "call[0]": said("p") })).toEqual([true, true]);
  expect(isRecorded({ "call[0]": reply })).toEqual([true, false]);
  expect(isRecorded({ "call[0]": reply, [first]: outcome })).toEqual([true, false]);
  expect(isRecorded({ "call[0]": reply, [first]: outcome, [second]: outcome })).toEqual([true, true]);
  expect(isRecorded({ "call[0]": { ...reply, output: undefined } })).toEqual([true, false]);
});

test("places count the calls, and those of a sub-agent are below its tool", async () => {
  const { loop, written } = loopOver({});
  expect([loop.nextPlace, loop.calls, loop.placeOf(4)]).toEqual(["call[0]", 0, "call[4]"]);
  await loop.recordModelCall(call, { parts: [] });
  expect([loop.nextPlace, loop.calls, loop.isWalked(0)]).toEqual(["call[1]", 1, false]);
  const inner = loop.inside("call[0].tool[1]");
  expect([inner.nextPlace, inner.logger, inner.recorder]).toEqual([
    ...["call[0].tool[1].call[0]", loop.logger, loop.recorder],
  ]);
  expect(inner.toolCall("t", "look").place).toBe("call[0].tool[1].start.tool[0]");
  await inner.recordModelCall(call, { parts: [] });
  expect(written).toEqual([
    { ...call, place: "call[0]" },
    { ...call, place: "call[0].tool[1].call[0]" },
  ]);
});

test("a step is live once one of its calls was made here", async () => {
  const { loop } = loopOver({ "call[0]": said("p") });
  expect(loop.isLive).toBe(false);
  loop.walkModelCall("p");
  expect(loop.isLive).toBe(false);
  await loop.recordModelCall(call, { parts: [] });
  expect(loop.isLive).toBe(true);
  const other = loopOver({ "call[0]": said("p", asked("t")) }).loop;
  other.walkModelCall("p");
  await other.toolCall("t", "look").run(work(() => 1));
  expect(other.isLive).toBe(true);
});

const toolReply = { parts: [Object(asked("t"))] };

test("only the last reply of the agent itself is committed later", async () => {
  const deferred: unknown[] = [];
  const deferral = { isDeferring: false, defer: (each: unknown) => deferred.push(each), commit: vi.fn() };
  const { loop, written } = loopOver({}, { recorder: { deferral: Object(deferral) } });
  await loop.recordModelCall(call, toolReply);
  expect([written.length, deferred.length]).toEqual([1, 0]);
  await loop.inside("call[0].tool[0]").recordModelCall(call, { parts: [] });
  expect([written.length, deferred.length]).toEqual([2, 0]);
  await loop.recordModelCall(call, { parts: [] });
  expect(written).toHaveLength(2);
  expect(deferred).toEqual([{ ...call, place: "call[1]" }]);
  expect(loop.nextPlace).toBe("call[2]");
});

test("a call that cannot be recorded or committed leaves the loop", async () => {
  const reason = new Error("disk full");
  const fail = () => {
    throw reason;
  };
  const failed = vi.fn();
  const reject = async () => fail();
  const recording = loopOver({}, { recorder: { record: reject, failed } }).loop;
  await expect(recording.recordModelCall(call, { parts: [] })).rejects.toMatchObject({ reason });
  expect(recording.left).toMatchObject({ reason, isWalkedAgain: false });
  expect(failed.mock.calls).toEqual([[reason]]);
  const deferral = { isDeferring: true, defer: fail, commit: reject };
  const deferring = loopOver({}, { recorder: { deferral } }).loop;
  await expect(deferring.recordModelCall(call, { parts: [] })).rejects.toMatchObject({ reason });
  expect(deferring.left).toMatchObject({ reason });
  const committing = loopOver({}, { recorder: { deferral } }).loop;
  await expect(committing.passGate()).rejects.toMatchObject({ reason });
  expect(committing.left).toMatchObject({ reason });
});

test("nothing is committed where nothing waits, and the gate is asked after the commit", async () => {
  const order: string[] = [];
  const commit = async () => {
    order.push("commit");
  };
  const gate = { pass: async () => void order.push("gate"), mustStop: async () => false };
  const waiting = { isDeferring: true, defer: () => undefined, commit };
  const { loop } = loopOver({}, { gate, recorder: { deferral: waiting } });
  await loop.passGate();
  expect(order).toEqual(["commit", "gate"]);
  await loop.inside("x").passGate();
  expect(order).toEqual(["commit", "gate", "commit", "gate"]);
  const none = loopOver({}, { gate, recorder: { deferral: { ...waiting, isDeferring: false } } }).loop;
  await none.passGate();
  expect(order).toHaveLength(5);
  await loopOver({}, {}).loop.passGate();
});

test("an agent that is asked as a whole passes the gate, and the next call has the next place", async () => {
  const gate = { pass: vi.fn(async () => undefined), mustStop: async () => true };
  const { loop, written } = loopOver({}, { gate, recorder: { now: () => 7 } });
  const ended = await loop.whole("a", async () => ({ output: '"text"', usage: undefined }));
  const whole = { call: { kind: "agent", agentId: "a" }, output: '"text"', usage: undefined };
  expect(ended).toEqual(whole);
  expect(written).toEqual([{ ...whole, place: "call[0]", startedAt: 7 }]);
  expect(gate.pass.mock.calls).toEqual([[loop]]);
  expect(loop.nextPlace).toBe("call[1]");
  const known = loopOver({ "call[0]": { ...outcome, call: { kind: "agent" } } }, { gate }).loop;
  await known.whole("a", () => Promise.reject(new Error("asked")));
  expect(gate.pass).toHaveBeenCalledTimes(1);
  expect(known.nextPlace).toBe("call[1]");
});

test.each<[string, unknown[][], unknown[], number]>([
  ["the first failure stays", [["a"], ["b"]], ["a", false], 2],
  ["a failure replaces a reason to walk again", [["a", true], ["b"]], ["b", false], 1],
  ["a reason to walk again does not replace a failure", [["a"], ["b", true]], ["a", false], 1],
  [
    "the first of two reasons to walk again stays",
    [
      ["a", true],
      ["b", true],
    ],
    ["a", true],
    0,
  ],
  ["any reason replaces a wait", [["wait"], ["b", true]], ["b", true], 0],
  ["a wait replaces a wait, and is walked again", [["wait"]], ["wait", true], 0],
])("of several reasons to leave the loop: %s", (_, reasons, [reason, isWalkedAgain], failures) => {
  const failed = vi.fn();
  const { loop } = loopOver({}, { recorder: { failed } });
  const wait = new CallsWaitError();
  for (const [given, again] of reasons)
    Reflect.apply(loop.leave, loop, [
      given === "wait" ? wait : given,
      ...(again === undefined ? [] : [again]),
    ]);
  const expected = reason === "wait" ? wait : reason;
  expect(loop.left).toMatchObject({ reason: expected, isWalkedAgain });
  expect(failed).toHaveBeenCalledTimes(failures);
});

test("nothing new begins after the recorder refused it, which may be tried again later", () => {
  const reason = new Error("the server stops");
  const failed = vi.fn();
  const { loop } = loopOver(
    {},
    {
      checkMayBegin: () => {
        throw reason;
      },
      recorder: { failed },
    },
  );
  expect(() => loop.checkMayBegin()).toThrow(expect.objectContaining({ reason, isWalkedAgain: true }));
  expect(failed).not.toHaveBeenCalled();
  expect(() => loopOver({}).loop.checkMayBegin()).not.toThrow();
});

test("the wait for tools ends with the last of them, or after its time", async () => {
  const { loop } = loopOver({});
  await inTime(loop.toolsEnded(100_000), "the end of no tool");
  const held = Promise.withResolvers<void>();
  void loop.track(held.promise);
  await inTime(loop.toolsEnded(1), "the end of the time");
  const waiting = loop.toolsEnded(100_000);
  held.resolve();
  await inTime(waiting, "the end of the tool");
  const failing = loop.track(Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  await inTime(loop.toolsEnded(100_000), "the end of no tool");
});

test("the outcomes of the tools of the last call are known by their ids", async () => {
  const { loop } = loopOver({ "call[0]": said("p", asked("t"), asked("u")), "call[0].tool[0]": outcome });
  expect(loop.endedTools).toEqual(new Map());
  loop.walkModelCall("p");
  loop.toolCall("t", "look");
  loop.toolCall("u", "look");
  expect(loop.endedTools).toEqual(new Map([["t", '{"output":1}']]));
  expect(loop.toolCall("t", "look").isWalked).toBe(true);
  expect(loop.toolCall("u", "look").isWalked).toBe(false);
});
