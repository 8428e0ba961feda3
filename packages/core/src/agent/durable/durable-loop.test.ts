// The loop of an agent over its records: what it reads of them, and when it is left.
import { expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { createLogger } from "../../observe/log/logger.ts";
import { DurableLoop } from "./durable-loop.ts";
import type { CallRecorder, EndedCall, RecordedCall } from "./recorder.ts";

/** A loop over these records. */
function loopOver(records: Record<string, RecordedCall>) {
  const written: EndedCall[] = [];
  const recorder: CallRecorder = {
    executionId: "e",
    attempt: 1,
    isEmpty: Object.keys(records).length === 0,
    signal: new AbortController().signal,
    now: () => 0,
    pathOf: (place) => `ask#${place}`,
    read: (place) => records[place],
    checkMayBegin: () => undefined,
    record: async (call) => {
      written.push(call);
    },
    emit: () => undefined,
  };
  return { loop: new DurableLoop(recorder, createLogger({ level: "silent" })), written };
}

const said = (prompt: string): RecordedCall => ({
  call: { kind: "model", model: "m", prompt },
  output: JSON.stringify({ parts: [] }),
  usage: undefined,
});

test("a call of the model that is recorded is walked, and the next one is not", () => {
  const { loop } = loopOver({ "call[0]": said("p") });
  expect(loop.walkModelCall("p")).toEqual({ parts: [] });
  expect(loop.isWalked(0)).toBe(true);
  expect(loop.nextPlace).toBe("call[1]");
  expect(loop.walkModelCall("p")).toBeUndefined();
});

test("the record of an agent that was asked as a whole is not one of the model", () => {
  const whole: RecordedCall = { call: { kind: "agent" }, output: '"text"', usage: undefined };
  expect(loopOver({ "call[0]": whole }).loop.walkModelCall("p")).toBeUndefined();
});

test("what runs is waited for before the loop is left, however it ends", async () => {
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
