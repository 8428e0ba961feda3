// Shortening a prompt that is too long: the newest results of tools stay, and the conversation from a user's message on.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { halfOf, withoutOldResults } from "./fitting-model.ts";

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
