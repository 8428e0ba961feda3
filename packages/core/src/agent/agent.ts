// Agent: instructions, a model and tools under one name. It is an agent of the AI SDK too, so it works wherever one does.
import { type AgentStreamParameters, generateText, streamText, type ToolSet } from "ai";
import { DefinitionError } from "../errors/index.ts";
import { parseDuration } from "../values/duration.ts";
import {
  type AgentOptions,
  checkAgentOptions,
  defaultApprovalMaxAge,
  defaultSteps,
  defaultWindow,
} from "./call/agent-options.ts";
import type { AnyAgent, AnyOutput, Context } from "./call/any-agent.ts";
import { type CallSettings, checkSettings } from "./call/call-settings.ts";
import {
  type AgentResult,
  type AgentStreamResult,
  type ApprovalSettings,
  CallableAgent,
} from "./call/callable-agent.ts";
import { checkAllowed } from "./call/merge-settings.ts";
import { type AgentExtraParameters, type AgentParameters, prepareCall } from "./call/prepare-call.ts";
import { subAgentTools } from "./call/sub-agent-tool.ts";

/**
 * An agent: instructions, a model and tools under one name.
 *
 * @example
 * ```ts
 * import { Agent } from "@andante/core";
 *
 * export const writer = new Agent({
 *   id: "writer",
 *   purpose: "Writes short posts",
 *   model: "openai/gpt-5",
 *   instructions: "Write one paragraph.",
 * });
 * ```
 */
export class Agent extends CallableAgent implements AnyAgent {
  readonly version = "agent-v1";
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  /** The agent's own tools and its sub-agents. */
  readonly tools: ToolSet;
  readonly subAgents: readonly AnyAgent[];
  readonly maxSteps: number;
  /** How many messages of a conversation the model sees; 0 when none is kept. */
  readonly window: number;
  readonly approval: ApprovalSettings;
  readonly #options: AgentOptions;

  constructor(options: AgentOptions) {
    super();
    const where = checkAgentOptions(options);
    const { id, name = id, purpose = "", subAgents = [], memory = {} } = options;
    this.id = id;
    this.name = name;
    this.purpose = purpose;
    this.subAgents = subAgents;
    this.tools = toolsOf(where, options);
    this.maxSteps = options.maxSteps ?? defaultSteps;
    this.window = memory === false ? 0 : (memory.window ?? defaultWindow);
    this.#options = options;
    const { approvalSecret, approvalMaxAge = defaultApprovalMaxAge } = options;
    this.approval = { secret: approvalSecret, maxAge: parseDuration(approvalMaxAge, where) };
  }

  /** The provider and name of the model. */
  get model(): string {
    const { model } = this.#options;
    return typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
  }

  /** The instructions; null when they are made for each call. */
  get instructions(): string | null {
    const { instructions = "" } = this.#options;
    return typeof instructions === "string" ? instructions : null;
  }

  /** Throws when a setting is outside its range, or one that the host does not leave to callers. */
  checkSettings(settings: CallSettings): void {
    checkSettings(settings);
    checkAllowed(this.id, this.#options.allowProviderOptions ?? {}, settings.providerOptions);
  }

  async generate(call: AgentParameters): Promise<AgentResult> {
    const { settings, failed } = await prepareCall(this, this.#options, call);
    try {
      return await generateText<ToolSet, Context, AnyOutput>(settings);
    } catch (error) {
      await failed(error);
      throw error;
    }
  }

  async stream(
    call: AgentStreamParameters<never, ToolSet> & AgentExtraParameters,
  ): Promise<AgentStreamResult> {
    const { experimental_transform } = call;
    const { settings, failed } = await prepareCall(this, this.#options, call);
    return streamText<ToolSet, Context, AnyOutput>({
      ...settings,
      ...(experimental_transform && { experimental_transform }),
      onError: ({ error }) => failed(error),
      onAbort: () => failed(settings.abortSignal.reason),
    });
  }
}

function toolsOf(where: string, { tools = {}, subAgents = [] }: AgentOptions): ToolSet {
  const asTools = subAgentTools(where, subAgents);
  for (const name of Object.keys(asTools)) {
    if (!Object.hasOwn(tools, name)) continue;
    throw new DefinitionError({ where, problem: `a tool and a sub-agent are both called "${name}"` });
  }
  return { ...tools, ...asTools };
}
