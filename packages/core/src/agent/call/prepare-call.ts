// Makes of an agent and a call what the AI SDK's functions take: one place for settings, hooks, limits and usage.
import {
  type AgentCallParameters,
  type GenerateTextEndEvent,
  isStepCount,
  type StepResult,
  type ToolExecutionEndEvent,
  type ToolExecutionStartEvent,
  type ToolSet,
} from "ai";
import { createLogger } from "../../observe/log/logger.ts";
import type { Agent, AgentCall, AgentOptions } from "../agent.ts";
import type { Context } from "./any-agent.ts";
import { boundedModel } from "./bounded-model.ts";
import { checkSettings, pickSettings } from "./call-settings.ts";
import { callHook } from "./hooks.ts";
import { Operation } from "./operation.ts";
import { toolsWithin } from "./tool-context.ts";

export type Call = AgentCallParameters<never, ToolSet> & AgentCall;

/** Milliseconds for one call of the model. */
const defaultTimeout = 300_000;
const silent = createLogger({ level: "silent" });

export async function prepareCall(
  agent: Agent,
  options: AgentOptions,
  secret: string | Uint8Array,
  call: Call,
) {
  const operation = call.operation ?? operationOfNobody(call.abortSignal);
  const { maxSteps = agent.maxSteps, ...settings } = call.settings ?? {};
  checkSettings({ ...settings, maxSteps }, agent.maxSteps);
  const { instructions = "" } = options;
  const told = typeof instructions === "string" ? instructions : await instructions(operation);
  const { prompt, messages, abortSignal = operation.signal, timeout, output } = call;
  const telemetry = operation.telemetry?.(agent.id);
  return {
    operation,
    settings: {
      ...modelSettings(options),
      ...defined(settings),
      model: boundedModel(options.model, options.timeout ?? defaultTimeout),
      ...(told !== "" && { instructions: told }),
      ...(messages === undefined ? { prompt } : { messages }),
      tools: toolsWithin(agent.tools, operation),
      ...defined({
        toolChoice: options.toolChoice,
        toolApproval: options.toolApproval,
        output,
        timeout,
        telemetry,
      }),
      ...(call.signed === true && { experimental_toolApprovalSecret: secret }),
      runtimeContext: { ...operationContext(operation) },
      stopWhen: isStepCount(maxSteps),
      maxRetries: options.maxRetries ?? 2,
      abortSignal,
      ...callbacks(agent, options, operation, call),
    },
    failed: (error: unknown) =>
      callHook(
        operation,
        "onError",
        options.hooks?.onError && (() => options.hooks?.onError?.({ agent, context: operation, error })),
      ),
  };
}

function operationOfNobody(signal: AbortSignal | undefined): Operation {
  return new Operation({
    userId: undefined,
    conversationId: undefined,
    context: new Map(),
    logger: silent,
    signal: signal ?? new AbortController().signal,
  });
}

function operationContext({ userId, conversationId, context, logger, signal }: Operation): Context {
  return { userId, conversationId, context, logger, signal };
}

function modelSettings(options: AgentOptions) {
  const { maxSteps: _, ...settings } = pickSettings(options);
  return defined(settings);
}

/** The hooks of the host and the callbacks of the caller, both, and the count of what was used. */
function callbacks(agent: Agent, { hooks = {} }: AgentOptions, operation: Operation, call: Call) {
  const context = operation;
  const onStepEnd = call.onStepEnd ?? call.onStepFinish;
  const onEnd = call.onEnd ?? call.onFinish;
  const toolOf = ({ toolCall }: ToolExecutionStartEvent) => {
    const { toolName, toolCallId, input } = toolCall;
    return { agent, context, toolName, toolCallId, input };
  };
  return {
    onStart: async (event: Parameters<NonNullable<Call["onStart"]>>[0]) => {
      await callHook(context, "onStart", hooks.onStart && (() => hooks.onStart?.({ agent, context })));
      await (call.onStart ?? call.experimental_onStart)?.(event);
    },
    onStepEnd: async (step: StepResult<ToolSet, Context>) => {
      operation.count(step.usage);
      await callHook(
        context,
        "onStepEnd",
        hooks.onStepEnd && (() => hooks.onStepEnd?.({ agent, context, step })),
      );
      await onStepEnd?.(step);
    },
    onToolExecutionStart: async (event: ToolExecutionStartEvent) => {
      await callHook(context, "onToolStart", hooks.onToolStart && (() => hooks.onToolStart?.(toolOf(event))));
      await call.onToolExecutionStart?.(event);
    },
    onToolExecutionEnd: async (event: ToolExecutionEndEvent) => {
      const { toolOutput } = event;
      const ending =
        toolOutput.type === "tool-error" ? { error: toolOutput.error } : { output: toolOutput.output };
      await callHook(
        context,
        "onToolEnd",
        hooks.onToolEnd && (() => hooks.onToolEnd?.({ ...toolOf(event), ...ending })),
      );
      await call.onToolExecutionEnd?.(event);
    },
    onEnd: async (event: GenerateTextEndEvent<ToolSet, Context>) => {
      const { text, finishReason } = event;
      const ending = { agent, context, text, finishReason, usage: operation.usage };
      await callHook(context, "onEnd", hooks.onEnd && (() => hooks.onEnd?.(ending)));
      await onEnd?.(event);
    },
    ...defined({ onStepStart: call.onStepStart ?? call.experimental_onStepStart }),
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The same object without what is undefined: the AI SDK tells "not given" from "undefined". */
function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
