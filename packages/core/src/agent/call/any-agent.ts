// Any agent that a host can pass: ours, and every object with the AI SDK's `Agent` interface.
import type {
  Agent as AiAgent,
  FinishReason,
  LanguageModelUsage,
  ModelMessage,
  Output,
  StreamTextResult,
  TelemetryOptions,
  ToolSet,
} from "ai";
import type { Duration } from "../../values/duration.ts";
import type { WorkflowAgent, WorkflowDefinition } from "../../workflow/step.ts";

/** The values that the AI SDK passes from a call to its callbacks. */
export type Context = Record<string, unknown>;

/** A reply of any shape. */
export type AnyOutput = Output.Output<unknown, unknown, unknown>;

/** The call of an agent, in the terms that agents with any tools share. */
interface AgentCall {
  messages: ModelMessage[];
  abortSignal?: AbortSignal;
  telemetry?: TelemetryOptions | undefined;
  onStepEnd?: (step: { readonly usage: LanguageModelUsage }) => void;
}

interface ReplyStep {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: LanguageModelUsage;
  readonly toolCalls: readonly ToolCallView[];
  readonly toolResults: readonly ToolResultView[];
}

export interface ToolCallView {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

export interface ToolResultView extends ToolCallView {
  readonly output: unknown;
}

/** A complete reply of an agent with any tools. */
export interface AnyReply {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly steps: readonly ReplyStep[];
}

/** A reply part by part. */
export type AnyStream = Pick<StreamTextResult<ToolSet, Context, AnyOutput>, "stream">;

/** The AI SDK's `Agent`, whose own type with `ToolSet` refuses an agent with certain tools. */
export interface AnyAgent
  extends Pick<AiAgent<never, ToolSet, Context, AnyOutput>, "version" | "id" | "tools"> {
  generate(options: AgentCall): PromiseLike<AnyReply>;
  stream(options: AgentCall): PromiseLike<AnyStream>;
}

/** A sub-agent with options. */
export interface SubAgentOptions {
  /** Any agent of the AI SDK. */
  readonly agent: AnyAgent & WorkflowAgent;
  /**
   * Each task is an execution of its own: the call returns `{ executionId }` at once, and the end is posted into the
   * conversation. Default: false, the call returns the reply of the sub-agent.
   */
  readonly background?: boolean | undefined;
  /** In the background: the agent replies to the end. Default: false. */
  readonly wake?: boolean | undefined;
  /** In the background: the time that a task may take. Default: no limit. */
  readonly timeout?: Duration | undefined;
}

/** The work of a sub-agent in the background: a workflow with one step, which asks it. */
export interface AgentTask {
  readonly agent: AnyAgent;
  readonly workflow: WorkflowDefinition;
}
