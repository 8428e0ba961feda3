// The options of an agent, and the checks of a definition.
import type {
  Instructions,
  LanguageModel,
  PrepareStepFunction,
  StopCondition,
  ToolApprovalConfiguration,
  ToolCallRepairFunction,
  ToolChoice,
  ToolSet,
} from "ai";
import { DefinitionError } from "../../errors/index.ts";
import { checkDefinedUrlId } from "../../values/check-id.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import type { Duration } from "../../values/duration.ts";
import { propertyOf } from "../../values/fields.ts";
import type { AnyAgent, AnyOutput, Context } from "./any-agent.ts";
import { type AgentBudget, checkBudget } from "./budget.ts";
import { type CallSettings, checkSettings } from "./call-settings.ts";
import { type AgentHooks, knownHooks } from "./hooks.ts";
import { type AllowedProviderOptions, isAllowList } from "./merge-settings.ts";
import type { ConvertDataPart, MakeTitle, MemoryOptions, MessageMetadata } from "./message-options.ts";
import type { OperationContext } from "./operation.ts";
import { type AgentTimeout, checkTimeout } from "./timeouts.ts";

/** A value, or a function of the operation that makes it for each reply. */
export type PerOperation<Value> = Value | ((context: OperationContext) => Value | Promise<Value>);

export interface AgentOptions extends Omit<CallSettings, "maxSteps"> {
  /** Identifies the agent in addresses. */
  readonly id: string;
  /** Default: the id. */
  readonly name?: string;
  /** Its purpose; a model chooses sub-agents by it. Default: "". */
  readonly purpose?: string;
  /** The AI SDK's name of `purpose`, which counts where both are given. Default: none. */
  readonly description?: string;
  /**
   * The system prompt: a string, or the AI SDK's system messages with provider options, such as for prompt caching; or a
   * function of the operation that makes it. Default: none.
   */
  readonly instructions?: PerOperation<Instructions>;
  /** A model of any provider package of the AI SDK, or a function of the operation that chooses it. */
  readonly model: PerOperation<LanguageModel>;
  /**
   * A tool set of the AI SDK, or a function of the operation that makes it. The `context` in a tool's execution options
   * is that of `toolsContext`, else the operation. Default: none.
   */
  readonly tools?: PerOperation<ToolSet>;
  /**
   * The `context` of single tools by their name, such as a key or a client, or a function of the operation that makes
   * it. A tool's `contextSchema` validates it. Default: every tool gets the operation.
   */
  readonly toolsContext?: PerOperation<Readonly<Record<string, unknown>>>;
  /** The order in which the model gets the tools; those that are left out follow by name. Default: that of `tools`. */
  readonly toolOrder?: readonly string[];
  /** Maximum tool calls of a step that run at once. Default: all of them. */
  readonly toolCallConcurrency?: number;
  /** HTTP headers of each model call, for providers that use HTTP. Default: none. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Which of the tools the model sees. Default: all. */
  readonly activeTools?: readonly string[];
  /** Whether and which tool the model must call. Default: it chooses. */
  readonly toolChoice?: ToolChoice<ToolSet>;
  /** Changes the settings of single steps, as the AI SDK has it. Runs again when a reply continues after a crash. */
  readonly prepareStep?: PrepareStepFunction<ToolSet, Context>;
  /** Further conditions that end the loop of tools, as the AI SDK has them. Default: only `maxSteps`. */
  readonly stopWhen?: StopCondition<ToolSet, Context> | readonly StopCondition<ToolSet, Context>[];
  /** Repairs a tool call whose input does not fit, as the AI SDK has it. Default: the model reads the error. */
  readonly repairToolCall?: ToolCallRepairFunction<ToolSet>;
  /** The shape of every reply of `text`, `stream` and `chat`, such as `Output.object({ schema })`. Default: text. */
  readonly output?: AnyOutput;
  /** Metadata of the message that a reply becomes, made of the parts of its stream. Default: none. */
  readonly messageMetadata?: MessageMetadata;
  /**
   * Makes the title of a conversation after its first reply, such as with a small model. Default: the beginning of the
   * first message.
   */
  readonly title?: MakeTitle;
  /** Converts data parts in messages for the model. Default: it sees none of them. */
  readonly convertDataPart?: ConvertDataPart;
  /** Which tool calls a person must approve first. Default: none. */
  readonly toolApproval?: ToolApprovalConfiguration<ToolSet, Context>;
  /**
   * Signs approval requests that only the client keeps, so that none can be forged. Set it where several processes with
   * stores of their own accept each other's. Default: a random one that the store keeps.
   */
  readonly approvalSecret?: string;
  /** How long such a request can be decided. Default: one hour. */
  readonly approvalMaxAge?: Duration;
  /** Agents that this one can hand tasks to, each as a tool named by its id. Default: none. */
  readonly subAgents?: readonly AnyAgent[];
  /** The part of a conversation that the model sees; false keeps no conversation. Default: the last 50 messages. */
  readonly memory?: false | MemoryOptions;
  /**
   * A reply in a conversation that was under way when the process ended is continued by the next one. One that began
   * longer ago than this ends as it is, with the outcomes of its tools. Default: 15 minutes.
   */
  readonly recoverWithin?: Duration;
  /**
   * Which of `providerOptions` a caller may set for one call, such as `{ openai: ["reasoningEffort"] }`. Default: none.
   */
  readonly allowProviderOptions?: AllowedProviderOptions;
  /** At most this many model calls in one reply. Default: 20. */
  readonly maxSteps?: number;
  /** How many tokens and model calls a reply, and a conversation, may use. Default: no limit but `maxSteps`. */
  readonly budget?: AgentBudget;
  /** How often a call that failed for a passing reason is retried. Default: 2. */
  readonly maxRetries?: number;
  /** Milliseconds for one call of the model, or the AI SDK's timeouts as well. Default: 300 000. */
  readonly timeout?: AgentTimeout;
  readonly hooks?: AgentHooks;
}

