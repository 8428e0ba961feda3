// Removes the conversations that nothing has changed for long, a few at a time.
import type { DatabaseSync } from "node:sqlite";
import { text } from "../../columns.ts";
import { removeConversation } from "./remove-conversation.ts";

export function removeUnchanged(database: DatabaseSync) {
  const select = database.prepare(
    `select conversation_id from conversations indexed by conversations_by_change
     where updated_at < ? and not exists (
       select 1 from executions indexed by executions_live_turn
       where executions.conversation_id = conversations.conversation_id and kind = 'turn' and end_at is null
         and status = 'running')
     order by updated_at, conversation_id limit ?`,
  );
  const remove = removeConversation(database);
  return ({ before, limit }: { readonly before: number; readonly limit: number }): string[] => {
    const ids = select.all(before, limit).map((row) => text(row, "conversation_id"));
    for (const conversationId of ids) remove({ conversationId });
    return ids;
  };
}
