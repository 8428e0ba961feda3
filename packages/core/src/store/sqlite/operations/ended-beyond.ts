// Finds the newest ended execution beyond the `keep` most recent ones.
//
// It walks the index past every execution to keep, so it is a read: the reader thread has time for it.
import type { DatabaseSync } from "node:sqlite";
import type { EndPosition } from "../../store.ts";
import { integer, text } from "../columns.ts";

export function endedBeyond(database: DatabaseSync) {
  const select = database.prepare(
    `select end_at, execution_id from executions where end_at is not null and kind = 'workflow'
     order by end_at desc, execution_id desc limit 1 offset ?`,
  );
  return ({ keep }: { keep: number }): EndPosition | undefined => {
    const row = select.get(keep);
    return row && { endAt: integer(row, "end_at"), executionId: text(row, "execution_id") };
  };
}
