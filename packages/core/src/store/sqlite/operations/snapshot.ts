// Reads the fold of a journal's first events.
import type { DatabaseSync } from "node:sqlite";
import type { Snapshot } from "../../store.ts";
import { integer, text } from "../columns.ts";

export function snapshot(database: DatabaseSync) {
  const select = database.prepare("select sequence, format, body from snapshots where execution_id = ?");
  return (executionId: string): Snapshot | undefined => {
    const row = select.get(executionId);
    if (row === undefined) return undefined;
    return {
      executionId,
      sequence: integer(row, "sequence"),
      format: integer(row, "format"),
      body: text(row, "body"),
    };
  };
}
