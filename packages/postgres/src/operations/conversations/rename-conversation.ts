// Changes the title of a conversation.
import type { OneConversation } from "@andante/core/store";
import { writeFreeText } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { owned, ownerOf } from "./rows.ts";

export function renameConversation(s: string) {
  const update = `update ${s}.conversations set title = $4, updated_at = greatest(updated_at, $5) where ${owned}`;
  return async (
    query: Query,
    change: OneConversation & { readonly title: string; readonly at: number },
  ): Promise<boolean> => {
    const { conversationId, userId, title, at } = change;
    const values = [conversationId, ...ownerOf(userId), writeFreeText(title), at];
    return (await query(update, values)).count > 0;
  };
}
