// Suspends a running execution from outside, at once.
import type { DatabaseSync } from "node:sqlite";
import type { Pause, PauseResult } from "../../store.ts";
import { integer, status } from "../columns.ts";
import { appendEvents, timeAt } from "../journal-rows.ts";
import { holdTimes } from "./hold-times.ts";
import { openSuspension } from "./open-suspension.ts";
import { recordedWrite } from "./recorded-write.ts";

export function pause(database: DatabaseSync) {
  const append = appendEvents(database);
  const timeOf = timeAt(database);
  const open = openSuspension(database);
  const hold = holdTimes(database);
  const recorded = recordedWrite(database);
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
    const key = argument.suspension.suspensionId;
    const first = recorded(executionId, integer(row, "sequence"), key)?.events[0];
    if (first !== undefined) {
      const suspension = { ...argument.suspension, stepIndex: first.stepIndex ?? 0 };
      return { kind: "paused", event: first, suspension };
    }
    if (status(row) !== "running") return { kind: "refused", status: status(row) };
    const stepIndex = integer(row, "step_index");
    const sequence = integer(row, "sequence");
    const timestamp = Math.max(argument.event.timestamp, timeOf(executionId, sequence) ?? 0);
    const suspension = { ...argument.suspension, stepIndex };
    const event = { ...argument.event, timestamp, stepIndex };
    open(executionId, suspension, true);
    hold(executionId, true);
    append(executionId, sequence, [event], key);
    update.run(executionId);
    return { kind: "paused", event: { ...event, sequence: sequence + 1 }, suspension };
  };
}
