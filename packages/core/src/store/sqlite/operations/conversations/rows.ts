// Rows of conversations and messages as the contract names them.
import type { ConversationRow, StoredMessage } from "../../../conversation-store.ts";
import { usageDetails } from "../../../usage.ts";
import { integer, nullableText, type Row, text } from "../../columns.ts";

export function toConversation(row: Row): ConversationRow {
  return {
    conversationId: text(row, "conversation_id"),
    agentId: text(row, "agent_id"),
    userId: nullableText(row, "user_id"),
    title: nullableText(row, "title"),
    metadata: nullableText(row, "metadata"),
    createdAt: integer(row, "created_at"),
    updatedAt: integer(row, "updated_at"),
    usage: {
      inputTokens: integer(row, "input_tokens"),
      outputTokens: integer(row, "output_tokens"),
      totalTokens: integer(row, "total_tokens"),
      calls: integer(row, "calls"),
      ...usageDetails(integer(row, "cached_input_tokens"), integer(row, "reasoning_tokens")),
    },
  };
}

export function toMessage(row: Row): StoredMessage {
  return {
    sequence: integer(row, "sequence"),
    messageId: text(row, "message_id"),
    body: text(row, "body"),
    partial: integer(row, "partial") === 1,
    createdAt: integer(row, "created_at"),
  };
}
