// A workflow with an agent and a tool, for the tests of observability.
import { createWorkflow } from "@andante/core";
import { ToolLoopAgent, tool } from "ai";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";

/** Calls the tool once, then replies with the weather. */
const model = () =>
  controlledModel(({ prompt }) =>
    prompt.some(({ role }) => role === "tool")
      ? { text: ["It is 21 degrees."], usage: { input: 20, output: 7 } }
      : {
          calls: [{ id: "call-1", name: "weather", input: { city: "Paris" } }],
          usage: { input: 10, output: 5 },
        },
  );

export interface WeatherWorkflowOptions {
  /** The tool's function. Default: it returns 21. */
  readonly lookUp?: (city: string) => unknown;
}

/** Calls a tool. */
export function weatherAgent({ lookUp = () => ({ degrees: 21 }) }: WeatherWorkflowOptions = {}) {
  return new ToolLoopAgent({
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
}

/** Asks an agent, which calls a tool. */
export function weatherWorkflow(options: WeatherWorkflowOptions = {}) {
  const agent = weatherAgent(options);
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
