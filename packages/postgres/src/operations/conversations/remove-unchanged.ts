// Removes the conversations that nothing has changed for long, a few at a time.
import { text } from "../../columns.ts";
import type { Readers } from "../../connection/readers.ts";
import { lockConversation } from "./once.ts";
import { removeConversation } from "./remove-conversation.ts";

export function removeUnchanged(readers: Readers, s: string) {
  const select = `select conversation_id from ${s}.conversations where updated_at < $1 and not exists (
      select from ${s}.executions where executions.conversation_id = conversations.conversation_id
        and kind = 'turn' and end_at is null and status = 'running')
    order by updated_at, conversation_id limit $2`;
  const still = `select from ${s}.conversations where conversation_id = $1 and updated_at < $2`;
  const remove = removeConversation(s);
  return async ({
    before,
    limit,
  }: {
    readonly before: number;
    readonly limit: number;
  }): Promise<string[]> => {
    const found = (await readers.search(select, [before, limit])).map((row) => text(row, "conversation_id"));
    const removed: string[] = [];
    for (const conversationId of found) {
      const isGone = await readers.write("removeUnchanged", async (query) => {
        await lockConversation(query, s, conversationId);
        // It may have been continued since.
        if ((await query(still, [conversationId, before])).count === 0) return false;
        return remove(query, { conversationId });
      });
      if (isGone) removed.push(conversationId);
    }
    return removed;
  };
}
