// A model whose calls are recorded: a new call is made and recorded, a recorded one is read.
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { allInTime } from "../../../test/support/in-time.ts";
import type { StoredUsage } from "../../store/usage.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { boundedModel } from "../call/bounded-model.ts";
import { DurableLoop } from "./durable-loop.ts";
import { type RecordedModelParts, recordedModel, usageOf } from "./recorded-model.ts";
import type { CallRecorder, EndedCall, RecordedCall } from "./recorder.ts";

const prompt: LanguageModelV4CallOptions["prompt"] = [
  { role: "user", content: [{ type: "text", text: "hi" }] },
];

const partsWith = (walked: (usage: StoredUsage) => void = () => undefined): RecordedModelParts => ({
  agentId: "asked",
  walked,
  priced: (_, usage) => usage,
});

function recording(records: Record<string, RecordedCall> = {}, mayBegin: () => void = () => undefined) {
  const written: EndedCall[] = [];
  const failures: unknown[] = [];
  const recorder: CallRecorder = {
    ...{ executionId: "e", attempt: 1, isEmpty: false, signal: new AbortController().signal },
    ...{ now: () => 5, pathOf: (place: string) => `ask#${place}`, emit: () => undefined },
    ...{ read: (place: string) => records[place], checkMayBegin: mayBegin },
    usedBelow: () => undefined,
    checkpoints: () => ({
      run: () => Promise.reject(new Error("no checkpoints")),
      inside: undefined,
      settled: undefined,
    }),
    record: async (call) => void written.push(call),
    failed: (reason) => failures.push(reason),
  };
  const gates: unknown[] = [];
  const gate = { pass: async (asked: DurableLoop) => void gates.push(asked), mustStop: async () => false };
  const loop = new DurableLoop(recorder, new RecordingLogger(), gate);
  const plain = controlledModel(() => ({ text: ["he", "llo"] }));
  const walked: unknown[] = [];
  const model = recordedModel(
    boundedModel(plain, 60_000),
    loop,
    partsWith((usage) => walked.push(usage)),
  );
  return { model, plain, loop, written, gates, walked, recorder, failures };
}

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, calls: 1 };
const all = <T>(items: AsyncIterable<T>) => allInTime(items, "the parts");

test("a reply that comes at once is recorded and read again as it was, without another call", async () => {
  const first = recording();
  const result = await first.model.doGenerate({ prompt });
  expect(first.gates).toEqual([first.loop]);
  expect(first.walked).toEqual([]);
  const [record] = first.written;
  expect(record).toEqual({
    place: "call[0]",
    call: {
      kind: "model",
      model: "scripted/scripted",
      agentId: "asked",
      prompt: expect.stringMatching(/^[0-9a-f]{32}$/),
    },
    output: expect.any(String),
    startedAt: 5,
    usage: expect.objectContaining(usage),
  });
  if (record === undefined) throw new Error("not recorded");
  const again = recording({ "call[0]": record });
  const read = await again.model.doGenerate({ prompt });
  expect(JSON.parse(JSON.stringify(read.content))).toEqual(JSON.parse(JSON.stringify(result.content)));
  expect([read.finishReason, read.usage]).toEqual(
    JSON.parse(JSON.stringify([result.finishReason, result.usage])),
  );
  expect([again.plain.asked, again.written, again.gates]).toEqual([[], [], []]);
  expect(again.walked).toEqual([record.usage]);
});

test("a streamed reply is recorded before its end, and read again with whole texts", async () => {
  const first = recording();
  const { stream } = await first.model.doStream({ prompt });
  const parts = await all(stream);
  expect(first.gates).toHaveLength(1);
  expect(parts.flatMap((part) => (part.type === "text-delta" ? part.delta : []))).toEqual(["he", "llo"]);
  const [record] = first.written;
  if (record === undefined) throw new Error("not recorded");
  const again = recording({ "call[0]": record });
  const read = await all((await again.model.doStream({ prompt })).stream);
  expect(read.flatMap((part) => (part.type === "text-delta" ? part.delta : []))).toEqual(["hello"]);
  expect(read.at(-1)?.type).toBe("finish");
  expect(again.plain.asked).toEqual([]);
  expect(again.walked).toHaveLength(1);
});

test.each(["doGenerate", "doStream"] as const)("without leave to begin %s asks no model", async (way) => {
  const { model, plain, loop } = recording({}, () => {
    throw new Error("the budget is used");
  });
  await expect(model[way]({ prompt })).rejects.toMatchObject({ reason: new Error("the budget is used") });
  expect(plain.asked).toEqual([]);
  expect(loop.left?.isWalkedAgain).toBe(true);
});

