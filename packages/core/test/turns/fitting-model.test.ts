// Prompts that are made to fit the model.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { APICallError, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { halfOf, tokensOf, withoutOldResults } from "../../src/agent/call/fitting-model.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { openStore, startProcess } from "./processes.ts";

const tooLong = (message = "This model's maximum context length is 128000 tokens", statusCode = 400) =>
  new APICallError({ message, url: "http://x", requestBodyValues: {}, statusCode, isRetryable: false });
const roles = (prompt: LanguageModelV4Prompt) => prompt.map(({ role }) => role).join(" ");

test("in a long loop of tools old results are left out, and the newest stays", async () => {
  const model = controlledModel(({ prompt }) => {
    const step = prompt.filter(({ role }) => role === "assistant").length;
    return step < 4 ? { calls: [{ name: "read", id: `c${step}`, input: { step } }] } : { text: ["done"] };
  });
  const read = tool({
    inputSchema: z.object({ step: z.number() }),
    execute: ({ step }) => `page ${step} ${"x".repeat(4000)}`,
  });
  const agent = new Agent({ id: "a", model, tools: { read }, memory: { tokens: 2500 } });
  const { text } = await agent.generate({ prompt: "read all" });
  expect(text).toBe("done");
  const last = model.asked.at(-1)?.prompt ?? [];
  expect(roles(last)).toBe("user assistant tool assistant tool assistant tool assistant tool");
  const said = JSON.stringify(last);
  expect(said).not.toContain("page 0");
  expect(said).toContain("page 3");
  expect(tokensOf(last)).toBeLessThanOrEqual(2500);
  const unbounded = new Agent({ id: "b", model: controlledModel(() => ({ text: ["x"] })), tools: { read } });
  expect((await unbounded.generate({ prompt: "hi" })).text).toBe("x");
});

test("a chat that is too long for the model is asked once more with half of it, and recorded once", async () => {
  const store = await openStore();
  const model = controlledModel(({ prompt }) =>
    tokensOf(prompt) > 600 ? { refuse: tooLong() } : { text: [`saw ${prompt.length}`] },
  );
  const { andante, logger } = startProcess(store, { model });
  const talk = { conversationId: "talk", userId: "ada" };
  for (let n = 0; n < 8; n++) {
    const { text } = await andante.agents.text("clerk", `${n} ${"word ".repeat(100)}`, talk);
    expect(text).toMatch(/^saw \d+$/);
  }
  const last = model.asked.at(-1)?.prompt ?? [];
  expect(last[0]?.role).toBe("user");
  expect(JSON.stringify(last.at(-1))).toContain("7 word");
  expect(logger.messages).toContain("the prompt is too long for the model; asking once more with half of it");
  expect((await andante.conversations.read("talk")).usage.calls).toBe(8);
});

test("one that stays too long fails, and other refusals are not asked again", async () => {
  const logger = new RecordingLogger();
  for (const [refuse, calls] of [
    [tooLong("prompt is too long: 300000 tokens > 200000 maximum"), 2],
    [tooLong("invalid temperature"), 1],
    // An overloaded provider may quote its limits, too.
    [tooLong("maximum context length", 503), 1],
    [tooLong("maximum context length", 413), 2],
  ] as const) {
    const model = controlledModel(() => ({ refuse }));
    await expect(new Agent({ id: "a", model }).generate({ prompt: "hi" })).rejects.toThrow();
    expect(model.asked).toHaveLength(calls);
  }
  expect(logger.messages).toEqual([]);
});

test("half of a prompt begins with a user's message and keeps calls with their results", () => {
  const long = "x".repeat(4000);
  const user = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });
  const call = {
    role: "assistant" as const,
    content: [{ type: "tool-call" as const, toolCallId: "c", toolName: "t", input: {} }],
  };
  const result = {
    role: "tool" as const,
    content: [
      {
        ...{ type: "tool-result" as const, toolCallId: "c", toolName: "t" },
        output: { type: "text" as const, value: long },
      },
    ],
  };
  const system = { role: "system" as const, content: "be brief" };
  const prompt = [system, user(long), call, result, user(long), call, result, user("last")];
  expect(roles(halfOf(prompt))).toBe("system user");
  expect(roles(halfOf([system, user("one"), call, result, call, result]))).toBe(
    "system user assistant tool assistant tool",
  );
  expect(withoutOldResults(prompt, 100_000)).toBe(prompt);
});
