// Agents with the ids of one host, and the parts of streamed replies, of which the server's schemas define only `type`.
import type * as wire from "./wire.ts";

export interface AgentSummary<Id extends string = string> extends wire.AgentSummary {
  readonly id: Id;
}

/** A part of a streamed reply, with the names of the AI SDK. */
export type StreamPart =
  | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "reasoning-delta"; readonly id: string; readonly delta: string }
  | ({ readonly type: "tool-call" } & wire.ToolCall)
  | ({ readonly type: "tool-result" } & wire.ToolResult)
  | ({ readonly type: "tool-error"; readonly error: string } & wire.ToolCall)
  | { readonly type: "finish"; readonly finishReason: string; readonly totalUsage: Partial<wire.Usage> }
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

/** A growing object, the complete object, or the error. */
export type ObjectPart<Value = unknown> =
  | { readonly type: "object-delta"; readonly object: unknown }
  | { readonly type: "object"; readonly object: Value }
  | { readonly type: "error"; readonly error: string };
