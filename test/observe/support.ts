// A workflow with an agent and a tool, for the tests of what is observed.
import { createWorkflow } from "@andante/core";
import { ToolLoopAgent, tool } from "ai";
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
    doGenerate: async ({ prompt }) => {
      const asked = prompt.some(({ role }) => role === "tool");
      return asked
        ? {
            content: [{ type: "text", text: "It is 21 degrees." }],
            finishReason: { unified: "stop", raw: "stop" },
            usage: usage(20, 7),
            warnings: [],
          }
        : {
            content: [
              { type: "tool-call", toolCallId: "call-1", toolName: "weather", input: '{"city":"Paris"}' },
            ],
            finishReason: { unified: "tool-calls", raw: "tool-calls" },
            usage: usage(10, 5),
            warnings: [],
          };
    },
  });
}

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
