// The chunk of the UI message stream that a part of a reply becomes.
import { type ToolSet, toUIMessageChunk, type UIMessageChunk } from "ai";
import { replyErrorText } from "../call/model-failure.ts";
import type { Part } from "./stream-parts.ts";

/** The chat message that the reply becomes, or continues. */
export interface TargetMessage {
  readonly messageId: string;
  readonly tools: ToolSet;
}

/** Undefined for parts that chat clients do not see. */
export function chatChunk(part: Part, { tools, messageId }: TargetMessage): UIMessageChunk | undefined {
  return toUIMessageChunk(part, {
    tools,
    sendReasoning: true,
    sendSources: true,
    onError: replyErrorText,
    responseMessageId: messageId,
  });
}
