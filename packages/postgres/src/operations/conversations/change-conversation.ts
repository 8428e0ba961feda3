// Changes the title and the metadata of a conversation.
import type { ChangeConversation } from "@andante/core/store";
import { writeFreeText } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { owned, ownerOf } from "./rows.ts";

export function changeConversation(s: string) {
  const update = `update ${s}.conversations set title = coalesce($4, title),
      metadata = case when $5 then $6 else metadata end, updated_at = greatest(updated_at, $7)
    where ${owned}`;
  return async (query: Query, change: Omit<ChangeConversation, "key">): Promise<boolean> => {
    const { conversationId, userId, title, metadata, at } = change;
    const written = title === undefined ? null : writeFreeText(title);
    const values = [written, metadata !== undefined, metadata ?? null, at];
    return (await query(update, [conversationId, ...ownerOf(userId), ...values])).count > 0;
  };
}
