// Agent: instructions, a model and tools under one name. It is an agent of the AI SDK too, so it goes wherever one does.
import { randomBytes } from "node:crypto";
import {
  type AgentStreamParameters,
  type GenerateTextResult,
  generateText,
  type LanguageModel,
  type StreamTextResult,
  streamText,
  type ToolApprovalConfiguration,
  type ToolChoice,
  type ToolSet,
} from "ai";
import { DefinitionError } from "../errors/index.ts";
import type { AnyAgent, AnyOutput, Context } from "./any-agent.ts";
import { type CallSettings, checkSettings } from "./call/call-settings.ts";
import type { AgentHooks } from "./call/hooks.ts";
import type { Operation, OperationContext } from "./call/operation.ts";
import { type Call, prepareCall } from "./call/prepare-call.ts";
import { subAgentTools } from "./call/sub-agent-tool.ts";

export interface AgentOptions extends Omit<CallSettings, "maxSteps"> {
  /** Names the agent in addresses. */
  readonly id: string;
  /** Default: the id. */
  readonly name?: string;
  /** What it is for; sub-agents are chosen by it. Default: "". */
  readonly purpose?: string;
  /** What the model is told first, or a function of the operation that makes it. Default: nothing. */
  readonly instructions?: string | ((context: OperationContext) => string | Promise<string>);
  /** A model of any provider package of the AI SDK. */
  readonly model: LanguageModel;
  /** A tool set of the AI SDK. The `context` in a tool's execution options is the operation's. Default: none. */
  readonly tools?: ToolSet;
  /** Whether and which tool the model must call. Default: it chooses. */
  readonly toolChoice?: ToolChoice<ToolSet>;
  /** Which tool calls need a person's word first. Default: none. */
  readonly toolApproval?: ToolApprovalConfiguration<ToolSet, Context>;
  /**
   * Signs requests for approval that are kept by the client alone, so that nobody can make one up. Give one to accept
   * answers after a restart or on another node. Default: a random one.
   */
  readonly approvalSecret?: string;
  /** Agents that this one can hand tasks to, each as a tool named by its id. Default: none. */
  readonly subAgents?: readonly AnyAgent[];
  /** How many messages of a conversation the model sees; false keeps no conversation at all. Default: 50. */
  readonly memory?: false | { readonly window?: number };
  /** Model calls in one answer at most. Default: 20. */
  readonly maxSteps?: number;
  /** How often a call that failed for a passing reason is tried again. Default: 2. */
  readonly maxRetries?: number;
  /** Milliseconds for one call of the model. Default: 300 000. */
  readonly timeout?: number;
  readonly hooks?: AgentHooks;
}

/** What a call may carry beside what every agent of the AI SDK takes. */
export interface AgentCall {
  /** Default: an operation of nobody. */
  readonly operation?: Operation | undefined;
  readonly settings?: CallSettings | undefined;
  /** The shape of the answer. Default: text. */
  readonly output?: AnyOutput | undefined;
  /** Sign requests for approval and take only signed ones. Default: false. */
  readonly signed?: boolean | undefined;
}

const defaultWindow = 50;
const defaultSteps = 20;
const mostSteps = 1000;

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
export class Agent implements AnyAgent {
  readonly version = "agent-v1";
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  /** The agent's own tools and its sub-agents. */
  readonly tools: ToolSet;
  readonly subAgents: readonly AnyAgent[];
  readonly maxSteps: number;
  /** Messages of a conversation that the model sees; 0 when none is kept. */
  readonly window: number;
  readonly #options: AgentOptions;
  readonly #secret: string | Uint8Array;

  constructor(options: AgentOptions) {
    const where = checkAgent(options);
    const { id, name = id, purpose = "", subAgents = [], memory = {} } = options;
    this.id = id;
    this.name = name;
    this.purpose = purpose;
    this.subAgents = subAgents;
    this.tools = toolsOf(where, options);
    this.maxSteps = options.maxSteps ?? defaultSteps;
    this.window = memory === false ? 0 : (memory.window ?? defaultWindow);
    this.#options = options;
    this.#secret = options.approvalSecret ?? randomBytes(32);
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

  async generate(call: Call): Promise<GenerateTextResult<ToolSet, Context, AnyOutput>> {
    const { settings, failed } = await prepareCall(this, this.#options, this.#secret, call);
    try {
      return await generateText<ToolSet, Context, AnyOutput>(settings);
    } catch (error) {
      await failed(error);
      throw error;
    }
  }

  async stream(
    call: AgentStreamParameters<never, ToolSet> & AgentCall,
  ): Promise<StreamTextResult<ToolSet, Context, AnyOutput>> {
    const { experimental_transform } = call;
    const { settings, failed } = await prepareCall(this, this.#options, this.#secret, call);
    return streamText<ToolSet, Context, AnyOutput>({
      ...settings,
      ...(experimental_transform && { experimental_transform }),
      onError: ({ error }) => failed(error),
      onAbort: () => failed(settings.abortSignal.reason),
    });
  }
}

function toolsOf(where: string, { tools = {}, subAgents = [] }: AgentOptions): ToolSet {
  const asTools = subAgentTools(where, subAgents, (agent, prompt, operation, abortSignal) => {
    const call = { prompt, ...(abortSignal && { abortSignal }) };
    return agent instanceof Agent ? agent.generate({ ...call, operation }) : agent.generate(call);
  });
  for (const name of Object.keys(asTools)) {
    if (!Object.hasOwn(tools, name)) continue;
    throw new DefinitionError({ where, problem: `a tool and a sub-agent are both called "${name}"` });
  }
  return { ...tools, ...asTools };
}

/** Refuses, while the host defines, what could never work; answers how errors name the agent. */
function checkAgent(options: AgentOptions): string {
  const { id, model, instructions, memory, timeout, maxRetries, maxSteps, ...settings } = options;
  if (typeof id !== "string" || id === "" || id === "." || id === "..") {
    throw new DefinitionError({ where: "Agent", problem: "it needs an id that an address can hold" });
  }
  const where = `Agent "${id}"`;
  const refuse = (problem: string) => {
    throw new DefinitionError({ where, problem });
  };
  if (typeof model !== "string" && typeof model?.doGenerate !== "function")
    refuse("model is no language model");
  if (instructions !== undefined && !["string", "function"].includes(typeof instructions)) {
    refuse("instructions must be a text or a function");
  }
  const isCount = (value: unknown, least: number) => Number.isInteger(value) && Number(value) >= least;
  if (memory && memory.window !== undefined && !isCount(memory.window, 1))
    refuse("memory.window must be 1 or more");
  if (timeout !== undefined && !isCount(timeout, 1)) refuse("timeout must be 1 millisecond or more");
  if (maxRetries !== undefined && !isCount(maxRetries, 0)) refuse("maxRetries must be 0 or more");
  try {
    checkSettings({ ...settings, maxSteps }, mostSteps);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
  return where;
}
