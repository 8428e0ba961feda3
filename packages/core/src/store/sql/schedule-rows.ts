// Rows of schedules, in any SQL database.
import type { ScheduleKind, ScheduleRow, StoredSchedule } from "../schedule-store.ts";
import { nullableInteger, nullableText, type Row, text } from "./columns.ts";

export function toScheduleRow(row: Row): ScheduleRow {
  return {
    scheduleId: text(row, "schedule_id"),
    kind: kindIn(text(row, "kind")),
    workflowId: text(row, "workflow_id"),
    agentId: nullableText(row, "agent_id"),
    userId: nullableText(row, "user_id"),
    dueAt: nullableInteger(row, "due_at"),
    version: text(row, "version"),
    body: text(row, "body"),
  };
}

export function toStoredSchedule(row: Row): StoredSchedule {
  return { ...toScheduleRow(row), occurrences: text(row, "occurrences") };
}

function kindIn(text: string): ScheduleKind {
  return text === "set" || text === "trigger" ? text : "schedule";
}
