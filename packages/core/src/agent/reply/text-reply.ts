// A complete reply as callers of `text` see it.
import type { FinishReason } from "ai";
import { plainJson } from "../../values/json.ts";
import type { AnyReply, ToolCallView, ToolResultView } from "../call/any-agent.ts";
import { type AgentUsage, countedTokens } from "../call/operation.ts";

export interface StepView {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Omit<AgentUsage, "calls">;
  readonly toolCalls: readonly ToolCallView[];
  readonly toolResults: readonly ToolResultView[];
}

export interface TextReply {
  readonly text: string;
  /** The text as the agent's `output` reads it; only where it has one. */
  readonly output?: unknown;
  /** Summed over all model calls, those of sub-agents too. */
  readonly usage: AgentUsage;
  readonly finishReason: FinishReason;
  readonly toolCalls: readonly ToolCallView[];
  readonly toolResults: readonly ToolResultView[];
  /** One for each call of the model. */
  readonly steps: readonly StepView[];
}

export function viewReply(result: AnyReply, usage: AgentUsage): TextReply {
  const steps = result.steps.map(viewStep);
  return {
    text: result.text,
    usage,
    finishReason: result.finishReason,
    toolCalls: steps.flatMap((step) => step.toolCalls),
    toolResults: steps.flatMap((step) => step.toolResults),
    steps,
  };
}

function viewStep(step: AnyReply["steps"][number]): StepView {
  return {
    text: step.text,
    finishReason: step.finishReason,
    usage: countedTokens(step.usage),
    toolCalls: step.toolCalls.map(viewCall),
    toolResults: step.toolResults.map(viewResult),
  };
}

export function viewCall({ toolCallId, toolName, input }: ToolCallView): ToolCallView {
  return { toolCallId, toolName, input: plainJson(input) };
}

export function viewResult(result: ToolResultView): ToolResultView {
  return { ...viewCall(result), output: plainJson(result.output) };
}