export const defaultWindow = 50;
export const defaultSteps = 20;
export const defaultApprovalMaxAge = 3_600_000;
export const defaultRecoverWithin = 900_000;
export const defaultRetries = 2;

const knownOptions: KnownOptions<AgentOptions> = {
  id: true,
  name: true,
  purpose: true,
  description: true,
  instructions: true,
  model: true,
  tools: true,
  toolsContext: true,
  toolOrder: true,
  toolCallConcurrency: true,
  headers: true,
  activeTools: true,
  prepareStep: true,
  stopWhen: true,
  repairToolCall: true,
  output: true,
  messageMetadata: true,
  title: true,
  convertDataPart: true,
  toolChoice: true,
  toolApproval: true,
  approvalSecret: true,
  approvalMaxAge: true,
  subAgents: true,
  memory: true,
  recoverWithin: true,
  temperature: true,
  topP: true,
  topK: true,
  maxOutputTokens: true,
  seed: true,
  stopSequences: true,
  frequencyPenalty: true,
  presencePenalty: true,
  reasoning: true,
  providerOptions: true,
  allowProviderOptions: true,
  maxSteps: true,
  budget: true,
  maxRetries: true,
  timeout: true,
  hooks: true,
};

const knownMemoryOptions: KnownOptions<MemoryOptions> = { window: true, tokens: true, prepare: true };

/** Throws, while the host defines, for options that could never work. Returns the agent's name for error messages. */
export function checkAgentOptions(options: AgentOptions): string {
  const given: unknown = options;
  if (typeof given !== "object" || given === null) {
    throw new DefinitionError({ where: "Agent", problem: "needs an options object" });
  }
  const { id, model, instructions, memory, approvalSecret, allowProviderOptions } = options;
  if (typeof id !== "string")
    throw new DefinitionError({ where: "Agent", problem: "the id must be a string" });
  checkDefinedUrlId(id, "Agent");
  const where = `Agent "${id}"`;
  checkKnownOptions(where, options, knownOptions);
  checkKnownOptions(`${where}, memory`, memory, knownMemoryOptions);
  checkKnownOptions(`${where}, hooks`, options.hooks, knownHooks);
  const refuse = (problem: string) => {
    throw new DefinitionError({ where, problem });
  };
  if (!["string", "function"].includes(typeof model) && !isModel(model)) {
    refuse("model is not a language model");
  }
  if (instructions !== undefined && !isInstructions(instructions)) {
    refuse("instructions must be a string, system messages or a function");
  }
  const { window, tokens, prepare } = memory || {};
  const { prepareStep, repairToolCall, messageMetadata, convertDataPart, title } = options;
  const functions = { prepareStep, repairToolCall, messageMetadata, convertDataPart, title };
  for (const [name, value] of Object.entries({ ...functions, "memory.prepare": prepare })) {
    if (value !== undefined && typeof value !== "function") refuse(`${name} must be a function`);
  }
  const counts = [
    ["memory.window", window, 1],
    ["memory.tokens", tokens, 1],
    ["maxRetries", options.maxRetries, 0],
    ["toolCallConcurrency", options.toolCallConcurrency, 1],
  ] as const;
  for (const [name, value, min] of counts) {
    if (value !== undefined && !(Number.isInteger(value) && value >= min))
      refuse(`${name} must be ${min} or more`);
  }
  if (approvalSecret !== undefined && (typeof approvalSecret !== "string" || approvalSecret === "")) {
    refuse("approvalSecret must be a string of 1 character or more");
  }
  if (allowProviderOptions !== undefined && !isAllowList(allowProviderOptions)) {
    refuse("allowProviderOptions must be an object with an array of names for each provider");
  }
  checkTimeout(options.timeout, where);
  checkBudget(options.budget, where);
  try {
    checkSettings(options);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
  return where;
}

function isModel(model: unknown): boolean {
  return typeof propertyOf(model, "doGenerate") === "function";
}

function isInstructions(given: unknown): boolean {
  if (typeof given === "string" || typeof given === "function") return true;
  return [given].flat().every((message) => propertyOf(message, "role") === "system");
}
