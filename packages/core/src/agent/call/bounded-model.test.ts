// The bound of a model's call: an abort has the name by which the AI SDK knows it, a time limit has its own.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { allInTime } from "../../../test/support/in-time.ts";
import { deltas, finish, modelOf } from "../../../test/support/parts-model.ts";
import { ModelTimeoutError } from "../../errors/index.ts";
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
