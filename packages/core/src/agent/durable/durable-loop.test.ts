// The loop of an agent over its records: the records that it reads, and the reasons to leave it.
import { expect, test, vi } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import type { Logger } from "../../observe/log/logger.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { CallsWaitError } from "./call-waits.ts";
import { DurableLoop } from "./durable-loop.ts";
import type { CallRecorder, EndedCall, RecordedCall } from "./recorder.ts";
import type { ToolWork } from "./tool-call.ts";

/** A loop over these records. */
function loopOver(
  records: Record<string, RecordedCall>,
  checkMayBegin = () => undefined,
  logger: Logger = createLogger({ level: "silent" }),
) {
  const written: EndedCall[] = [];
  const recorder: CallRecorder = {
    executionId: "e",
    attempt: 1,
    isEmpty: Object.keys(records).length === 0,
    signal: new AbortController().signal,
    now: () => 0,
    pathOf: (place) => `ask#${place}`,
    read: (place) => records[place],
    checkMayBegin,
    record: async (call) => {
      written.push(call);
    },
    failed: () => undefined,
    emit: () => undefined,
  };
  return { loop: new DurableLoop(recorder, logger), written };
}

const said = (prompt: string, ...parts: object[]): RecordedCall => ({
  call: { kind: "model", model: "m", prompt },
  output: JSON.stringify({ parts }),
  usage: undefined,
});

const work = (execute: () => unknown): ToolWork => ({
  input: {},
  execute,
  isClients: false,
  yields: false,
  show: () => undefined,
  used: () => undefined,
  parse: (input) => input,
  inputSchema: async () => ({}),
  outputSchema: async () => undefined,
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
  const { loop } = loopOver({ "call[0]": said("p"), "call[1]": said("q") }, undefined, logger);
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
  await expect(loopOver({}, refuse).loop.whole(run)).rejects.toMatchObject({
    reason: new Error("the budget is used"),
  });
  const whole: RecordedCall = { call: { kind: "agent" }, output: '"before"', usage: undefined };
  expect(await loopOver({ "call[0]": whole }, refuse).loop.whole(run)).toBe(whole);
  expect(run).not.toHaveBeenCalled();
  const { loop, written } = loopOver({});
  expect(await loop.whole(run)).toMatchObject({ call: { kind: "agent" }, output: '"text"' });
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
