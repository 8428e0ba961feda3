// Turns an agent and a call into the AI SDK's options: one place for settings, hooks, limits and usage.
import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import {
  type AgentCallParameters,
  isStepCount,
  type LanguageModel,
  type StepResult,
  type ToolExecutionEndEvent,
  type ToolExecutionStartEvent,
  type ToolSet,
} from "ai";
import { liveTelemetry } from "../durable/live-telemetry.ts";
import { recordedModel, usageOf } from "../durable/recorded-model.ts";
import { type AgentOptions, defaultRetries } from "./agent-options.ts";
import type { AnyOutput, Context } from "./any-agent.ts";
import { boundedDownload, downloadAll } from "./bounded-download.ts";
import { boundedModel } from "./bounded-model.ts";
import { budgetConditions } from "./budget.ts";
import type { CallSettings } from "./call-settings.ts";
import type { AgentInfo, AgentResult } from "./callable-agent.ts";
import { distinctCalls } from "./distinct-calls.ts";
import { fittingModel } from "./fitting-model.ts";
import { callGuard, callHook, callReplyGuard } from "./hooks.ts";
import { hostApproval, preparing, resolveOption, stopConditions } from "./host-options.ts";
import { mergeSettings } from "./merge-settings.ts";
import { Operation, type OperationContext } from "./operation.ts";
import { timeoutsOf } from "./timeouts.ts";
import { type ToolGuard, toolsWithin } from "./tool-context.ts";
import { waitingApproval } from "./waiting-approval.ts";

/** The parameters of `generate` and `stream` beside the AI SDK's own. */
export interface AgentExtraParameters {
  /** Who asks, as hooks, tools and instructions see it. Default: an unknown caller. */
  readonly operation?: OperationContext | undefined;
  readonly settings?: CallSettings | undefined;
  /** The tools of this call. Default: the agent's. */
  readonly tools?: ToolSet | undefined;
  /** The shape of the reply. Default: text. */
  readonly output?: AnyOutput | undefined;
}

export type AgentParameters = AgentCallParameters<never, ToolSet> & AgentExtraParameters;

/** The agent that is called: its definition, and the values made of it. */
export interface CalledAgent extends AgentInfo {
  readonly maxSteps: number;
  checkSettings(settings: CallSettings): void;
  toolsFor(operation: Operation): ToolSet | Promise<ToolSet>;
}

export async function prepareCall(agent: CalledAgent, options: AgentOptions, call: AgentParameters) {
  const operation = Operation.from(call.operation, call.abortSignal);
  const given = call.settings ?? {};
  agent.checkSettings(given);
  const { maxSteps = agent.maxSteps, ...settings } = mergeSettings(
    { ...options, maxSteps: agent.maxSteps },
    given,
  );
  const instructions = await resolveOption("instructions", options.instructions, operation);
  const tools = call.tools ?? (await agent.toolsFor(operation));
  const toolsContext = await resolveOption("toolsContext", options.toolsContext, operation);
  const { modelMs, others } = timeoutsOf(options.timeout);
  const tokens = options.memory ? options.memory.tokens : undefined;
  const wrap = modelWrapper(modelMs, operation, tokens);
  const model = wrap(await resolveOption("model", options.model, operation));
  const { prompt, messages, abortSignal = operation.signal, timeout = others } = call;
  const { toolChoice, toolOrder, toolCallConcurrency, headers, hooks, repairToolCall } = options;
  const output = call.output ?? options.output;
  const { loop } = operation;
  const ownApproval = hostApproval(options.toolApproval);
  const toolApproval = loop?.recorder.waits ? waitingApproval(ownApproval, tools, operation) : ownApproval;
  // A reply that continues was allowed when it began.
  if (loop?.nextCallIsRecorded !== true)
    await callReplyGuard(operation, "onStart", () => hooks?.onStart?.({ agent, context: operation }));
  const observed = operation.telemetry?.(agent.id);
  const telemetry = observed && loop ? liveTelemetry(observed, loop) : observed;
  let hasFailed = false;
  return {
    settings: {
      ...defined(settings),
      model,
      ...(instructions !== undefined && instructions !== "" && { instructions }),
      ...(messages === undefined ? { prompt } : { messages }),
      tools: toolsWithin(tools, operation, { guard: toolGuard(agent, options, operation), toolsContext }),
      ...defined({ toolChoice, toolApproval, output, timeout, telemetry, repairToolCall }),
      ...defined({ toolCallConcurrency, headers }),
      // The AI SDK knows a type for it only from tools that are known at compile time.
      ...(toolsContext && { toolsContext: toolsContext as never }),
      ...(toolOrder && { toolOrder: [...toolOrder] }),
      ...(options.activeTools && { activeTools: [...options.activeTools] }),
      ...(options.prepareStep && { prepareStep: preparing(options.prepareStep, model, wrap) }),
      experimental_download: downloadAll(boundedDownload(operation.files), abortSignal),
      runtimeContext: runtimeContext(operation),
      stopWhen: [
        isStepCount(maxSteps),
        ...budgetConditions(options.budget, operation),
        ...stopConditions(options),
      ],
      maxRetries: options.maxRetries ?? defaultRetries,
      abortSignal: loop === undefined ? abortSignal : AbortSignal.any([abortSignal, loop.signal]),
      ...callbacks(agent, options, operation, call),
    },
    loop,
    /** Called with the complete reply; undefined without such a hook. Rejects when the host refuses the reply. */
    ended:
      hooks?.onEnd &&
      (async ({ text, finishReason }: Pick<AgentResult, "text" | "finishReason">): Promise<void> => {
        const ending = { agent, context: operation, text, finishReason, usage: operation.usage };
        await loop?.committed();
        return callReplyGuard(operation, "onEnd", () => hooks.onEnd?.(ending));
      }),
    failed: async (error: unknown): Promise<void> => {
      // A loop that is left has not failed: it is walked again. The AI SDK reports some aborts as an error, too.
      if (loop?.left !== undefined || hasFailed) return;
      hasFailed = true;
      await callHook(operation, "onError", () => hooks?.onError?.({ agent, context: operation, error }));
    },
  };
}

