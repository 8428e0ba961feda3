// Ends an execution from outside: the first of this and the final commit wins.
import type { DatabaseSync } from "node:sqlite";
import type { Cancel, CancelAnswer } from "../../store.ts";
import { integer, status } from "../columns.ts";
import { appendEvents } from "./append-events.ts";

export function cancel(database: DatabaseSync) {
  const append = appendEvents(database);
  const select = database.prepare("select status, sequence, end_at from executions where execution_id = ?");
  const closeAll = database.prepare("delete from suspensions where execution_id = ?");
  const update = database.prepare(
    `update executions set status = 'cancelled', end_at = ?, sequence = sequence + 1, open_suspensions = 0, paused = 0,
       owner = null, token = null, parked = null
     where execution_id = ?`,
  );
  return ({ executionId, event }: Cancel): CancelAnswer => {
    const row = select.get(executionId);
    if (row === undefined) return { kind: "refused", status: "error" };
    if (row.end_at !== null) return { kind: "refused", status: status(row) };
    const sequence = integer(row, "sequence");
    append(executionId, sequence, [event]);
    closeAll.run(executionId);
    update.run(event.timestamp, executionId);
    return { kind: "cancelled", event: { ...event, sequence: sequence + 1 } };
  };
}