test("a record that fails ends the stream with an error, in the place of its end", async () => {
  const { model, recorder, failures } = recording();
  const full = new Error("disk full");
  Object.assign(recorder, { record: () => Promise.reject(full) });
  const parts = await all((await model.doStream({ prompt })).stream);
  expect(parts.at(-1)).toEqual({ type: "error", error: expect.objectContaining({ reason: full }) });
  expect(parts.filter(({ type }) => type === "finish")).toEqual([]);
  expect(failures).toEqual([full]);
});

test("the usage of a call has its details where the provider reports them", () => {
  const input = { total: 3, noCache: 1, cacheRead: 2, cacheWrite: undefined };
  const output = { total: 4, text: 1, reasoning: 3 };
  expect(usageOf({ inputTokens: input, outputTokens: output })).toEqual({
    ...{ inputTokens: 3, outputTokens: 4, totalTokens: 7, calls: 1 },
    ...{ cachedInputTokens: 2, reasoningTokens: 3 },
    ...{ inputTokenDetails: { cacheReadTokens: 2 }, outputTokenDetails: { reasoningTokens: 3 } },
  });
});

const usageOfModel = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const finish: LanguageModelV4StreamPart = {
  ...{ type: "finish", finishReason: { unified: "tool-calls", raw: undefined }, usage: usageOfModel },
};
const ours = { type: "tool-call", toolCallId: "t", toolName: "look", input: "{}" } as const;
const theirs = { ...ours, toolCallId: "u", providerExecuted: true } as const;
const start: LanguageModelV4StreamPart = { type: "stream-start", warnings: [] };

test("tool calls wait for the commit with the end; those of the provider, and its errors, do not", async () => {
  const first = recording();
  const failure: LanguageModelV4StreamPart = { type: "error", error: "overloaded" };
  const commit = Promise.withResolvers<void>();
  Object.assign(first.recorder, {
    record: async (call: EndedCall) => {
      first.written.push(call);
      await commit.promise;
    },
  });
  const parts = [start, ours, failure, theirs, finish];
  Object.assign(first.plain, { doStream: async () => ({ stream: ReadableStream.from(parts) }) });
  const model = recordedModel(boundedModel(first.plain, 60_000), first.loop, partsWith());
  const { stream } = await model.doStream({ prompt });
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const part of stream) seen.push(part);
  })();
  await expect.poll(() => first.written).toHaveLength(1);
  expect(seen).toEqual([start, failure, theirs]);
  expect(JSON.parse(first.written[0]?.output ?? "")).toEqual(
    JSON.parse(JSON.stringify({ parts: [start, theirs, ours, finish] })),
  );
  commit.resolve();
  await reading;
  expect(seen).toEqual([start, failure, theirs, ours, finish]);
});

test("the text of a structured reply is recorded where there is one", async () => {
  for (const structured of [{ structuredOutputText: "{}" }, {}]) {
    const first = recording();
    const result = {
      content: [],
      finishReason: { unified: "stop", raw: undefined },
      usage: usageOfModel,
      warnings: [],
    };
    Object.assign(first.plain, { doGenerate: async () => ({ ...result, ...structured }) });
    const model = recordedModel(boundedModel(first.plain, 60_000), first.loop, partsWith());
    await model.doGenerate({ prompt });
    const { parts: _, ...rest } = JSON.parse(first.written[0]?.output ?? "");
    expect(rest).toEqual(structured);
  }
});

test("a model whose stream is not bounded is refused", async () => {
  const { plain, loop } = recording();
  const model = recordedModel(plain, loop, partsWith());
  await expect(model.doStream({ prompt })).rejects.toEqual(new TypeError("the model is not bounded"));
});

test("a reply that JSON cannot hold is refused with the name of its model", async () => {
  const { plain, loop, written } = recording();
  const raw = { type: "custom", kind: "test.card", data: 1n };
  const result = {
    content: [raw],
    finishReason: { unified: "stop", raw: undefined },
    usage: usageOfModel,
    warnings: [],
  };
  Object.assign(plain, { doGenerate: async () => result });
  const model = recordedModel(boundedModel(plain, 60_000), loop, partsWith());
  await expect(model.doGenerate({ prompt })).rejects.toThrow("Reply of model scripted/scripted");
  expect(written).toEqual([]);
});
