// Removes the pages of forks that have not been copied to their end.
import type { DatabaseSync } from "node:sqlite";
import { text } from "../../columns.ts";

/** Of one fork; nothing happens where there is none. */
export function dropFork(database: DatabaseSync) {
  const forget = database.prepare("delete from forks where fork_id = ?");
  const empty = database.prepare("delete from messages where conversation_id = ?");
  return (forkId: string): void => {
    if (forget.run(forkId).changes > 0) empty.run(forkId);
  };
}

/** Of all forks of a conversation. */
export function dropForksOf(database: DatabaseSync) {
  const select = database.prepare("select fork_id from forks where source_id = ?");
  const drop = dropFork(database);
  return (sourceId: string): void => {
    for (const row of select.all(sourceId)) drop(text(row, "fork_id"));
  };
}

/** Of one fork that was left. */
export function removeUnfinishedFork(database: DatabaseSync) {
  const select = database.prepare("select fork_id from forks where changed_at < ? limit 1");
  const drop = dropFork(database);
  return ({ before }: { readonly before: number }): boolean => {
    const row = select.get(before);
    if (row !== undefined) drop(text(row, "fork_id"));
    return row !== undefined;
  };
}
