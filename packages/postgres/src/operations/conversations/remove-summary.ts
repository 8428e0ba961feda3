// Removes a summary from a conversation: a model sees the messages again that it replaced.
import type { RemoveSummary } from "@andante/core/store";
import type { Query } from "../../connection/client.ts";
import { owned, ownerOf } from "./rows.ts";

export function removeSummary(s: string) {
  const remove = `delete from ${s}.messages where conversation_id = $1 and message_id = $4 and role = 'summary'
    and exists (select from ${s}.conversations where ${owned})`;
  const touch = `update ${s}.conversations set revision = revision + 1 where conversation_id = $1`;
  return async (query: Query, { conversationId, userId, messageId }: RemoveSummary): Promise<boolean> => {
    const { count } = await query(remove, [conversationId, ...ownerOf(userId), messageId]);
    if (count === 0) return false;
    await query(touch, [conversationId]);
    return true;
  };
}
