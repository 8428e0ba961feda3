// Turns an agent and a call into the AI SDK's options: one place for settings, hooks, limits and usage.
import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import {
  isStepCount,
  type LanguageModel,
  type StepResult,
  type TelemetryOptions,
  type ToolExecutionEndEvent,
  type ToolExecutionStartEvent,
  type ToolSet,
} from "ai";
import { AgentFunctionError } from "../../errors/index.ts";
import { liveTelemetry } from "../durable/live-telemetry.ts";
import { recordedModel, usageOf } from "../durable/recorded-model.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { Context } from "./any-agent.ts";
import { hostApproval } from "./approval-deadline.ts";
import { boundedDownload, downloadAll } from "./bounded-download.ts";
import { type BeginCall, boundedModel } from "./bounded-model.ts";
import { budgetConditions } from "./budget.ts";
import { beginBudgeted, chargeUnrecorded } from "./budgeted-call.ts";
import { type AgentParameters, type CalledAgent, callArguments, defined } from "./call-arguments.ts";
import type { AgentInfo, AgentResult } from "./callable-agent.ts";
import { distinctCalls } from "./distinct-calls.ts";
import { type FallbackOptions, fallbackModel, modelName } from "./fallback-model.ts";
import { fittingModel } from "./fitting-model.ts";
import { callGuard, callHook, callReplyGuard } from "./hooks.ts";
import { preparing, stopConditions } from "./host-options.ts";
import { isAbort } from "./model-failure.ts";
import { type AgentUsage, Operation } from "./operation.ts";
import { guardedModel, type OutputGuard } from "./output-guard.ts";
import type { SdkCallbacks } from "./sdk-settings.ts";
import { timeoutsOf } from "./timeouts.ts";
import { decidesHere, type ToolGuard, toolsWithin } from "./tool-context.ts";
import { type ToolSearches, toolSearches } from "./tool-search.ts";
import { waitingApproval } from "./waiting-approval.ts";

