// A sub-agent as a tool: the model of the agent above hands it a task and reads its reply.
import type { Tool } from "ai";
import { DefinitionError, ReplyTimeoutError } from "../../errors/index.ts";
import { propertyOf } from "../../values/fields.ts";
import type { AnyAgent } from "./any-agent.ts";
import type { CallableAgent } from "./callable-agent.ts";
import { callableAgent } from "./foreign-agent.ts";
import { Operation } from "./operation.ts";
import { plainSchema } from "./plain-schema.ts";
import { SubAgentProgress, type SubAgentView } from "./sub-agent-progress.ts";

const task = plainSchema<{ prompt: string }>(
  {
    type: "object",
    properties: { prompt: { type: "string", description: "The task, with everything needed to do it." } },
    required: ["prompt"],
    additionalProperties: false,
  },
  (input) => (typeof propertyOf(input, "prompt") === "string" ? undefined : "prompt: expected a string"),
);

/** The sub-agents as a tool set, each under its own id. `where` is the agent above, for error messages. */
export function subAgentTools(where: string, agents: readonly AnyAgent[]): Record<string, Tool> {
  const tools: Record<string, Tool> = {};
  for (const agent of agents) {
    const name = agent?.id;
    // What providers accept as the name of a tool.
    if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      throw new DefinitionError({
        where,
        problem: "a sub-agent needs an id of 1 to 64 letters, digits, _ and -",
      });
    }
    if (Object.hasOwn(tools, name)) {
      throw new DefinitionError({ where, problem: `two sub-agents have the id "${name}"` });
    }
    tools[name] = subAgentTool(callableAgent(agent, name));
  }
  return tools;
}

function subAgentTool(agent: CallableAgent): Tool {
  const { id, purpose } = agent;
  const tool: Tool<{ prompt: string }, SubAgentView | string> = {
    description: purpose === "" ? `Gives a task to the agent ${id}.` : purpose,
    inputSchema: task,
    async *execute({ prompt }, { abortSignal, context }) {
      // The operation of the agent above, so that hooks, tools and usage belong to the same call.
      const above: unknown = context;
      const operation = Operation.from(above instanceof Operation ? above : undefined, abortSignal);
      const { stream } = await agent.stream({
        messages: [{ role: "user", content: prompt }],
        operation,
        ...(abortSignal && { abortSignal }),
      });
      const progress = new SubAgentProgress();
      for await (const part of stream) {
        if (part.type === "error") throw operation.loop?.left ?? part.error;
        if (part.type === "abort") throw operation.loop?.left ?? stopReason(abortSignal, operation);
        if (progress.add(part)) yield progress.view;
      }
      yield progress.text;
    },
  };
  return tool;
}

/** Why a sub-agent that was aborted does not reply: its caller left, or the agent's own timeout passed. */
function stopReason(abortSignal: AbortSignal | undefined, { signal }: Operation): unknown {
  if (abortSignal?.aborted) return abortSignal.reason;
  return signal.aborted ? signal.reason : new ReplyTimeoutError();
}
