// The options of an agent, and the checks of a definition.
import type {
  Instructions,
  LanguageModel,
  PrepareStepFunction,
  StopCondition,
  ToolCallRepairFunction,
  ToolChoice,
  ToolSet,
} from "ai";
import { DefinitionError } from "../../errors/index.ts";
import { checkDefinedUrlId } from "../../values/check-id.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import type { Duration } from "../../values/duration.ts";
import { propertyOf } from "../../values/fields.ts";
import type { AgentScheduleOptions } from "./agent-schedules.ts";
import type { AnyAgent, AnyOutput, Context, SubAgentOptions } from "./any-agent.ts";
import { checkApproval, type ToolApproval } from "./approval-deadline.ts";
import { type AgentBudget, checkBudget } from "./budget.ts";
import { type CallSettings, checkSettings, settingRanges } from "./call-settings.ts";
import { checkFallback, type FallbackOptions } from "./fallback-model.ts";
import { type AgentHooks, knownHooks } from "./hooks.ts";
import { type AllowedProviderOptions, isAllowList } from "./merge-settings.ts";
import type {
  CompactOptions,
  ConvertDataPart,
  FactsOptions,
  MakeTitle,
  MemoryOptions,
  MessageMetadata,
} from "./message-options.ts";
import type { OperationContext } from "./operation.ts";
import { type AgentGuards, checkGuards } from "./output-guard.ts";
import { checkPlayground, type PlaygroundOptions } from "./playground.ts";
import {
  type CallPreparation,
  isExperimental,
  refusedSettings,
  type SdkCallbacks,
  type SdkSettings,
} from "./sdk-settings.ts";
import { type AgentTimeout, checkTimeout } from "./timeouts.ts";
import { problemOfPolicy, type WhenBusy } from "./when-busy.ts";

/** A value, or a function of the operation that makes it for each reply. */
export type PerOperation<Value> = Value | ((context: OperationContext) => Value | Promise<Value>);

