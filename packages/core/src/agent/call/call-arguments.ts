// The arguments of one call of the AI SDK before Andante adds its own parts: the agent's options with their functions of the
// operation called, the caller's settings, and the changes of the host's `prepareCall`.
import { type AgentCallParameters, isStepCount, type LanguageModel, type ToolSet } from "ai";
import { isRecord } from "../../values/fields.ts";
import { type AgentOptions, defaultRetries } from "./agent-options.ts";
import type { AnyOutput, Context } from "./any-agent.ts";
import type { CallSettings } from "./call-settings.ts";
import type { AgentInfo } from "./callable-agent.ts";
import { callHost } from "./host-function.ts";
import { resolveOption } from "./host-options.ts";
import { mergeSettings } from "./merge-settings.ts";
import type { Operation, OperationContext } from "./operation.ts";
import { withFacts } from "./remember.ts";
import { experimentalOf } from "./sdk-settings.ts";
import { parsed } from "./tool-context.ts";

/** The parameters of `generate` and `stream` beside the AI SDK's own. */
export interface AgentExtraParameters<CallOptions = unknown> {
  /** Who asks, as hooks, tools and instructions see it. Default: an unknown caller. */
  readonly operation?: OperationContext | undefined;
  readonly settings?: CallSettings | undefined;
  /** The tools of this call. Default: the agent's. */
  readonly tools?: ToolSet | undefined;
  /** The shape of the reply. Default: text. */
  readonly output?: AnyOutput | undefined;
  /** The call options for `prepareCall`. Default: those of `callOptions`. */
  readonly options?: CallOptions | undefined;
  /** The same from a step of a workflow. */
  readonly callOptions?: unknown;
}

export type AgentParameters<CallOptions = unknown> = Omit<AgentCallParameters<never, ToolSet>, "options"> &
  AgentExtraParameters<CallOptions>;

/** The agent that is called: its definition, and the values made of it. */
export interface CalledAgent extends AgentInfo {
  readonly maxSteps: number;
  checkSettings(settings: CallSettings): void;
  toolsFor(operation: Operation): ToolSet | Promise<ToolSet>;
}

/** The options that reach the AI SDK as they are given. */
type GivenArguments = Pick<
  AgentOptions,
  | "instructions"
  | "toolChoice"
  | "toolOrder"
  | "toolCallConcurrency"
  | "activeTools"
  | "toolApproval"
  | "prepareStep"
  | "repairToolCall"
  | "stopWhen"
  | "headers"
  | "telemetry"
  | "include"
  | "allowSystemInMessages"
  | "maxRetries"
  | "experimental_download"
>;

export interface CallArguments extends Omit<GivenArguments, "instructions">, Defined<CallSettings> {
  readonly model: LanguageModel | readonly LanguageModel[];
  readonly instructions?: Exclude<AgentOptions["instructions"], (...given: never) => unknown>;
  readonly tools: ToolSet;
  readonly toolsContext?: Readonly<Record<string, unknown>>;
  readonly runtimeContext: Context;
  readonly prompt?: AgentParameters["prompt"];
  readonly messages?: AgentParameters["messages"];
  readonly [experimental: `experimental_${string}`]: unknown;
}

export async function callArguments(
  agent: CalledAgent,
  options: AgentOptions,
  call: AgentParameters,
  operation: Operation,
): Promise<CallArguments> {
  const { prompt, messages, settings: asked = {} } = call;
  agent.checkSettings(asked);
  const settings = mergeSettings({ ...options, maxSteps: agent.maxSteps }, asked);
  const { toolChoice, toolOrder, toolCallConcurrency, activeTools, toolApproval, prepareStep } = options;
  const { repairToolCall, stopWhen, headers, telemetry, include, allowSystemInMessages } = options;
  const own = {
    ...settings,
    model: await resolveOption("model", options.model, operation),
    instructions: await instructionsOf(agent, options, operation),
    tools: call.tools ?? (await agent.toolsFor(operation)),
    toolsContext: await resolveOption("toolsContext", options.toolsContext, operation),
    runtimeContext: await contextOf(options.runtimeContext, operation),
    ...{ toolChoice, toolOrder, toolCallConcurrency, activeTools, toolApproval, prepareStep, repairToolCall },
    ...{ stopWhen, headers, telemetry, include, allowSystemInMessages },
    maxRetries: options.maxRetries ?? defaultRetries,
    ...(messages === undefined ? { prompt } : { messages }),
    ...experimentalOf(options),
    ...experimentalOf(call),
  };
  const given = defined(own) as CallArguments;
  return options.prepareCall === undefined ? given : prepared(options, call, operation, given);
}

async function instructionsOf({ id: agentId }: CalledAgent, options: AgentOptions, operation: Operation) {
  const own = await resolveOption("instructions", options.instructions, operation);
  const facts = options.memory ? options.memory.facts : undefined;
  return facts === undefined ? own : withFacts(own, { agentId, facts }, operation);
}

/** The arguments as the host's `prepareCall` returns them. */
async function prepared(
  { prepareCall, callOptionsSchema, callOptions }: AgentOptions,
  call: AgentParameters,
  operation: Operation,
  own: CallArguments,
): Promise<CallArguments> {
  const given: unknown =
    call.options ?? call.callOptions ?? (await resolveOption("callOptions", callOptions, operation));
  const options =
    given === undefined || callOptionsSchema === undefined
      ? given
      : await callHost("callOptions", () => parsed(callOptionsSchema, given));
  const { maxSteps, ...settings } = own;
  // The AI SDK's agent has a condition where the host gave none.
  const stopWhen = own.stopWhen ?? isStepCount(maxSteps ?? 1);
  const sent: unknown = { ...settings, stopWhen, ...(options !== undefined && { options }) };
  const made: unknown = await callHost("prepareCall", () => prepareCall?.(sent as never));
  if (!isRecord(made)) return own;
  const { options: _, ...changed } = made;
  return defined({ ...changed, maxSteps, runtimeContext: changed.runtimeContext ?? {} }) as CallArguments;
}

/** The operation as the AI SDK's runtime context, with the values of the host. */
async function contextOf(own: AgentOptions["runtimeContext"], operation: Operation): Promise<Context> {
  const { userId, conversationId, context, logger, signal } = operation;
  const fields = { userId, conversationId, context, logger, signal };
  return own === undefined
    ? fields
    : { ...fields, ...(await resolveOption("runtimeContext", own, operation)) };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The same object without undefined fields: the AI SDK distinguishes "not given" from "undefined". */
export function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
