// Keeps and reads the fold of a journal's first events.
import type { Snapshot } from "@andante/core/store";
import { integer, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";

/** Keeps it, unless a newer one is kept or the execution needs none any more. */
export function keepSnapshot(readers: Readers, s: string) {
  const upsert = `insert into ${s}.snapshots (execution_id, sequence, format, body)
    select execution_id, $2, $3, $4 from ${s}.executions
    where execution_id = $1 and end_at is null and sequence >= $2
    on conflict (execution_id) do update
      set sequence = excluded.sequence, format = excluded.format, body = excluded.body
      where excluded.sequence > snapshots.sequence`;
  return ({ executionId, sequence, format, body }: Snapshot): Promise<void> =>
    readers.write("keepSnapshot", async (query) => {
      await query(upsert, [executionId, sequence, format, body]);
    });
}

export function snapshot(readers: Readers, s: string) {
  const select = `select sequence, format, body from ${s}.snapshots where execution_id = $1`;
  return async (executionId: string): Promise<Snapshot | undefined> => {
    const [row] = await readers.read(select, [executionId]);
    if (row === undefined) return undefined;
    return {
      executionId,
      sequence: integer(row, "sequence"),
      format: integer(row, "format"),
      body: text(row, "body"),
    };
  };
}
