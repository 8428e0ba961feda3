// What the server says about agents, their replies and their conversations.
import type { JsonSchema, Usage } from "./executions.ts";

export interface AgentSummary<Id extends string = string> {
  readonly id: Id;
  readonly name: string;
  readonly purpose: string;
  /** Provider and name; null when it is not known. */
  readonly model: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: JsonSchema;
    /** Whether a person must allow its calls; `sometimes` where that is decided for each call. Absent: never. */
    readonly approval?: "always" | "sometimes" | undefined;
  }[];
  readonly subAgents: readonly string[];
  readonly status: "idle" | "running";
}

export interface AgentDetail extends AgentSummary {
  /** Null when they are made for each call, or not for this caller to read. */
  readonly instructions: string | null;
}

export interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

export interface ToolResult extends ToolCall {
  readonly output: unknown;
}

interface ReplyFields {
  readonly text: string;
  readonly finishReason: string;
  readonly toolCalls: readonly ToolCall[];
  readonly toolResults: readonly ToolResult[];
}

export interface TextReply extends ReplyFields {
  /** The text as the agent's output reads it; only where it has one. */
  readonly output?: unknown;
  /** Summed over all model calls, those of sub-agents too. */
  readonly usage: Usage;
  /** One for each call of the model. */
  readonly steps: readonly (ReplyFields & { readonly usage: Omit<Usage, "calls"> })[];
}

/** A part of a streamed reply: those of the AI SDK. */
export type StreamPart =
  | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "reasoning-delta"; readonly id: string; readonly delta: string }
  | ({ readonly type: "tool-call" } & ToolCall)
  | ({ readonly type: "tool-result" } & ToolResult)
  | ({ readonly type: "tool-error"; readonly error: string } & ToolCall)
  | { readonly type: "finish"; readonly finishReason: string; readonly totalUsage: Partial<Usage> }
  | { readonly type: "error"; readonly error: string }
  | { readonly type: "abort"; readonly reason?: string | undefined }
  | OtherPart;

interface OtherPart {
  readonly type:
    | "start"
    | "start-step"
    | "finish-step"
    | "text-start"
    | "text-end"
    | "reasoning-start"
    | "reasoning-end"
    | "reasoning-file"
    | "tool-input-start"
    | "tool-input-delta"
    | "tool-input-end"
    | "tool-approval-request"
    | "tool-approval-response"
    | "tool-output-denied"
    | "source"
    | "file";
  readonly [field: string]: unknown;
}

/** An object while it grows, then complete, or why it does not come. */
export type ObjectPart<Value = unknown> =
  | { readonly type: "object-delta"; readonly object: unknown }
  | { readonly type: "object"; readonly object: Value }
  | { readonly type: "error"; readonly error: string };

/** A chunk of the AI SDK's UI message stream. */
export interface ChatChunk {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Conversation {
  readonly conversationId: string;
  readonly agentId: string;
  readonly userId: string | null;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly usage: Usage;
}

export interface ConversationPage {
  readonly conversations: readonly Conversation[];
  readonly nextCursor: string | null;
}

/** A message as `useChat` of the AI SDK takes it. */
export interface ConversationMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly metadata?: unknown;
  readonly createdAt: string;
  /** The reply was stopped, or its process ended, before it was complete. */
  readonly partial?: true | undefined;
}

export interface MessagePage {
  readonly messages: readonly ConversationMessage[];
  readonly nextCursor: string | null;
}
