// A complete reply: as callers of `text` see it, and as the message that a conversation keeps.
import type { FinishReason, StepResult, ToolSet, UIMessage } from "ai";
import type { Context } from "../call/any-agent.ts";
import type { AgentResult } from "../call/callable-agent.ts";
import { toolErrorText } from "../call/model-failure.ts";
import type { AgentUsage } from "../call/operation.ts";
import { plainJson } from "./plain-json.ts";

export interface ToolCallView {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

export interface ToolResultView extends ToolCallView {
  readonly output: unknown;
}

export interface StepView {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Omit<AgentUsage, "calls">;
  readonly toolCalls: readonly ToolCallView[];
  readonly toolResults: readonly ToolResultView[];
}

export interface TextReply {
  readonly text: string;
  /** Summed over all model calls, those of sub-agents too. */
  readonly usage: AgentUsage;
  readonly finishReason: FinishReason;
  readonly toolCalls: readonly ToolCallView[];
  readonly toolResults: readonly ToolResultView[];
  /** One for each call of the model. */
  readonly steps: readonly StepView[];
}

type Step = StepResult<ToolSet, Context>;
type Part = UIMessage["parts"][number];

export function viewReply(result: AgentResult, usage: AgentUsage): TextReply {
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

function viewStep(step: Step): StepView {
  const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = step.usage;
  return {
    text: step.text,
    finishReason: step.finishReason,
    usage: { inputTokens, outputTokens, totalTokens },
    toolCalls: step.toolCalls.map(viewCall),
    toolResults: step.toolResults.map((result) => ({
      ...viewCall(result),
      output: plainJson(result.output),
    })),
  };
}

function viewCall({ toolCallId, toolName, input }: ToolCallView): ToolCallView {
  return { toolCallId, toolName, input: plainJson(input) };
}

/** The reply as a chat message, made of the same parts as a streamed one. */
export function messageOfReply(id: string, { steps }: { readonly steps: readonly Step[] }): UIMessage {
  const parts: Part[] = [];
  for (const step of steps) {
    parts.push({ type: "step-start" });
    const calls = new Map<string, number>();
    for (const part of step.content) addPart(parts, calls, part);
  }
  return { id, role: "assistant", parts };
}

/** `calls` is where each tool call of the step is among the parts. */
function addPart(parts: Part[], calls: Map<string, number>, part: Step["content"][number]): void {
  switch (part.type) {
    case "text":
      parts.push({ type: "text", text: part.text, state: "done" });
      return;
    case "reasoning": {
      const { text, providerMetadata } = part;
      parts.push({ type: "reasoning", text, state: "done", ...(providerMetadata && { providerMetadata }) });
      return;
    }
    case "file":
      parts.push({
        type: "file",
        mediaType: part.file.mediaType,
        url: `data:${part.file.mediaType};base64,${part.file.base64}`,
      });
      return;
    case "tool-call": {
      calls.set(part.toolCallId, parts.length);
      parts.push({ ...toolPart(part), state: "input-available" });
      return;
    }
    case "tool-result": {
      const at = calls.get(part.toolCallId) ?? parts.length;
      parts[at] = { ...toolPart(part), state: "output-available", output: plainJson(part.output) };
      return;
    }
    case "tool-error": {
      const at = calls.get(part.toolCallId) ?? parts.length;
      parts[at] = { ...toolPart(part), state: "output-error", errorText: toolErrorText(part.error) };
      return;
    }
    case "tool-approval-request": {
      const { toolCall, approvalId } = part;
      const at = calls.get(toolCall.toolCallId) ?? parts.length;
      parts[at] = { ...toolPart(toolCall), state: "approval-requested", approval: { id: approvalId } };
    }
  }
}

/** The type of a part is made of the tool's name, except for dynamic tools. */
function toolPart({
  toolCallId,
  toolName,
  input,
  dynamic,
}: ToolCallView & { dynamic?: boolean | undefined }) {
  const common = { toolCallId, input: plainJson(input) };
  if (dynamic === true) return { ...common, type: "dynamic-tool" as const, toolName };
  return { ...common, type: `tool-${toolName}` as const };
}
