// Schedules: conditional writes of their rows, with the execution that an occurrence starts, and reads.
import type { DatabaseSync } from "node:sqlite";
import { decideSchedule } from "../../decide/index.ts";
import type {
  ChangeSchedule,
  ChangeScheduleResult,
  ScheduleQuery,
  ScheduleRow,
  StoredSchedule,
} from "../../schedule-store.ts";
import { readPage } from "../../sql/read-page.ts";
import { toScheduleRow, toStoredSchedule } from "../../sql/schedule-rows.ts";
import type { NewExecution } from "../../store.ts";
import { text } from "../columns.ts";
import type { SearchFrontier } from "../search-frontier.ts";
import { create } from "./create.ts";
import { Where } from "./observations/where.ts";

export function changeSchedule(database: DatabaseSync, search: SearchFrontier) {
  const insert = create(database, search);
  const select = database.prepare("select version from schedules where schedule_id = ?");
  const remove = database.prepare("delete from schedules where schedule_id = ?");
  const keep = database.prepare(
    `insert or replace into schedules (schedule_id, kind, workflow_id, agent_id, user_id, due_at, version, body, occurrences)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (change: ChangeSchedule<NewExecution>): ChangeScheduleResult => {
    const { scheduleId, row, create: execution } = change;
    const before = select.get(scheduleId);
    const decided = decideSchedule(change, before && text(before, "version"));
    if (decided !== "write") return decided;
    if (execution !== undefined && !insert(execution).created) return "exists";
    if (row === null) remove.run(scheduleId);
    else {
      const { kind, workflowId, agentId, userId, dueAt, version, body, occurrences } = row;
      keep.run(scheduleId, kind, workflowId, agentId, userId, dueAt, version, body, occurrences);
    }
    return "written";
  };
}

/** Keeps a delivery, unless there is a row of its id. */
export function keepDelivery(database: DatabaseSync): (row: StoredSchedule) => void {
  const insert = database.prepare(
    `insert or ignore into schedules (schedule_id, kind, workflow_id, user_id, due_at, version, body, occurrences)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ scheduleId, kind, workflowId, userId, dueAt, version, body, occurrences }) =>
    void insert.run(scheduleId, kind, workflowId, userId, dueAt, version, body, occurrences);
}

export function readSchedule(database: DatabaseSync) {
  const select = database.prepare("select * from schedules where schedule_id = ?");
  return (scheduleId: string): StoredSchedule | undefined => {
    const row = select.get(scheduleId);
    return row && toStoredSchedule(row);
  };
}

export function listSchedules(database: DatabaseSync) {
  return (query: ScheduleQuery): ScheduleRow[] => {
    const { kind, workflowId, agentId, userId, after, before, limit, length, brief } = query;
    const where = new Where()
      .add("kind = ?", kind)
      .add("workflow_id = ?", workflowId)
      .add("agent_id = ?", agentId)
      .add("user_id = ?", userId)
      .add("schedule_id > ?", after)
      .add("schedule_id < ?", before);
    // The condition of the indexes.
    if (kind !== "delivery") where.add("kind <> 'delivery'");
    const columns = "schedule_id, kind, workflow_id, agent_id, user_id, due_at, version";
    const statement = `select ${columns}, ${brief ? "'' as body" : "body"} from schedules ${where} order by schedule_id limit ?`;
    return readPage(database.prepare(statement).iterate(...where.values, limit), toScheduleRow, length);
  };
}