/** `CallOptions` is the type of the AI SDK's call options, which `callOptionsSchema` gives. */
export interface AgentOptions<CallOptions = unknown>
  extends Omit<CallSettings, "maxSteps">,
    SdkCallbacks,
    CallPreparation<CallOptions> {
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
  /**
   * A model of any provider package of the AI SDK, or several: a later one replies where those before it fail before
   * their first text. Or a function of the operation that chooses.
   */
  readonly model: PerOperation<LanguageModel | readonly LanguageModel[]>;
  /** When the next of several models is asked. Default: for every failure of a provider, however long it takes. */
  readonly fallback?: FallbackOptions;
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
  readonly toolOrder?: readonly string[] | undefined;
  /** Maximum tool calls of a step that run at once. Default: all of them. */
  readonly toolCallConcurrency?: number;
  /**
   * The call options of replies over HTTP and in workflows, or a function of the operation that makes them. A caller
   * cannot set them. Default: none.
   */
  readonly callOptions?: PerOperation<CallOptions & object>;
  /**
   * Values for `prepareStep`, `stopWhen`, `toolApproval` and callbacks, or a function of the operation that makes them.
   * They are added to those of the operation. Default: the operation alone.
   */
  readonly runtimeContext?: PerOperation<Context>;
  /** The AI SDK's telemetry options, beside the observation of Andante. Default: that alone. */
  readonly telemetry?: NonNullable<SdkSettings["telemetry"]>;
  /** Which data of requests and responses the results of steps include, as the AI SDK has it. Default: its own. */
  readonly include?: NonNullable<SdkSettings["include"]>;
  /** Whether messages that code passes to `generate` and `stream` may be system messages. Default: false. */
  readonly allowSystemInMessages?: boolean;
  /** Loads files that a provider does not load by itself, in place of Andante's bounded way. Default: that. */
  readonly experimental_download?: NonNullable<SdkSettings["experimental_download"]> | undefined;
  /** Experimental settings of the AI SDK are passed on unread. */
  readonly [experimental: `experimental_${string}`]: unknown;
  /** HTTP headers of each model call, for providers that use HTTP. Default: none. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Which of the tools the model sees. Default: all. */
  readonly activeTools?: readonly string[] | undefined;
  /** Whether and which tool the model must call. Default: it chooses. */
  readonly toolChoice?: ToolChoice<ToolSet>;
  /** Changes the settings of single steps, as the AI SDK has it. Runs again when a reply continues after a crash. */
  readonly prepareStep?: PrepareStepFunction<ToolSet, Context>;
  /** Conditions that end the loop of tools, as the AI SDK has them. Default: only `maxSteps`. */
  readonly stopWhen?:
    | StopCondition<ToolSet, Context>
    | readonly StopCondition<ToolSet, Context>[]
    | undefined;
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
  /**
   * Which tool calls a person must approve first, as the AI SDK has it; a status may have a `deadline` and the decision
   * that is made then, `onDeadline`. Default: none.
   */
  readonly toolApproval?: ToolApproval;
  /**
   * Signs approval requests that only the client keeps, so that none can be forged. Set it where several processes with
   * stores of their own accept each other's. Default: a random one that the store keeps.
   */
  readonly approvalSecret?: string;
  /** How long such a request can be decided. Default: one hour. */
  readonly approvalMaxAge?: Duration;
  /**
   * Agents that this one can hand tasks to, each as a tool named by its id; with `{ agent, background: true }` the task is an
   * execution of its own, whose end is posted into the conversation. Default: none.
   */
  readonly subAgents?: readonly (AnyAgent | SubAgentOptions)[];
  /**
   * What happens to a message while a reply runs in its conversation: it waits, reaches the reply with its next call of the
   * model, ends the reply, which is kept as far as it came, or is refused. A caller may choose for one message. Default: "queue".
   */
  readonly whenBusy?: WhenBusy;
  /** The part of a conversation that the model sees; false keeps no conversation. Default: the last 50 messages. */
  readonly memory?: false | MemoryOptions;
  /**
   * A reply in a conversation that was under way when the process ended is continued by the next one. One whose last
   * recorded call, or else its beginning, is longer ago than this ends as it is, with the outcomes of its tools. A message
   * that waited then gets its reply if it was sent within this time.
   * Default: 15 minutes.
   */
  readonly recoverWithin?: Duration;
  /**
   * Which of `providerOptions` a caller may set for one call, such as `{ openai: ["serviceTier"] }`. Default: none.
   */
  readonly allowProviderOptions?: AllowedProviderOptions;
  /** At most this many model calls in one reply. Default: 20, with `stopWhen` 1000. */
  readonly maxSteps?: number;
  /** How many tokens and model calls a reply, and a conversation, may use. Default: no limit but `maxSteps`. */
  readonly budget?: AgentBudget;
  /** How often a call that failed for a passing reason is retried. Default: 2. */
  readonly maxRetries?: number;
  /** Milliseconds for one call of the model, or the AI SDK's timeouts as well. Default: 300 000. */
  readonly timeout?: AgentTimeout;
  /**
   * What the playground of the console may change for single replies: instructions, temperature, and the model to one of
   * `models`. False turns it off. With authentication it needs an `authorize` that permits `agents.playground`. Default:
   * instructions and temperature.
   */
  readonly playground?: false | PlaygroundOptions;
  /** Prompts that go into a conversation by themselves, by a name for each. Default: none. */
  readonly schedules?: Readonly<Record<string, AgentScheduleOptions>>;
  readonly hooks?: AgentHooks;
  /** Checks of the model's text before any reader sees it. Default: none. */
  readonly guards?: AgentGuards;
}

export const defaultWindow = 50;
/** Of an agent that compacts: messages are summarised before they leave it. */
const compactedWindow = 200;

/** How many messages of a conversation the model sees. */
export function windowOfMemory({ window, compact }: MemoryOptions): number {
  return window ?? (compact === undefined ? defaultWindow : compactedWindow);
}

export const defaultSteps = 20;
/** For an agent whose `stopWhen` decides. */
export const maxSteps = settingRanges.maxSteps.max;
export const defaultApprovalMaxAge = 3_600_000;
export const defaultRecoverWithin = 900_000;
export const defaultRetries = 2;

const knownCallbacks: KnownOptions<SdkCallbacks> = {
  onStart: true,
  onStepStart: true,
  onLanguageModelCallStart: true,
  onLanguageModelCallEnd: true,
  onToolExecutionStart: true,
  onToolExecutionEnd: true,
  onStepEnd: true,
  onStepFinish: true,
  onStepError: true,
  onEnd: true,
  onFinish: true,
  onError: true,
  onAbort: true,
};

const knownOptions: KnownOptions<AgentOptions> = {
  id: true,
  name: true,
  purpose: true,
  description: true,
  instructions: true,
  model: true,
  fallback: true,
  tools: true,
  toolsContext: true,
  toolOrder: true,
  toolCallConcurrency: true,
  callOptions: true,
  callOptionsSchema: true,
  prepareCall: true,
  runtimeContext: true,
  experimental_download: true,
  telemetry: true,
  include: true,
  allowSystemInMessages: true,
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
  whenBusy: true,
  memory: true,
  schedules: true,
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
  playground: true,
  hooks: true,
  guards: true,
  ...knownCallbacks,
};

