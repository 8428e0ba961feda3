// A workflow with an agent and a tool, for the tests of what is observed.
import { createWorkflow } from "@andante/core";
import { ToolLoopAgent, tool } from "ai";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";

/** Asks for the tool once, then says what the weather is. */
const model = () =>
  controlledModel(({ prompt }) =>
    prompt.some(({ role }) => role === "tool")
      ? { text: ["It is 21 degrees."], usage: { input: 20, output: 7 } }
      : {
          calls: [{ id: "call-1", name: "weather", input: { city: "Paris" } }],
          usage: { input: 10, output: 5 },
        },
  );

export interface ForecastOptions {
  /** What the tool does when it is called. Default: it returns 21. */
  readonly lookUp?: (city: string) => unknown;
}

/** Asks an agent, which calls a tool. */
export function forecast({ lookUp = () => ({ degrees: 21 }) }: ForecastOptions = {}) {
  const agent = new ToolLoopAgent({
    id: "forecaster",
    model: model(),
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
