// The scripted model, asked through the AI SDK as any other model is.
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { ScriptEndedError, scriptedModel } from "./scripted-model.ts";

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
});

test("replies turn by turn and keeps the calls it got", async () => {
  const model = scriptedModel(["one", { text: "two" }]);
  expect((await generateText({ model, prompt: "first" })).text).toBe("one");
  expect((await generateText({ model, prompt: "second" })).text).toBe("two");
  expect(model.calls.map(({ prompt }) => JSON.stringify(prompt).includes("second"))).toEqual([false, true]);
  expect(model.remaining).toBe(0);
});

test("calls tools, and continues with their results", async () => {
  const model = scriptedModel([
    { toolCalls: [{ toolName: "weather", input: { city: "Oslo" } }] },
    ({ prompt }) => `I heard: ${JSON.stringify(prompt).includes("rain in Oslo")}`,
  ]);
  const { text, steps } = await generateText({
    model,
    prompt: "How is the weather?",
    tools: { weather },
    stopWhen: stepCountIs(3),
  });
  expect([text, steps.length]).toEqual(["I heard: true", 2]);
});

test("streams in exactly the pieces of its script, tool calls too", async () => {
  const model = scriptedModel([
    { text: ["Let ", "me see"], toolCalls: [{ toolName: "weather", input: { city: "Rome" } }] },
    "It rains",
  ]);
  const { fullStream } = streamText({ model, prompt: "?", tools: { weather }, stopWhen: stepCountIs(3) });
  const pieces: string[] = [];
  for await (const part of fullStream) {
    if (part.type === "text-delta") pieces.push(part.text);
    if (part.type === "tool-result") pieces.push(String(part.output));
  }
  expect(pieces).toEqual(["Let ", "me see", "rain in Rome", "It", " rains"]);
});

test("replies with objects", async () => {
  const model = scriptedModel([{ object: { city: "Bern" } }]);
  const output = Output.object({ schema: z.object({ city: z.string() }) });
  expect((await generateText({ model, prompt: "?", output })).output).toEqual({ city: "Bern" });
});

test("fails where its script has an error, also in the middle of a stream", async () => {
  const model = scriptedModel([new Error("overloaded"), { text: "half", error: new Error("cut off") }]);
  await expect(generateText({ model, prompt: "?", maxRetries: 0 })).rejects.toThrow("overloaded");
  const { fullStream } = streamText({ model, prompt: "?", onError: () => undefined });
  const types: string[] = [];
  for await (const part of fullStream) types.push(part.type);
  expect(types).toContain("text-delta");
  expect(types).toContain("error");
});

test("fails with a clear error when its script has ended", async () => {
  const model = scriptedModel(["only one"]);
  await generateText({ model, prompt: "first" });
  const again = generateText({ model, prompt: "and now?", maxRetries: 0 });
  await expect(again).rejects.toThrow(ScriptEndedError);
  await expect(generateText({ model, prompt: "and now?", maxRetries: 0 })).rejects.toThrow(
    /has 1 turns and was asked for one more.*and now\?/,
  );
});
