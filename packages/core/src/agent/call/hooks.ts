// What a host can hook into an agent's answers. A hook that throws is logged and changes nothing.
import type { FinishReason, StepResult, ToolSet } from "ai";
import type { Agent } from "../agent.ts";
import type { AgentUsage, OperationContext } from "./operation.ts";

/** What every hook is given. */
export interface AgentHookContext {
  readonly agent: Agent;
  readonly context: OperationContext;
}

export interface ToolHookContext extends AgentHookContext {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
}

export interface AgentHooks {
  /** Before the first call of the model. */
  onStart?(event: AgentHookContext): unknown;
  /** The answer is complete. */
  onEnd?(
    event: AgentHookContext & {
      readonly text: string;
      readonly finishReason: FinishReason;
      readonly usage: AgentUsage;
    },
  ): unknown;
  /** There will be no complete answer: the provider failed, or it was aborted. */
  onError?(event: AgentHookContext & { readonly error: unknown }): unknown;
  /** Before a tool runs. */
  onToolStart?(event: ToolHookContext): unknown;
  /** A tool has run; `error` is what it threw. */
  onToolEnd?(event: ToolHookContext & { readonly output?: unknown; readonly error?: unknown }): unknown;
  /** After each call of the model and the tools that it asked for. */
  onStepEnd?(event: AgentHookContext & { readonly step: StepResult<ToolSet> }): unknown;
}

/** Calls one hook. The AI SDK would swallow what it throws; we tell the log. */
export async function callHook(
  { logger }: OperationContext,
  name: keyof AgentHooks,
  call: (() => unknown) | undefined,
): Promise<void> {
  if (call === undefined) return;
  try {
    await call();
  } catch (error) {
    logger.warn({ err: error, hook: name }, "a hook of the agent failed");
  }
}
