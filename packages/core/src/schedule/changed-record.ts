// The record of a schedule that a caller or the code sets: what it keeps of the one before, and whether it differs.
import { canonicalJson } from "../values/json.ts";
import type { ScheduleSpec } from "./schedule-options.ts";
import type { ScheduleRecord } from "./schedule-record.ts";

/** The parts that a caller or the code gives. */
export type GivenRecord = ScheduleSpec &
  Pick<ScheduleRecord, "origin" | "input" | "conversationId" | "context" | "set">;

/** From now on: times of the former specification that have not fired are dropped. A pause stays. */
export function changedRecord(
  before: ScheduleRecord | undefined,
  given: GivenRecord,
  now: number,
): ScheduleRecord {
  const isPaused = before?.state === "paused";
  return {
    ...{ running: [], last: null, lastAt: null, lastExecutionId: null, started: 0, skipped: 0, missed: 0 },
    ...before,
    ...given,
    ...{ waiting: [], invalid: 0, failed: 0, cursorAt: now },
    revision: (before?.revision ?? 0) + 1,
    state: isPaused ? "paused" : "active",
    note: isPaused ? before.note : null,
    pausedBy: isPaused ? before.pausedBy : null,
  };
}

/** Whether the parts that were given are the same; one that does not fire is set anew. */
export function isSame(before: ScheduleRecord, after: ScheduleRecord): boolean {
  if (before.state === "removed" || before.state === "broken") return false;
  return canonicalJson(JSON.stringify(before)) === canonicalJson(JSON.stringify(after));
}
