// A sub-agent as a tool: the model of the agent above hands it a task and reads its reply, or continues without it.
import type { TextStreamPart, Tool, ToolSet } from "ai";
import { DefinitionError, ReplyTimeoutError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { propertyOf } from "../../values/fields.ts";
import { plainSchema } from "../../values/schema.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { AgentTask, AnyAgent, SubAgentOptions } from "./any-agent.ts";
import type { CallableAgent } from "./callable-agent.ts";
import { callableAgent } from "./foreign-agent.ts";
import { Operation, type OperationContext, operationContext } from "./operation.ts";
import { workflowTool } from "./workflow-tool.ts";

const knownOptions: KnownOptions<SubAgentOptions> = {
  agent: true,
  background: true,
  wake: true,
  timeout: true,
};

export interface SubAgents {
  readonly agents: readonly AnyAgent[];
  /** The tools, each under the id of its agent. */
  readonly tools: Record<string, Tool>;
  readonly tasks: readonly AgentTask[];
}

const task = plainSchema<{ prompt: string }>(
  {
    type: "object",
    properties: { prompt: { type: "string", description: "The task, with everything needed to do it." } },
    required: ["prompt"],
    additionalProperties: false,
  },
  (input) => (typeof propertyOf(input, "prompt") === "string" ? undefined : "prompt: expected a string"),
);

/** `where` is the agent above, for error messages. */
export function subAgentsOf(where: string, given: readonly (AnyAgent | SubAgentOptions)[]): SubAgents {
  const agents: AnyAgent[] = [];
  const tools: Record<string, Tool> = {};
  const tasks: AgentTask[] = [];
  for (const each of given) {
    const agent = isAgent(each) ? each : each.agent;
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
    agents.push(agent);
    const callable = callableAgent(agent, name);
    if (isAgent(each)) {
      tools[name] = subAgentTool(callable);
      continue;
    }
    checkKnownOptions(`${where}, subAgents`, each, knownOptions);
    const { background = false, wake, timeout } = each;
    if (!background) {
      if (wake !== undefined || timeout !== undefined)
        throw new DefinitionError({
          where,
          problem: "wake and timeout of a sub-agent are for background: true",
        });
      tools[name] = subAgentTool(callable);
      continue;
    }
    const workflow = taskOf(each.agent, callable);
    tasks.push({ agent, workflow });
    const description = purposeOf(callable);
    tools[name] = workflowTool(workflow, { mode: "background", wake: wake ?? false, timeout, description });
  }
  return { agents, tools, tasks };
}

function isAgent(given: AnyAgent | SubAgentOptions): given is AnyAgent {
  return propertyOf(given, "generate") !== undefined || propertyOf(given, "agent") === undefined;
}

function taskOf(agent: SubAgentOptions["agent"], { id, purpose }: CallableAgent): WorkflowDefinition {
  const workflow = createWorkflow({ id: `${id}-task`, purpose, input: task }).andAgent({
    ...{ id: "reply", agent },
    prompt: ({ data }) => data.prompt,
  });
  return { ...workflow, onlyChildren: true };
}

function purposeOf({ id, purpose }: CallableAgent): string {
  return purpose === "" ? `Gives a task to the agent ${id}.` : purpose;
}

function subAgentTool(agent: CallableAgent): Tool {
  const tool: Tool<{ prompt: string }, SubAgentView | string, OperationContext> = {
    contextSchema: operationContext,
    description: purposeOf(agent),
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
