// A sub-agent as a tool: the model of the agent above hands it a task and reads its answer.
import { jsonSchema, type Tool, tool } from "ai";
import { DefinitionError } from "../../errors/index.ts";
import type { AnyAgent } from "./any-agent.ts";
import { Operation } from "./operation.ts";

/** How a sub-agent is asked; ours take the operation too, so that hooks, tools and usage belong to the same call. */
export type AskSubAgent = (
  agent: AnyAgent,
  prompt: string,
  operation: Operation | undefined,
  signal: AbortSignal | undefined,
) => PromiseLike<{ readonly text: string }>;

const task = jsonSchema<{ prompt: string }>({
  type: "object",
  properties: { prompt: { type: "string", description: "The task, with everything needed to do it." } },
  required: ["prompt"],
  additionalProperties: false,
});

/** The sub-agents as a tool set, each under its own id. */
export function subAgentTools(
  where: string,
  agents: readonly AnyAgent[],
  ask: AskSubAgent,
): Record<string, Tool> {
  const tools: Record<string, Tool> = {};
  for (const agent of agents) {
    const name = agent?.id;
    // What providers take as the name of a tool.
    if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      throw new DefinitionError({
        where,
        problem: "a sub-agent needs an id of 1 to 64 letters, digits, _ and -",
      });
    }
    if (Object.hasOwn(tools, name)) {
      throw new DefinitionError({ where, problem: `two sub-agents have the id "${name}"` });
    }
    tools[name] = tool({
      description: descriptionOf(agent),
      inputSchema: task,
      execute: async ({ prompt }, { abortSignal, context }) => {
        const operation: unknown = context;
        const { text } = await ask(
          agent,
          prompt,
          operation instanceof Operation ? operation : undefined,
          abortSignal,
        );
        return text;
      },
    });
  }
  return tools;
}

function descriptionOf(agent: AnyAgent): string {
  const purpose = "purpose" in agent && typeof agent.purpose === "string" ? agent.purpose : "";
  return purpose === "" ? `Gives a task to the agent ${agent.id}.` : purpose;
}
