// Ends an execution from outside, cancelled or out of time: the first of this and the final commit wins.
import type { DatabaseSync } from "node:sqlite";
import type { Cancel, CancelResult } from "../../store.ts";
import { integer, status } from "../columns.ts";
import { appendEvents, timeAt } from "../journal-rows.ts";
import { recordedWrite } from "./recorded-write.ts";

export function cancel(database: DatabaseSync) {
  const append = appendEvents(database);
  const timeOf = timeAt(database);
  const recorded = recordedWrite(database);
  const select = database.prepare(
    "select status, sequence, end_at, paused from executions where execution_id = ?",
  );
  const isOpen = database.prepare("select 1 from suspensions where suspension_id = ?");
  const clearTimers = database.prepare("delete from timers where execution_id = ?");
  const closeAll = database.prepare("delete from suspensions where execution_id = ?");
  const update = database.prepare(
    `update executions set status = ?, error = ?, end_at = ?, sequence = sequence + 1, open_suspensions = 0, paused = 0,
       owner = null, token = null, parked = null
     where execution_id = ?`,
  );
  return ({ executionId, key, event: given, status: ended, error, due }: Cancel): CancelResult => {
    const row = select.get(executionId);
    if (row === undefined) return { kind: "refused", status: "error" };
    if (row.end_at !== null) {
      const [first] = recorded(executionId, integer(row, "sequence"), key)?.events ?? [];
      return first === undefined
        ? { kind: "refused", status: status(row) }
        : { kind: "cancelled", event: first };
    }
    if (due !== null && integer(row, "paused") === 1) return { kind: "refused", status: status(row) };
    if (due?.suspensionId && isOpen.get(due.suspensionId) === undefined)
      return { kind: "refused", status: status(row) };
    const sequence = integer(row, "sequence");
    const timestamp = Math.max(given.timestamp, timeOf(executionId, sequence) ?? 0);
    const event = { ...given, timestamp };
    append(executionId, sequence, [event], key);
    closeAll.run(executionId);
    clearTimers.run(executionId);
    update.run(ended, error, timestamp, executionId);
    return { kind: "cancelled", event: { ...event, sequence: sequence + 1 } };
  };
}
