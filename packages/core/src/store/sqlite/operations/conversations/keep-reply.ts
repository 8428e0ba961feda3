// Keeps an assistant's message and adds what it used, unless the conversation is gone.
import type { DatabaseSync } from "node:sqlite";
import type { KeepReply } from "../../../conversation-store.ts";
import { integer } from "../../columns.ts";

export function keepReply(database: DatabaseSync) {
  const conversation = database.prepare(
    "select sequence from conversations where conversation_id = ? and user_id is ?",
  );
  const write = database.prepare(
    `insert into messages (conversation_id, sequence, message_id, role, body, partial, created_at)
     values (?, ?, ?, 'assistant', ?, ?, ?)
     on conflict (conversation_id, message_id) do update set body = excluded.body, partial = excluded.partial
       where role = 'assistant'`,
  );
  const update = database.prepare(
    `update conversations set
       updated_at = max(updated_at, ?), sequence = ?,
       input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
       total_tokens = total_tokens + ?, calls = calls + ?
     where conversation_id = ?`,
  );
  return ({ conversationId, userId, message, usage, at }: KeepReply): boolean => {
    const row = conversation.get(conversationId, userId);
    if (row === undefined) return false;
    const sequence = integer(row, "sequence") + (message === null ? 0 : 1);
    if (message !== null) {
      const { messageId, body, partial } = message;
      write.run(conversationId, sequence, messageId, body, partial ? 1 : 0, at);
    }
    const { inputTokens, outputTokens, totalTokens, calls } = usage;
    update.run(at, sequence, inputTokens, outputTokens, totalTokens, calls, conversationId);
    return true;
  };
}
