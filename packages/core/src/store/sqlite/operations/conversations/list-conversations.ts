// Lists conversations, the latest change first, a page at a time.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { ConversationQuery, ConversationRow } from "../../../conversation-store.ts";
import { readPage } from "../../../sql/read-page.ts";
import { toConversation } from "../../columns.ts";

export function listConversations(database: DatabaseSync) {
  return ({ userId, agentId, title, before, limit, length }: ConversationQuery): ConversationRow[] => {
    const conditions: string[] = [];
    const values: SQLInputValue[] = [];
    const where = (condition: string, ...bound: SQLInputValue[]) => {
      conditions.push(condition);
      values.push(...bound);
    };
    if (userId !== undefined) where("user_id is ?", userId);
    if (agentId !== undefined) where("agent_id = ?", agentId);
    if (title !== undefined) where("instr(lower(title), lower(?)) > 0", title);
    if (before !== undefined)
      where("(updated_at, conversation_id) < (?, ?)", before.updatedAt, before.conversationId);
    const filter = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
    const rows = database
      .prepare(`select * from conversations ${filter} order by updated_at desc, conversation_id desc limit ?`)
      .iterate(...values, limit);
    return readPage(rows, toConversation, length);
  };
}
