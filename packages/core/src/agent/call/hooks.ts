// The hooks of a host around the calls of an agent. A hook that throws is logged and changes nothing, except that some may
// refuse with a `PublicError`.
import type { FinishReason, StepResult, ToolSet } from "ai";
import { PublicError, ReplyRefusedError } from "../../errors/index.ts";
import type { KnownOptions } from "../../values/check-options.ts";
import type { AgentInfo } from "./callable-agent.ts";
import type { AgentUsage, Operation, OperationContext } from "./operation.ts";
import type { SdkCallbacks } from "./sdk-settings.ts";

/** The argument of every hook of an agent. */
export interface AgentHookContext {
  readonly agent: AgentInfo;
  readonly context: OperationContext;
}

/** The argument of the hooks around a tool. */
export interface ToolHookContext extends AgentHookContext {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
}

export interface AgentHooks {
  /** Before the first call of the model. A `PublicError` refuses the reply. */
  onStart?(context: AgentHookContext): unknown;
  /** The reply is complete. A `PublicError` refuses it: the caller gets its words, and the reply is not kept. */
  onEnd?(
    context: AgentHookContext & {
      readonly text: string;
      readonly finishReason: FinishReason;
      readonly usage: AgentUsage;
    },
  ): unknown;
  /** There will be no complete reply: the provider failed, or the call was aborted. */
  onError?(context: AgentHookContext & { readonly error: unknown }): unknown;
  /** Before a tool runs. A `PublicError` refuses the call: the model reads its words instead of an output. */
  onToolStart?(context: ToolHookContext): unknown;
  /** A tool has run; `error` is the value that it threw. */
  onToolEnd?(context: ToolHookContext & { readonly output?: unknown; readonly error?: unknown }): unknown;
  /** After each call of the model and the tools that it asked for. */
  onStepEnd?(context: AgentHookContext & { readonly step: StepResult<ToolSet> }): unknown;
}

export const knownHooks: KnownOptions<AgentHooks> = {
  onStart: true,
  onEnd: true,
  onError: true,
  onToolStart: true,
  onToolEnd: true,
  onStepEnd: true,
};

/** Calls one hook and logs its error, which the AI SDK would swallow. */
export async function callHook(
  { logger }: OperationContext,
  name: keyof AgentHooks | keyof SdkCallbacks,
  call: () => unknown,
): Promise<void> {
  try {
    await call();
  } catch (error) {
    logger.warn({ err: error, hook: name }, "a hook of the agent failed");
  }
}

/** Calls one hook that may refuse with a `PublicError`. */
export async function callGuard(
  context: OperationContext,
  name: keyof AgentHooks,
  call: () => unknown,
): Promise<void> {
  const refusal = await refusalOf(context, name, call);
  if (refusal !== undefined) throw refusal;
}

/** The same for the whole reply. */
export async function callReplyGuard(
  operation: Operation,
  name: "onStart" | "onEnd",
  call: () => unknown,
): Promise<void> {
  const refusal = await refusalOf(operation, name, call);
  if (refusal === undefined) return;
  operation.isRefused = true;
  throw new ReplyRefusedError({ reason: refusal.message, cause: refusal });
}

async function refusalOf(
  context: OperationContext,
  name: keyof AgentHooks,
  call: () => unknown,
): Promise<PublicError | undefined> {
  let refusal: PublicError | undefined;
  await callHook(context, name, async () => {
    try {
      await call();
    } catch (thrown) {
      if (!(thrown instanceof PublicError)) throw thrown;
      refusal = thrown;
    }
  });
  return refusal;
}
