// Suspends a running execution from outside, at once.
import type { DatabaseSync } from "node:sqlite";
import type { NewEvent, Pause, PauseAnswer, Suspension } from "../../store.ts";
import { integer, status } from "../columns.ts";
import { appendEvents } from "./append-events.ts";
import { openSuspension } from "./open-suspension.ts";

export function pause(database: DatabaseSync) {
  const append = appendEvents(database);
  const open = openSuspension(database);
  const select = database.prepare(
    "select status, sequence, step_index from executions where execution_id = ?",
  );
  const update = database.prepare(
    `update executions set status = 'suspended', paused = 1, open_suspensions = 1, sequence = sequence + 1
     where execution_id = ?`,
  );
  return (argument: Pause): PauseAnswer => {
    const { executionId, suspensionId, reason, at, userId } = argument;
    const row = select.get(executionId);
    if (row === undefined) return { kind: "refused", status: "error" };
    if (status(row) !== "running") return { kind: "refused", status: status(row) };
    const stepIndex = integer(row, "step_index");
    const suspension: Suspension = {
      suspensionId,
      path: null,
      stepIndex,
      reason,
      data: null,
      suspendedAt: at,
      deadline: null,
      onDeadline: null,
    };
    const event: NewEvent = {
      timestamp: at,
      type: "workflow-suspended",
      path: null,
      stepIndex,
      stepType: null,
      value: null,
      detail: JSON.stringify({ suspensionId, reason, suspendedAt: at, userId }),
    };
    open(executionId, suspension);
    append(executionId, integer(row, "sequence"), [event]);
    update.run(executionId);
    return { kind: "paused", event: { ...event, sequence: integer(row, "sequence") + 1 }, suspension };
  };
}
