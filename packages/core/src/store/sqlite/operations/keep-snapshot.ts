// Keeps the fold of a journal's first events, unless a newer one is kept or the execution needs none any more.
import type { DatabaseSync } from "node:sqlite";
import type { Snapshot } from "../../store.ts";

export function keepSnapshot(database: DatabaseSync) {
  const upsert = database.prepare(
    `insert into snapshots (execution_id, sequence, format, body)
     select execution_id, ?, ?, ? from executions where execution_id = ? and end_at is null and sequence >= ?
     on conflict (execution_id) do update
       set sequence = excluded.sequence, format = excluded.format, body = excluded.body
       where excluded.sequence > snapshots.sequence`,
  );
  return ({ executionId, sequence, format, body }: Snapshot): void => {
    upsert.run(sequence, format, body, executionId, sequence);
  };
}
