// A sub-agent as a tool: the model of the agent above hands it a task and reads its reply.
import type { TextStreamPart, Tool, ToolSet } from "ai";
import { DefinitionError, ReplyTimeoutError } from "../../errors/index.ts";
import { propertyOf } from "../../values/fields.ts";
import { plainSchema } from "../../values/schema.ts";
import type { AnyAgent } from "./any-agent.ts";
import type { CallableAgent } from "./callable-agent.ts";
import { callableAgent } from "./foreign-agent.ts";
import { Operation, type OperationContext, operationContext } from "./operation.ts";

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
    // The names of tools that providers accept.
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
  const tool: Tool<{ prompt: string }, SubAgentView | string, OperationContext> = {
    contextSchema: operationContext,
    description: purpose === "" ? `Gives a task to the agent ${id}.` : purpose,
    inputSchema: task,
    async *execute({ prompt }, { abortSignal, context }) {
      // The operation of the agent above, so that hooks, tools and usage belong to the same call.
      const operation = Operation.from(context instanceof Operation ? context : undefined, abortSignal);
      const problem = operation.budgetReached?.();
      // A task that continues was allowed when it began.
      if (problem !== undefined && operation.loop?.nextCallIsRecorded !== true) throw problem;
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

/** A tool call of the sub-agent. */
interface SubAgentCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly state: "running" | "done" | "failed";
}

/** A preliminary result of a sub-agent's tool; the last result is its text alone. */
interface SubAgentView {
  readonly text: string;
  readonly toolCalls: readonly SubAgentCall[];
}

/** A text is shown again when it has grown by this many characters and by a quarter: all showings stay linear. */
const minGrowth = 40;

/** The progress of a sub-agent, as readers of the reply above see it. */
export class SubAgentProgress {
  #text = "";
  #shown = 0;
  readonly #calls = new Map<string, SubAgentCall>();

  /** The text of its last step. */
  get text(): string {
    return this.#text;
  }

  get view(): SubAgentView {
    this.#shown = this.#text.length;
    return { text: this.#text, toolCalls: [...this.#calls.values()] };
  }

  /** True when there is something to show. */
  add(part: TextStreamPart<ToolSet>): boolean {
    switch (part.type) {
      case "start-step":
        this.#text = "";
        this.#shown = 0;
        return false;
      case "text-delta":
        this.#text += part.text;
        return this.#text.length - this.#shown >= Math.max(minGrowth, this.#shown / 4);
      case "tool-call":
        return this.#call(part, "running");
      case "tool-result":
        return part.preliminary !== true && this.#call(part, "done");
      case "tool-error":
        return this.#call(part, "failed");
      default:
        return false;
    }
  }

  #call({ toolCallId, toolName, input }: Omit<SubAgentCall, "state">, state: SubAgentCall["state"]): boolean {
    this.#calls.set(toolCallId, { toolCallId, toolName, input, state });
    return true;
  }
}
