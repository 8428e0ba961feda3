// The bound of a model's call: an abort has the name by which the AI SDK knows it, a time limit has its own.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { expect, onTestFinished, test, vi } from "vitest";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { deltas, finish, modelOf } from "../../../test/support/parts-model.ts";
import { ModelFailedError, ModelTimeoutError } from "../../errors/index.ts";
import { boundedModel } from "./bounded-model.ts";

const prompt: LanguageModelV4CallOptions["prompt"] = [
  { role: "user", content: [{ type: "text", text: "hi" }] },
];
const never = () => new Promise<never>(() => undefined);
const silent = () =>
  controlledModel(() => ({ text: ["a", "b"], hold: (piece) => (piece === 1 ? never() : undefined) }));

test.each(["before the call", "during the call"])("an abort %s is an AbortError", async (when) => {
  const controller = new AbortController();
  if (when === "before the call") controller.abort();
  const reply = boundedModel(silent(), 60_000).doGenerate({ prompt, abortSignal: controller.signal });
  const failure = Promise.resolve(reply).catch((error: unknown) => error);
  controller.abort();
  expect(await failure).toMatchObject({ name: "AbortError", message: "The call was aborted" });
});

test("a stream that is aborted ends with an error part, after the earlier parts", async () => {
  const controller = new AbortController();
  const { stream } = await boundedModel(silent(), 60_000).doStream({
    prompt,
    abortSignal: controller.signal,
  });
  const abort = new TransformStream({
    transform(part, parts) {
      parts.enqueue(part);
      if (part.type === "text-delta") controller.abort();
    },
  });
  const parts = await allInTime(stream.pipeThrough(abort), "the end of the stream");
  expect(parts).toContainEqual(expect.objectContaining({ type: "text-delta", delta: "a" }));
  expect(parts.at(-1)).toMatchObject({ type: "error", error: { name: "AbortError" } });
});

test("a model that takes too long is a ModelTimeoutError", async () => {
  await expect(boundedModel(silent(), 20).doGenerate({ prompt })).rejects.toThrow(ModelTimeoutError);
});

test.each(["whole", "streamed"])("a reply that has come is not aborted afterwards: %s", async (how) => {
  const controller = new AbortController();
  const { signal: abortSignal } = controller;
  const model = controlledModel(() => ({ text: ["a"] }));
  const bounded = boundedModel(model, 60_000);
  if (how === "whole") await bounded.doGenerate({ prompt, abortSignal });
  else await allInTime((await bounded.doStream({ prompt, abortSignal })).stream, "the end of the stream");
  controller.abort();
  expect(model.asked[0]?.abortSignal?.aborted).toBe(false);
});

test("a last part that a provider's package makes up for a connection that was cut is a failure", async () => {
  const interrupted = { ...finish, finishReason: { unified: "interrupted", raw: undefined } } as const;
  const used: unknown[] = [];
  const model = boundedModel(modelOf([[...deltas("a"), interrupted]]), 60_000, (usage) => used.push(usage));
  const { stream } = await model.doStream({ prompt });
  const parts = await allInTime(stream, "the end of the stream");
  expect(parts).toContainEqual(expect.objectContaining({ type: "text-delta", delta: "a" }));
  expect(parts.at(-1)).toMatchObject({
    type: "error",
    error: { cause: new Error("the stream ended before its last part") },
  });
  expect(used).toEqual([]);
});

test("the usage of each call is counted when it ends, whole and streamed", async () => {
  const used: unknown[] = [];
  const model = controlledModel(() => ({ text: ["a"] }));
  const bounded = boundedModel(model, 60_000, (usage) => used.push(usage));
  const { usage } = await bounded.doGenerate({ prompt });
  expect(used).toEqual([usage]);
  const streaming = boundedModel(modelOf([[...deltas("a"), finish]]), 60_000, (each) => used.push(each));
  await allInTime((await streaming.doStream({ prompt })).stream, "the end of the stream");
  expect(used).toEqual([usage, finish.type === "finish" && finish.usage]);
});

test("a time limit is named in the error, and its reason is on the model's signal", async () => {
  const model = silent();
  const failure = await Promise.resolve(boundedModel(model, 20).doGenerate({ prompt })).catch(
    (error) => error,
  );
  expect(failure).toEqual(new ModelTimeoutError({ timeout: 20 }));
  expect(model.asked[0]?.abortSignal?.reason).toBe(failure);
});

/** The error of the last part that a model with these parts streams. */
async function lastError(...parts: Parameters<typeof modelOf>[0][number]) {
  const { stream } = await boundedModel(modelOf([parts]), 60_000).doStream({ prompt });
  const last = (await allInTime(stream, "the end of the stream")).at(-1);
  return last?.type === "error" ? last.error : undefined;
}

test("a stream ends with its last part or an error; without either it was cut", async () => {
  const cut = new ModelFailedError({ cause: new Error("the stream ended before its last part") });
  expect(await lastError(...deltas("a"), finish)).toBeUndefined();
  expect(await lastError(...deltas("a"), { type: "error", error: "theirs" })).toBe("theirs");
  expect(await lastError(...deltas("a"))).toEqual(cut);
  expect(await lastError()).toEqual(cut);
});

test("a call that fails, and a reader that leaves, end the wait for the time limit", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const broken = { ...silent(), doStream: () => Promise.reject(new Error("refused")) };
  await expect(boundedModel(broken, 60_000).doStream({ prompt })).rejects.toThrow("refused");
  expect(vi.getTimerCount()).toBe(0);
  const failing = { ...silent(), doGenerate: () => Promise.reject(new Error("refused")) };
  await expect(boundedModel(failing, 60_000).doGenerate({ prompt })).rejects.toThrow("refused");
  expect(vi.getTimerCount()).toBe(0);
  const model = controlledModel(() => ({ text: ["a"] }));
  const { stream } = await boundedModel(model, 60_000).doStream({ prompt });
  expect(vi.getTimerCount()).toBe(1);
  const reason = new Error("left");
  await stream.cancel(reason);
  expect(vi.getTimerCount()).toBe(0);
  expect(model.asked[0]?.abortSignal?.reason).toBe(reason);
  const aborted = boundedModel(silent(), 60_000).doGenerate({ prompt, abortSignal: AbortSignal.abort() });
  await expect(aborted).rejects.toThrow("The call was aborted");
  expect(vi.getTimerCount()).toBe(0);
});

test("a name is a model of the host's own provider", async () => {
  const languageModel = vi.fn(() => controlledModel(() => ({ text: ["a"] })));
  const before = globalThis.AI_SDK_DEFAULT_PROVIDER;
  globalThis.AI_SDK_DEFAULT_PROVIDER = Object({ languageModel });
  onTestFinished(() => {
    globalThis.AI_SDK_DEFAULT_PROVIDER = before;
  });
  const reply = boundedModel("openai/gpt-5", 60_000).doGenerate({ prompt });
  const { content } = await inTime(Promise.resolve(reply), "the reply");
  expect(content).toMatchObject([{ type: "text", text: "a" }]);
  expect(languageModel.mock.calls).toEqual([["openai/gpt-5"]]);
});
