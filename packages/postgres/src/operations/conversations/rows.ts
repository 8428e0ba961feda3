// The columns of conversations and messages, and whose conversation a statement may touch.

export const conversationColumns =
  "conversation_id, agent_id, user_id, title, metadata, created_at, updated_at, input_tokens, output_tokens, total_tokens, calls, cached_input_tokens, reasoning_tokens, cache_write_tokens, nanos, unpriced_calls";

export const messageColumns = "sequence, message_id, body, partial, created_at";

/** $1 is the conversation, $2 and $3 are `ownerOf`: is it limited to an owner, and to which one. */
export const owned = "conversation_id = $1 and ($2 = false or user_id is not distinct from $3)";

export function ownerOf(userId: string | null | undefined): [limited: boolean, userId: string | null] {
  return userId === undefined ? [false, null] : [true, userId];
}
