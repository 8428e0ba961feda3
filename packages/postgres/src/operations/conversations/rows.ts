// Rows of conversations and messages as the contract names them, and whose conversation a statement may touch.
import { type ConversationRow, type StoredMessage, usageDetails } from "@andante/core/store";
import { integer, nullableText, type Row, readFreeText, text, truth } from "../../columns.ts";

export const conversationColumns =
  "conversation_id, agent_id, user_id, title, metadata, created_at, updated_at, input_tokens, output_tokens, total_tokens, calls, cached_input_tokens, reasoning_tokens";

export const messageColumns = "sequence, message_id, body, partial, created_at";

export function toConversation(row: Row): ConversationRow {
  return {
    conversationId: text(row, "conversation_id"),
    agentId: text(row, "agent_id"),
    userId: nullableText(row, "user_id"),
    title: row.title === null ? null : readFreeText(text(row, "title")),
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
    partial: truth(row, "partial"),
    createdAt: integer(row, "created_at"),
  };
}

/** $1 is the conversation, $2 and $3 are `ownerOf`: is it limited to an owner, and to which one. */
export const owned = "conversation_id = $1 and ($2 = false or user_id is not distinct from $3)";

export function ownerOf(userId: string | null | undefined): [limited: boolean, userId: string | null] {
  return userId === undefined ? [false, null] : [true, userId];
}
