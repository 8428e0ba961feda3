// The recorder of a turn: why a call cannot begin or be recorded, in words for the caller.
import { expect, test } from "vitest";
import { OutputLimitError, ReplyStoppedError, ShuttingDownError } from "../../errors/index.ts";
import type { EndedCall } from "../durable/recorder.ts";
import type { TurnEnd } from "./turn-host.ts";
import { TurnRecorder } from "./turn-recorder.ts";

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
const call: EndedCall = { place: "p", call: { kind: "agent" }, output: "1", startedAt: 0, usage };
const tooLong = new OutputLimitError(Object({ path: "p", limit: 1, size: 2 }));

interface Given {
  readonly recorder?: object;
  readonly deferral?: object;
  readonly isAborted?: boolean;
  readonly end?: TurnEnd;
  readonly interrupted?: boolean;
  readonly onlyRecorded?: boolean;
  readonly endsAtOnce?: boolean;
}

function recorderOf(given: Given = {}) {
  const { recorder, deferral = {}, isAborted = false, end = "ended", interrupted = false } = given;
  const { onlyRecorded = false, endsAtOnce = true } = given;
  const events: unknown[] = [];
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void events.push([name, ...args]);
  const record = {
    ...{ attempt: 2, isEmpty: true, now: () => 7, pathOf: (place: string) => `reply#${place}` },
    ...{ read: (place: string) => ({ place }), checkMayBegin: note("checkMayBegin"), failed: note("failed") },
    ...{ emit: note("emit"), record: async (...args: unknown[]) => note("record")(...args), ...recorder },
  };
  const turn = Object({
    ...{
      executionId: "e",
      recorder: record,
      deferral,
      isInterrupted: () => interrupted,
      settled: Promise.resolve(end),
    },
    signal: isAborted ? AbortSignal.abort() : new AbortController().signal,
  });
  const { signal } = new AbortController();
  return { recorder: new TurnRecorder(turn, { signal, onlyRecorded, endsAtOnce }), events, signal };
}

test("its fields and calls are those of the turn", async () => {
  const { recorder, events, signal } = recorderOf();
  expect(recorder).toMatchObject({
    executionId: "e",
    attempt: 2,
    isEmpty: true,
    signal,
    unrecorded: undefined,
  });
  expect([recorder.now(), recorder.pathOf("p"), recorder.read("p")]).toEqual([7, "reply#p", { place: "p" }]);
  recorder.checkMayBegin();
  await recorder.record(call);
  recorder.failed("why");
  recorder.emit("news", 5);
  expect(events).toEqual([["checkMayBegin"], ["record", call], ["failed", "why"], ["emit", "news", 5]]);
});

test("nothing new begins in a turn that is only read, and a stopping process is the reason where it is one", () => {
  const fail = () => {
    throw new Error("full");
  };
  const check = (given: Given) => () => recorderOf(given).recorder.checkMayBegin();
  expect(check({ onlyRecorded: true })).toThrow(new ReplyStoppedError());
  expect(check({ recorder: { checkMayBegin: fail } })).toThrow(new Error("full"));
  expect(check({ recorder: { checkMayBegin: fail }, interrupted: true })).toThrow(new ShuttingDownError());
});

test("a call that is too large is counted all the same; other failures are not", async () => {
  const failing = (error: Error) =>
    recorderOf({ recorder: { record: () => Promise.reject(error) } }).recorder;
  const large = failing(tooLong);
  await expect(large.record(call)).rejects.toBe(tooLong);
  await expect(large.record(call)).rejects.toBe(tooLong);
  expect(large.unrecorded).toMatchObject({ totalTokens: 6, calls: 2 });
  await expect(large.record({ ...call, usage: undefined })).rejects.toBe(tooLong);
  expect(large.unrecorded).toMatchObject({ totalTokens: 6, calls: 2 });
  const broken = failing(new Error("disk full"));
  await expect(broken.record(call)).rejects.toThrow("disk full");
  expect(broken.unrecorded).toBeUndefined();
});

test("a turn that was lost gives its own reason for a write that failed", async () => {
  const record = () => Promise.reject(new Error("no claim"));
  const lost = recorderOf({ recorder: { record }, isAborted: true, end: "stopped" }).recorder;
  await expect(lost.record(call)).rejects.toEqual(new ShuttingDownError());
});

test("the last call of a reply that ends at once may be committed with its end", async () => {
  expect(recorderOf({ endsAtOnce: false }).recorder.deferral).toBeUndefined();
  const deferred: unknown[] = [];
  const ours = {
    ...{ isDeferring: true, defer: (given: unknown) => void deferred.push(given) },
    commit: async () => void deferred.push("commit"),
  };
  const { deferral } = recorderOf({ deferral: ours }).recorder;
  deferral?.defer(call);
  await deferral?.commit();
  expect([deferral?.isDeferring, deferred]).toEqual([true, [call, "commit"]]);
  const { recorder } = recorderOf({
    deferral: {
      defer: () => {
        throw tooLong;
      },
    },
  });
  expect(() => recorder.deferral?.defer(call)).toThrow(tooLong);
  expect(recorder.unrecorded).toMatchObject({ totalTokens: 3, calls: 1 });
});
