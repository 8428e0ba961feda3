// Removes a conversation with its messages and its turns.
import type { DatabaseSync } from "node:sqlite";
import type { OneConversation } from "../../../conversation-store.ts";
import { text } from "../../columns.ts";
import { journalOf } from "../../journal-rows.ts";
import { removeFacts } from "../facts.ts";
import { owned, ownerOf } from "./ownership.ts";
import { dropForksOf } from "./unfinished-forks.ts";

export function removeConversation(database: DatabaseSync) {
  const remove = database.prepare(`delete from conversations where conversation_id = ? and ${owned}`);
  const empty = database.prepare("delete from messages where conversation_id = ?");
  const dropForks = dropForksOf(database);
  const forget = removeFacts(database);
  const turns = database.prepare(
    `select execution_id from executions indexed by executions_of_conversation
     where conversation_id = ? and kind = 'turn'`,
  );
  const deleteJournal = database.prepare(`delete from journal where execution = ${journalOf}`);
  const deleteSuspensions = database.prepare("delete from suspensions where execution_id = ?");
  const deleteTurn = database.prepare("delete from executions where execution_id = ?");
  return ({ conversationId, userId }: OneConversation): boolean => {
    if (remove.run(conversationId, ...ownerOf(userId)).changes === 0) return false;
    empty.run(conversationId);
    dropForks(conversationId);
    forget({ scope: "conversation", subject: conversationId });
    // The owner of one of them finds its claim gone.
    for (const row of turns.all(conversationId)) {
      const executionId = text(row, "execution_id");
      deleteJournal.run(executionId);
      deleteSuspensions.run(executionId);
      deleteTurn.run(executionId);
    }
    return true;
  };
}
