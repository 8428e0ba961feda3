// Schedules: conditional writes of their rows, with the execution that an occurrence starts, and reads.
import { readPage, toScheduleRow, toStoredSchedule } from "@andante/core/internal";
import {
  type ChangeSchedule,
  type ChangeScheduleResult,
  decideSchedule,
  maxPageLength,
  type NewExecution,
  type ScheduleStore,
  type StoredSchedule,
} from "@andante/core/store";
import { text } from "../columns.ts";
import type { Query } from "../connection/client.ts";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";
import { createdBefore, createStatement, idsIn } from "./create.ts";

export function schedules(readers: Readers, s: string): ScheduleStore<NewExecution> {
  return {
    change: (change) => readers.write("changeSchedule", (query) => write(query, s, change)),
    read: async (scheduleId) => {
      const select = `select * from ${s}.schedules where schedule_id = $1`;
      const [row] = await readers.read(select, [scheduleId]);
      return row && toStoredSchedule(row);
    },
    list: readers.forCallers(async (asked) => {
      const { kind, workflowId, agentId, userId, after, before, limit, length, brief } = asked;
      const where = new Where()
        .add("kind = ?", kind)
        .add("workflow_id = ?", workflowId)
        .add("agent_id = ?", agentId)
        .add("user_id = ?", userId)
        .add("schedule_id > ?", after)
        .add("schedule_id < ?", before);
      const page = `select schedule_id, kind, workflow_id, agent_id, user_id, due_at, version, ${brief ? "'' as body" : "body"}
        from ${s}.schedules ${where} order by schedule_id limit ${where.bind(limit)}`;
      // Bodies behind the end of the page are not sent.
      const rows = await readers.search(
        `select * from (
           select *, sum(octet_length(body)) over (order by schedule_id) - octet_length(body) as before from (${page}) as next)
         as measured where before < ${maxPageLength} order by schedule_id`,
        where.values,
      );
      return readPage(rows, toScheduleRow, length);
    }),
  };
}

/** The row is locked until the end of the transaction: of two writers from one version, the second finds another. */
async function write(
  query: Query,
  s: string,
  change: ChangeSchedule<NewExecution>,
): Promise<ChangeScheduleResult> {
  const { scheduleId, expected, row, create } = change;
  const found = await query(`select version from ${s}.schedules where schedule_id = $1 for update`, [
    scheduleId,
  ]);
  const [before] = found.rows;
  const decided = decideSchedule(change, before && text(before, "version"));
  if (decided !== "write") return decided;
  const drop = () => query(`delete from ${s}.schedules where schedule_id = $1`, [scheduleId]);
  // Another writer may insert the row at this moment: it is waited for, and found.
  if (expected === null && row !== null && (await put(query, s, row, null)) === 0) return "changed";
  if (create !== undefined && !(await insert(query, s, create))) {
    if (expected === null) await drop();
    return "exists";
  }
  if (row === null) await drop();
  else if (expected !== null) await put(query, s, row, expected);
  return "written";
}

/** Inserts the row, or replaces the version that was read; returns how many rows were written. */
async function put(query: Query, s: string, row: StoredSchedule, replaces: string | null): Promise<number> {
  const { scheduleId, kind, workflowId, agentId, userId, dueAt, version, body, occurrences } = row;
  const { count } = await query(
    `insert into ${s}.schedules as kept (schedule_id, kind, workflow_id, agent_id, user_id, due_at, version, body, occurrences)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (schedule_id) do update set workflow_id = excluded.workflow_id,
       agent_id = excluded.agent_id, user_id = excluded.user_id, due_at = excluded.due_at, version = excluded.version,
       body = excluded.body, occurrences = excluded.occurrences
     where kept.version = $10`,
    [scheduleId, kind, workflowId, agentId, userId, dueAt, version, body, occurrences, replaces],
  );
  return count;
}

async function insert(query: Query, s: string, execution: NewExecution): Promise<boolean> {
  const [statement, values] = createStatement(s, [execution]);
  if (idsIn(await query(statement, values)).size > 0) return true;
  return (await createdBefore(query, s, [execution])).size > 0;
}
