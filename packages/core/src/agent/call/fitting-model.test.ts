// Shortening a prompt that is too long: the newest results of tools stay, and the conversation from a user's message on.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { APICallError } from "ai";
import { expect, test } from "vitest";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { fittingModel, halfOf, tokensOf, withoutOldResults } from "./fitting-model.ts";

type Message = LanguageModelV4Prompt[number];

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const assistant = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const result = (value: string): Message => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: "c", toolName: "look", output: { type: "text", value } }],
});
const leftOut = result("[left out: the conversation is too long]");
const long = "word ".repeat(800);

test("the oldest results go first, and the newest stay however long the prompt is", () => {
  const prompt = [user("a"), result(long), result(long), result(long)];
  expect(withoutOldResults(prompt, 2500)).toEqual([prompt[0], leftOut, prompt[2], prompt[3]]);
  expect(withoutOldResults(prompt, 10)).toEqual([prompt[0], leftOut, leftOut, prompt[3]]);
  expect(withoutOldResults(prompt, 10_000)).toBe(prompt);
});

test("half of a conversation begins with a user's message, and holds at least the last one", () => {
  const system: Message = { role: "system", content: "s" };
  const old = [user(long), assistant(long)];
  const newer = [user("b"), assistant("c"), user("d")];
  expect(halfOf([system, ...old, ...newer])).toEqual([system, ...newer]);
  expect(halfOf([system, ...old, user(long.repeat(3))])).toEqual([system, user(long.repeat(3))]);
  expect(halfOf([system, ...old, user("b"), assistant(long.repeat(3))])).toEqual([
    system,
    user("b"),
    assistant(long.repeat(3)),
  ]);
});

test("results that bring the prompt exactly to its limit are enough", () => {
  const prompt = [user("a"), result(long), result(long), result(long)];
  const whole = tokensOf(prompt);
  expect(withoutOldResults(prompt, whole)).toBe(prompt);
  const oneLess = whole - tokensOf([result(long)]) + tokensOf([leftOut]);
  expect(withoutOldResults(prompt, oneLess)).toEqual([prompt[0], leftOut, prompt[2], prompt[3]]);
  expect(withoutOldResults(prompt, oneLess - 1)).toEqual([prompt[0], leftOut, leftOut, prompt[3]]);
});

test("the newest result stays when a message follows it, and so does the answer to an approval", () => {
  const approval: Message = {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "a", approved: true }],
  };
  const prompt = [approval, result(long), result(long), user("b")];
  expect(withoutOldResults(prompt, 10)).toEqual([approval, leftOut, prompt[2], prompt[3]]);
});

test("half of a prompt may be exactly half, and one without a message of the user is not repeated", () => {
  const [big, small] = [user("x".repeat(170)), user("y".repeat(71))];
  expect(tokensOf([big])).toBe(tokensOf([small, small]));
  expect(halfOf([big, small, small])).toEqual([small, small]);
  const system: Message = { role: "system", content: "s" };
  expect(halfOf([system, assistant("c")])).toEqual([system, assistant("c")]);
});

test.each<[string, unknown, number]>([
  ["bytes", new Uint8Array(100_000), 1000],
  ["base64", "Ab9+/=".repeat(10_000), 1000],
  ["a short base64", "A".repeat(9_999), 2500],
  ["an address with its bytes", `data:image/png;base64,${"A".repeat(10_000)}`, 1000],
  ["an address with few bytes", `data:,${"A".repeat(9_993)}`, 2500],
  ["a text", "word ".repeat(10_000), 12_500],
  ["a text with base64 in it", `see: ${"A".repeat(20_000)}`, 5001],
])(
  "the size of a prompt is about that of its text, and a file counts as a thousand tokens: %s",
  (_, data, tokens) => {
    const message: Message = {
      role: "user",
      content: [{ type: "file", mediaType: "image/png", data: Object({ type: "data", data }) }],
    };
    const empty = {
      ...message,
      content: [{ type: "file", mediaType: "image/png", data: { type: "data", data: "" } }],
    };
    expect(tokensOf([message]) - tokensOf(Object([empty]))).toBe(tokens);
  },
);

const prompt = [user("a"), result(long), result("b"), user(long), user("c")];
const half = prompt.slice(3);
const refusal = { url: "http://x", requestBodyValues: {}, isRetryable: false };
const words = "prompt is too long";

test.each<[string, Error, boolean]>([
  ["status 400", new APICallError({ ...refusal, message: words, statusCode: 400 }), true],
  ["status 413", new APICallError({ ...refusal, message: words, statusCode: 413 }), true],
  ["status 422", new APICallError({ ...refusal, message: words, statusCode: 422 }), true],
  ["no status", new APICallError({ ...refusal, message: words }), true],
  ["status 429", new APICallError({ ...refusal, message: words, statusCode: 429 }), false],
  ["the words in the body", new APICallError({ ...refusal, message: "no", responseBody: words }), true],
  [
    "the words far behind in the body",
    new APICallError({ ...refusal, message: "no", responseBody: "x".repeat(9_990) + words }),
    false,
  ],
  ["other words", new APICallError({ ...refusal, message: "no", responseBody: "bad key" }), false],
  ["an error of the host", new Error(words), false],
])("a refusal with %s", async (_, refuse, isAskedAgain) => {
  const logger = new RecordingLogger();
  const model = controlledModel((_, number) => (number % 2 === 1 ? { refuse } : { text: ["yes"] }));
  const fitting = fittingModel(model, undefined, logger);
  for (const call of [
    () => fitting.doGenerate({ prompt, topK: 3 }),
    () => fitting.doStream({ prompt, topK: 3 }),
  ]) {
    if (isAskedAgain) await call();
    else await expect(call()).rejects.toBe(refuse);
    const asked = [{ prompt, topK: 3 }, ...(isAskedAgain ? [{ prompt: half, topK: 3 }] : [])];
    expect(model.asked).toEqual(asked);
    model.asked.length = 0;
  }
  const msg = "the prompt is too long for the model; asking once more with half of it";
  const line = { level: "warn", msg, err: refuse };
  expect(logger.lines).toEqual(isAskedAgain ? [line, line] : []);
});

test("a prompt is shortened to the limit of the agent before it is sent", async () => {
  const model = controlledModel(() => ({ text: ["yes"] }));
  await fittingModel(model, 10, new RecordingLogger()).doGenerate({ prompt });
  expect(model.asked).toEqual([{ prompt: [prompt[0], leftOut, ...prompt.slice(2)] }]);
});
