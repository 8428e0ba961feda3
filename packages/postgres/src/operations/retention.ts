// Deletes ended executions with all that belongs to them, oldest end first, a bounded number of rows at a time.
import type { DeleteFinished, EndPosition } from "@andante/core/store";
import { integer, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { queueStatement } from "../write/changes.ts";
import { forgetStatements } from "./search.ts";

/** The newest ended execution beyond the `keep` most recent ones. */
export function endedBeyond(readers: Readers, s: string) {
  const select = `select end_at, execution_id from ${s}.executions where end_at is not null and kind = 'workflow'
    order by end_at desc, execution_id desc limit 1 offset $1`;
  return async ({ keep }: { keep: number }): Promise<EndPosition | undefined> => {
    const [row] = await readers.search(select, [keep]);
    return row && { endAt: integer(row, "end_at"), executionId: text(row, "execution_id") };
  };
}

export function deleteFinished(readers: Readers, s: string) {
  // Rows that another node deletes at the same time are passed over. Live executions are neither locked nor waited for.
  const selectOf = (kind: "workflow" | "turn") => `select execution_id from ${s}.executions
    where end_at is not null and kind = '${kind}' and (end_at, execution_id) <= ($1, $2)
    order by end_at, execution_id limit $3 for update skip locked`;
  const count = `select execution_id, count(*) as count from ${s}.journal where execution_id = any($1)
    group by execution_id`;
  // From the end: the rest of a journal is always a beginning, and the row is deleted last.
  const deleteSome = `delete from ${s}.journal where execution_id = $1 and sequence in
    (select sequence from ${s}.journal where execution_id = $1 order by sequence desc limit $2)`;
  const belongings = ["journal", "suspensions", "timers", "snapshots"].map(
    (table) => `delete from ${s}.${table} where execution_id = any($1)`,
  );
  const deleteTags = `delete from ${s}.execution_tags using ${s}.executions, json_array_elements_text(tags::json) as each (tag)
    where executions.execution_id = any($1) and tags is not null and execution_tags.tag = each.tag
      and execution_tags.start_at = executions.start_at and execution_tags.execution_id = executions.execution_id`;
  const deleteRows = `delete from ${s}.executions where execution_id = any($1)`;

  return (asked: DeleteFinished): Promise<{ executionIds: string[]; more: boolean }> =>
    readers.write("deleteFinished", async (query) => {
      const { kind = "workflow", upTo, limit, events } = asked;
      const found = (await query(selectOf(kind), [upTo.endAt, upTo.executionId, limit], "planned")).rows.map(
        (row) => text(row, "execution_id"),
      );
      if (found.length === 0) return { executionIds: [], more: false };
      const lengths = new Map(
        (await query(count, [found])).rows.map((row) => [text(row, "execution_id"), integer(row, "count")]),
      );
      let left = events;
      const whole: string[] = [];
      for (const executionId of found) {
        const length = lengths.get(executionId) ?? 0;
        if (length >= left) break;
        left -= length;
        whole.push(executionId);
      }
      if (whole.length > 0)
        for (const statement of [
          ...belongings,
          deleteTags,
          deleteRows,
          ...forgetStatements(s),
          queueStatement(s),
        ])
          await query(statement, [whole]);
      const longer = found[whole.length];
      if (longer === undefined) return { executionIds: whole, more: found.length === limit };
      // The next call continues with it.
      await query(deleteSome, [longer, left]);
      return { executionIds: [...whole, longer], more: true };
    });
}