export async function prepareCall(agent: CalledAgent, options: AgentOptions, call: AgentParameters) {
  const operation = Operation.from(call.operation, call.abortSignal);
  const {
    model: chosen,
    instructions,
    tools,
    maxSteps = agent.maxSteps,
    ...asked
  } = await callArguments(agent, options, call, operation);
  const {
    toolsContext,
    toolApproval: given,
    prepareStep,
    stopWhen,
    activeTools,
    toolOrder,
    ...others
  } = asked;
  const { telemetry: hosts, prompt, messages, ...rest } = others;
  const { modelMs, others: times } = timeoutsOf(options.timeout);
  const tokens = options.memory ? options.memory.tokens : undefined;
  const wrap = modelWrapper(modelMs, operation, agent.id, {
    tokens,
    fallback: options.fallback,
    guard: options.guards?.output,
  });
  const model = wrap(chosen);
  const { abortSignal = operation.signal, timeout = times } = call;
  const { hooks } = options;
  const output = call.output ?? options.output;
  const { loop } = operation;
  const ownApproval = hostApproval(given, (call, deadline) => operation.deadlines.set(call, deadline));
  const toolApproval = decidesHere(loop)
    ? waitingApproval(ownApproval, tools, operation, toolsContext)
    : ownApproval;
  // A reply that continues was allowed when it began.
  const isNew = loop?.nextCallIsRecorded !== true;
  if (isNew)
    await callReplyGuard(operation, "onStart", () => hooks?.onStart?.({ agent, context: operation }));
  const observed = mergeTelemetry(operation.telemetry?.(agent.id), hosts);
  const telemetry = observed && loop ? liveTelemetry(observed, loop) : observed;
  const searches = toolSearches(tools);
  let hasFailed = false;
  return {
    settings: {
      ...rest,
      model,
      ...(instructions !== undefined && instructions !== "" && { instructions }),
      ...(messages === undefined ? { prompt: prompt ?? [] } : { messages }),
      tools: toolsWithin(tools, operation, { guard: toolGuard(agent, options, operation), searches }),
      ...defined({ toolApproval, output, timeout, telemetry }),
      // The AI SDK knows a type for it only from tools that are known at compile time.
      ...(toolsContext && { toolsContext: toolsContext as never }),
      ...(toolOrder && { toolOrder: [...toolOrder] }),
      ...(loop?.steering && { experimental_steering: loop.steering.sdk }),
      ...(activeTools && { activeTools: [...activeTools] }),
      ...(prepareStep && { prepareStep: preparing(prepareStep, model, wrap) }),
      experimental_download:
        rest.experimental_download ?? downloadAll(boundedDownload(operation.files), abortSignal),
      stopWhen: [
        isStepCount(maxSteps),
        ...budgetConditions(options.budget, operation),
        ...stopConditions(stopWhen),
      ],
      abortSignal: loop === undefined ? abortSignal : AbortSignal.any([abortSignal, loop.signal]),
      ...callbacks(agent, options, operation, { call, isNew, searches }),
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
    /** The reply was aborted while it streamed. */
    aborted: async (event: Parameters<NonNullable<AgentOptions["onAbort"]>>[0]): Promise<void> => {
      if (loop?.left === undefined) await callHook(operation, "onAbort", () => options.onAbort?.(event));
    },
    failed: async (error: unknown): Promise<void> => {
      // A loop that is left has not failed: it is walked again. The AI SDK reports some aborts as an error, too.
      if (loop?.left !== undefined || hasFailed) return;
      hasFailed = true;
      await callHook(operation, "onError", () => hooks?.onError?.({ agent, context: operation, error }));
      if (!isAbort(error) && !abortSignal.aborted)
        await callHook(operation, "onError", () => options.onError?.({ error }));
    },
  };
}

interface ModelBounds {
  /** Bounds a prompt, roughly. */
  readonly tokens: number | undefined;
  readonly fallback: FallbackOptions | undefined;
  readonly guard: OutputGuard | undefined;
}

/** Wraps each model of the call once, however often the host's `prepareStep` returns it. */
function modelWrapper(
  timeout: number,
  operation: Operation,
  agentId: string,
  { tokens, fallback = {}, guard }: ModelBounds,
): (model: LanguageModel | readonly LanguageModel[]) => LanguageModelV4 {
  const { loop } = operation;
  /** Bounds a model; its calls count for the agent. */
  const bound = (given: LanguageModel): LanguageModelV4 => {
    const used = (usage: LanguageModelV4Usage) =>
      operation.called({ agentId, model: modelName(bounded) }, usageOf(usage));
    const begin: BeginCall = async (params) =>
      beginBudgeted(operation, { agentId, model: modelName(bounded) }, params);
    const bounded = boundedModel(given, timeout, used, operation.meter?.budgets && begin);
    return bounded;
  };
  const wrapped = new Map<unknown, LanguageModelV4>();
  return (model) => {
    const known = wrapped.get(model);
    if (known !== undefined) return known;
    const [first, ...others] = [model].flat().map(bound);
    if (first === undefined)
      throw new AgentFunctionError({ option: "model", cause: new TypeError("no model") });
    const several =
      others.length === 0 ? undefined : fallbackModel([first, ...others], fallback, operation.logger);
    const fitting = fittingModel(several ?? first, tokens, operation.logger);
    const distinct = distinctCalls(fitting);
    const shown = guard === undefined ? distinct : guardedModel(distinct, guard, operation);
    const walked = (usage: AgentUsage) => operation.add(usage);
    const priced = (name: string, usage: AgentUsage) => operation.meter?.priced(name, usage) ?? usage;
    const unrecorded = (name: string, usage: AgentUsage) =>
      chargeUnrecorded(operation, { agentId, model: name }, usage);
    const parts = { agentId, walked, priced, unrecorded, several };
    const ready = loop === undefined ? shown : recordedModel(shown, loop, parts);
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

/** The telemetry of Andante and of the host. One that the host has turned off is the host's own. */
function mergeTelemetry(
  ours: TelemetryOptions | undefined,
  given: AgentOptions["telemetry"],
): TelemetryOptions | undefined {
  if (given === undefined || (ours !== undefined && given.isEnabled === false)) return ours;
  if (ours === undefined) return given;
  const integrations = [ours.integrations ?? [], given.integrations ?? []].flat();
  return { ...ours, ...given, integrations };
}

interface Reporting {
  readonly call: AgentParameters;
  /** False when the reply continues. */
  readonly isNew: boolean;
  readonly searches: ToolSearches | undefined;
}

type Callback<Event> = ((event: Event) => void | PromiseLike<void>) | undefined;

/**
 * The hooks and callbacks of the host that only observe, and those of the caller. Those that may refuse are called
 * elsewhere. Recorded calls were reported when they happened, and a loop that is left has not ended.
 */
function callbacks(
  agent: AgentInfo,
  options: AgentOptions,
  operation: Operation,
  { call, isNew, searches }: Reporting,
) {
  const { hooks = {} } = options;
  const context = operation;
  const { loop } = operation;
  const isLive = ({ toolCall }: ToolExecutionStartEvent) =>
    loop === undefined ||
    (loop.left === undefined && !loop.toolCall(toolCall.toolCallId, toolCall.toolName).isWalked);
  const toolOf = ({ toolCall }: ToolExecutionStartEvent) => {
    const { toolName, toolCallId, input } = toolCall;
    return { agent, context, toolName, toolCallId, input };
  };
  /** The host's callback for events that happen now, then the caller's. */
  const both = <Event>(
    name: keyof SdkCallbacks,
    own: Callback<Event>,
    callers: Callback<Event>,
    isNow: (event: Event) => boolean | Promise<boolean>,
  ) => {
    if (own === undefined) return callers;
    return async (event: Event): Promise<void> => {
      if (await isNow(event)) await callHook(context, name, () => own(event));
      await callers?.(event);
    };
  };
  const onStepEnd = call.onStepEnd ?? call.onStepFinish;
  const isCommitted = async () => {
    await loop?.committed();
    return true;
  };
  const isLast = () => loop?.isWalked(loop.calls - 1) !== true;
  return {
    onStepEnd: async (step: StepResult<ToolSet, Context>) => {
      if (hooks.onStepEnd ?? options.onStepEnd ?? onStepEnd) await loop?.committed();
      if (loop?.isLive !== false) {
        await callHook(context, "onStepEnd", () => hooks.onStepEnd?.({ agent, context, step }));
        await callHook(context, "onStepEnd", () => options.onStepEnd?.(step));
      }
      await onStepEnd?.(step);
      await loop?.steering?.offer();
    },
    onToolExecutionEnd: async (event: ToolExecutionEndEvent) => {
      const { toolOutput } = event;
      const ending =
        toolOutput.type === "tool-error" ? { error: toolOutput.error } : { output: toolOutput.output };
      if (isLive(event)) {
        await callHook(context, "onToolEnd", () => hooks.onToolEnd?.({ ...toolOf(event), ...ending }));
        await callHook(context, "onToolExecutionEnd", () => options.onToolExecutionEnd?.(event));
      }
      await call.onToolExecutionEnd?.(event);
    },
    ...defined({
      onStart: both("onStart", options.onStart, call.onStart ?? call.experimental_onStart, () => isNew),
      onStepStart: both(
        "onStepStart",
        options.onStepStart,
        call.onStepStart ?? call.experimental_onStepStart,
        () => loop?.nextIsRecorded !== true,
      ),
      onLanguageModelCallStart: both(
        "onLanguageModelCallStart",
        options.onLanguageModelCallStart,
        undefined,
        () => loop?.nextCallIsRecorded !== true,
      ),
      onLanguageModelCallEnd: both(
        "onLanguageModelCallEnd",
        options.onLanguageModelCallEnd,
        undefined,
        isLast,
      ),
      onToolExecutionStart: searchesStart(
        searches,
        both("onToolExecutionStart", options.onToolExecutionStart, call.onToolExecutionStart, isLive),
      ),
      onStepError: both("onStepError", options.onStepError, undefined, () => loop?.left === undefined),
      onEnd: both("onEnd", options.onEnd, call.onEnd ?? call.onFinish, isCommitted),
    }),
  };
}

/** Notes the searches of tools that start, before the callback. */
function searchesStart(
  searches: ToolSearches | undefined,
  callback: Callback<ToolExecutionStartEvent>,
): Callback<ToolExecutionStartEvent> {
  if (searches === undefined) return callback;
  return (event) => {
    searches.started(event.toolCall);
    return callback?.(event);
  };
}
