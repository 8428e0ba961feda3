// Writes and removes the entries of an execution in the index of values.
import type { DatabaseSync } from "node:sqlite";
import { keyOf, readEntries } from "../../../search/entries.ts";
import type { SearchMatch } from "../../../search-store.ts";
import { text } from "../../columns.ts";

interface Indexed {
  readonly executionId: string;
  readonly startAt: number;
  readonly userId: string | null;
}

export function changeEntries(database: DatabaseSync) {
  const read = database.prepare("select entries from search_entries where execution_id = ?");
  const add = database.prepare(
    `insert into search_values (value, start_at, execution_id, path, user_id) values (?, ?, ?, ?, ?)
     on conflict do nothing`,
  );
  const drop = database.prepare(
    "delete from search_values where value = ? and start_at = ? and execution_id = ? and path = ?",
  );
  const keep = database.prepare(
    `insert into search_entries (execution_id, sequence, rules, entries) values (?, ?, ?, ?)
     on conflict (execution_id) do update set sequence = excluded.sequence, rules = excluded.rules,
       entries = excluded.entries`,
  );
  const forget = database.prepare("delete from search_entries where execution_id = ?");
  const entriesIn = (executionId: string): readonly SearchMatch[] => {
    const row = read.get(executionId);
    return row === undefined ? [] : readEntries(text(row, "entries"));
  };
  return {
    replace: (
      { executionId, startAt, userId }: Indexed,
      entries: readonly SearchMatch[],
      sequence: number,
      rules: number,
    ): void => {
      const before = new Map(entriesIn(executionId).map((each) => [keyOf(each), each]));
      for (const entry of entries) {
        if (!before.delete(keyOf(entry))) add.run(entry.value, startAt, executionId, entry.path, userId);
      }
      for (const { value, path } of before.values()) drop.run(value, startAt, executionId, path);
      keep.run(executionId, sequence, rules, JSON.stringify(entries));
    },
    remove: ({ executionId, startAt }: Omit<Indexed, "userId">): void => {
      for (const { value, path } of entriesIn(executionId)) drop.run(value, startAt, executionId, path);
      forget.run(executionId);
    },
  };
}