/** Wraps each model of the call once, however often the host's `prepareStep` returns it. `tokens` bounds a prompt, roughly. */
function modelWrapper(
  timeout: number,
  operation: Operation,
  tokens?: number,
): (model: LanguageModel) => LanguageModelV4 {
  const { loop } = operation;
  const count = (usage: LanguageModelV4Usage) => operation.count(usageOf(usage));
  const wrapped = new Map<LanguageModel, LanguageModelV4>();
  return (model) => {
    const known = wrapped.get(model);
    if (known !== undefined) return known;
    const fitting = fittingModel(boundedModel(model, timeout, count), tokens, operation.logger);
    const distinct = distinctCalls(fitting);
    const ready = loop === undefined ? distinct : recordedModel(distinct, loop, count);
    wrapped.set(model, ready);
    return ready;
  };
}

/** Asks the host before a tool runs; undefined when it has nothing to say. */
function toolGuard(agent: AgentInfo, { hooks }: AgentOptions, operation: Operation): ToolGuard | undefined {
  if (hooks?.onToolStart === undefined) return undefined;
  return (call) =>
    callGuard(operation, "onToolStart", () => hooks.onToolStart?.({ agent, context: operation, ...call }));
}

function runtimeContext({ userId, conversationId, context, logger, signal }: Operation): Context {
  return { userId, conversationId, context, logger, signal };
}

/** The hooks of the host that only observe, and the callbacks of the caller. Those that may refuse are called elsewhere. */
function callbacks(
  agent: AgentInfo,
  { hooks = {} }: AgentOptions,
  operation: Operation,
  call: AgentParameters,
) {
  const context = operation;
  const { loop } = operation;
  // Recorded calls were reported when they happened, and a loop that is left has not ended.
  const isLive = ({ toolCall }: ToolExecutionStartEvent) =>
    loop === undefined ||
    (loop.left === undefined && !loop.toolCall(toolCall.toolCallId, toolCall.toolName).isWalked);
  const onStepEnd = call.onStepEnd ?? call.onStepFinish;
  const toolOf = ({ toolCall }: ToolExecutionStartEvent) => {
    const { toolName, toolCallId, input } = toolCall;
    return { agent, context, toolName, toolCallId, input };
  };
  return {
    onStepEnd: async (step: StepResult<ToolSet, Context>) => {
      if (hooks.onStepEnd !== undefined || onStepEnd !== undefined) await loop?.committed();
      if (loop?.isLive !== false)
        await callHook(context, "onStepEnd", () => hooks.onStepEnd?.({ agent, context, step }));
      await onStepEnd?.(step);
    },
    onToolExecutionEnd: async (event: ToolExecutionEndEvent) => {
      const { toolOutput } = event;
      const ending =
        toolOutput.type === "tool-error" ? { error: toolOutput.error } : { output: toolOutput.output };
      if (isLive(event))
        await callHook(context, "onToolEnd", () => hooks.onToolEnd?.({ ...toolOf(event), ...ending }));
      await call.onToolExecutionEnd?.(event);
    },
    ...defined({
      onStart: call.onStart ?? call.experimental_onStart,
      onStepStart: call.onStepStart ?? call.experimental_onStepStart,
      onToolExecutionStart: call.onToolExecutionStart,
      onEnd: call.onEnd ?? call.onFinish,
    }),
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The same object without undefined fields: the AI SDK distinguishes "not given" from "undefined". */
function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
