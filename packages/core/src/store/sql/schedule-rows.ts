// Rows of schedules, in any SQL database.
import {
  type ScheduleKind,
  type ScheduleRow,
  type StoredSchedule,
  scheduleKinds,
} from "../schedule-store.ts";
import { nullableInteger, nullableText, type Row, text } from "./columns.ts";

export function toScheduleRow(row: Row): ScheduleRow {
  return {
    scheduleId: text(row, "schedule_id"),
    kind: kindOf(text(row, "kind")),
    workflowId: text(row, "workflow_id"),
    agentId: nullableText(row, "agent_id"),
    userId: nullableText(row, "user_id"),
    dueAt: nullableInteger(row, "due_at"),
    version: text(row, "version"),
    body: text(row, "body"),
  };
}

function kindOf(kind: string): ScheduleKind {
  const known = scheduleKinds.find((each) => each === kind);
  if (known === undefined) throw new TypeError(`no row of schedules is a ${kind}`);
  return known;
}

export function toStoredSchedule(row: Row): StoredSchedule {
  return { ...toScheduleRow(row), occurrences: text(row, "occurrences") };
}
