// A workflow with an agent and a tool, for the tests of what is observed.

import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createWorkflow } from "@andante/core";
import { simulateReadableStream, ToolLoopAgent, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";

const usage = (input: number, output: number) => ({
  inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: output, text: output, reasoning: 0 },
});

/** Asks for the tool once, then answers. */
function scriptedModel() {
  return new MockLanguageModelV4({
    modelId: "scripted",
    doStream: async ({ prompt }) => {
      const answered = prompt.some(({ role }) => role === "tool");
      return { stream: simulateReadableStream({ chunks: answered ? answer : question }) };
    },
  });
}

const question: LanguageModelV4StreamPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "tool-call", toolCallId: "call-1", toolName: "weather", input: '{"city":"Paris"}' },
  { type: "finish", finishReason: { unified: "tool-calls", raw: "tool-calls" }, usage: usage(10, 5) },
];

const answer: LanguageModelV4StreamPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "It is 21 degrees." },
  { type: "text-end", id: "1" },
  { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: usage(20, 7) },
];

export interface ForecastOptions {
  /** What the tool does when it is called. Default: it answers 21. */
  readonly lookUp?: (city: string) => unknown;
}

/** Asks an agent, which calls a tool. */
export function forecast({ lookUp = () => ({ degrees: 21 }) }: ForecastOptions = {}) {
  const agent = new ToolLoopAgent({
    id: "forecaster",
    model: scriptedModel(),
    tools: {
      weather: tool({
        description: "Looks up the weather",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => lookUp(city),
      }),
    },
  });
  return createWorkflow({ id: "forecast", input: z.object({ city: z.string() }) })
    .andThen({
      id: "prepare",
      execute: ({ data, logger }) => {
        logger.info({ city: data.city }, "preparing");
        return data;
      },
    })
    .andAgent({ id: "ask", agent, prompt: ({ data }) => `The weather in ${data.city}?` });
}