const knownMemoryOptions: KnownOptions<MemoryOptions> = {
  window: true,
  tokens: true,
  compact: true,
  facts: true,
  recall: true,
  prepare: true,
};
const knownFactsOptions: KnownOptions<FactsOptions> = { schema: true, scope: true };
const knownCompactOptions: KnownOptions<CompactOptions> = { above: true, keep: true, with: true };

/** Throws, while the host defines, for options that could never work. Returns the agent's name for error messages. */
export function checkAgentOptions(options: AgentOptions): string {
  const whole: unknown = options;
  if (typeof whole !== "object" || whole === null) {
    throw new DefinitionError({ where: "Agent", problem: "needs an options object" });
  }
  const { id, model, instructions, memory, approvalSecret, allowProviderOptions } = options;
  if (typeof id !== "string")
    throw new DefinitionError({ where: "Agent", problem: "the id must be a string" });
  checkDefinedUrlId(id, "Agent");
  const where = `Agent "${id}"`;
  checkNames(where, options);
  checkKnownOptions(`${where}, memory`, memory, knownMemoryOptions);
  checkKnownOptions(`${where}, hooks`, options.hooks, knownHooks);
  const refuse = (problem: string) => {
    throw new DefinitionError({ where, problem });
  };
  const models = [model].flat();
  if (models.length === 0) refuse("model is an empty list: it needs a language model");
  if (typeof model !== "function" && !models.every(isModel)) refuse("model is not a language model");
  checkFallback(options.fallback, where);
  checkApproval(options.toolApproval);
  checkGuards(options.guards, where);
  if (instructions !== undefined && !isInstructions(instructions)) {
    refuse("instructions must be a string, system messages or a function");
  }
  const { window = windowOfMemory(memory || {}), tokens, compact, facts, recall, prepare } = memory || {};
  checkKnownOptions(`${where}, memory.compact`, compact, knownCompactOptions);
  checkFacts(facts, where);
  if (compact !== undefined) {
    if (compact.with !== undefined && !isModel(compact.with))
      refuse("memory.compact.with is not a language model");
    if ((compact.keep ?? 1) > window / 2) refuse("memory.compact.keep must be at most half of memory.window");
  }
  const { prepareCall, prepareStep, repairToolCall, messageMetadata, convertDataPart, title } = options;
  const callbacks = Object.keys(knownCallbacks).map((name) => [name, propertyOf(options, name)] as const);
  const messages = {
    messageMetadata,
    convertDataPart,
    title,
    "memory.recall": recall,
    "memory.prepare": prepare,
  };
  const hostFunctions = { prepareCall, prepareStep, repairToolCall, ...messages };
  for (const [name, value] of [...Object.entries(hostFunctions), ...callbacks]) {
    if (value !== undefined && typeof value !== "function") refuse(`${name} must be a function`);
  }
  const counts = [
    ["memory.window", window, 1],
    ["memory.tokens", tokens, 1],
    ["memory.compact.above", compact === undefined ? undefined : (compact.above ?? 0), 1],
    ["memory.compact.keep", compact?.keep, 1],
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
  const policyProblem = problemOfPolicy(options.whenBusy);
  if (policyProblem !== undefined) refuse(`whenBusy: ${policyProblem}`);
  checkTimeout(options.timeout, where);
  checkBudget(options.budget, where);
  checkPlayground(options.playground, where, (each) => typeof each === "string" || isModel(each));
  try {
    checkSettings(options);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
  return where;
}

function checkFacts(facts: FactsOptions | undefined, where: string): void {
  if (facts === undefined) return;
  checkKnownOptions(`${where}, memory.facts`, facts, knownFactsOptions);
  const refuse = (problem: string) => {
    throw new DefinitionError({ where, problem });
  };
  if (facts.scope !== "user" && facts.scope !== "conversation")
    refuse('memory.facts.scope must be "user" or "conversation"');
  if (propertyOf(facts.schema, "~standard") === undefined) refuse("memory.facts.schema is not a schema");
}

/** Throws for an option that does not exist, and for one of the AI SDK's that is refused. */
function checkNames(where: string, options: object): void {
  for (const [option, reason] of Object.entries(refusedSettings)) {
    if (propertyOf(options, option) === undefined) continue;
    const problem = `the AI SDK's option ${option} is not supported: ${reason}`;
    throw new DefinitionError({ where, problem });
  }
  const names = Object.entries(options).filter(
    ([name]) => !isExperimental(name) && !(name in refusedSettings),
  );
  checkKnownOptions(where, Object.fromEntries(names), knownOptions);
}

function isModel(model: unknown): boolean {
  return typeof model === "string" || typeof propertyOf(model, "doGenerate") === "function";
}

function isInstructions(given: unknown): boolean {
  if (typeof given === "string" || typeof given === "function") return true;
  return [given].flat().every((message) => propertyOf(message, "role") === "system");
}
