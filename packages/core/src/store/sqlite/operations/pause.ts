// Suspends a running execution from outside, at once.
import type { DatabaseSync } from "node:sqlite";
import type { Pause, PauseResult } from "../../store.ts";
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
  return (argument: Pause): PauseResult => {
    const { executionId } = argument;
    const row = select.get(executionId);
    if (row === undefined) return { kind: "refused", status: "error" };
    if (status(row) !== "running") return { kind: "refused", status: status(row) };
    const stepIndex = integer(row, "step_index");
    const sequence = integer(row, "sequence");
    const suspension = { ...argument.suspension, stepIndex };
    const event = { ...argument.event, stepIndex };
    open(executionId, suspension);
    append(executionId, sequence, [event]);
    update.run(executionId);
    return { kind: "paused", event: { ...event, sequence: sequence + 1 }, suspension };
  };
}
