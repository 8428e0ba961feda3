// Schedules: conditional writes of their rows, with the execution that an occurrence starts, and reads.
import { readPage, toScheduleRow, toStoredSchedule } from "@andante/core/internal";
import {
  type ChangeSchedule,
  type ChangeScheduleResult,
  decideSchedule,
  maxPageLength,
  type NewExecution,
  type ScheduleStore,
} from "@andante/core/store";
import { text } from "../columns.ts";
import { Batch } from "../connection/batch.ts";
import type { Query } from "../connection/client.ts";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";
import { createdBefore, createStatement, idsIn } from "./create.ts";

export function schedules(readers: Readers, s: string): ScheduleStore<NewExecution> {
  const changes = new Batch<Change, ChangeScheduleResult>({
    perform: (given) =>
      readers.write("changeSchedule", (query) => write(query, s, given), { isShared: given.length > 1 }),
    keysOf: ({ scheduleId, create }) => [
      `schedule ${scheduleId}`,
      ...(create ? [`execution ${create.executionId}`] : []),
    ],
    lengthOf: ({ row, create }) => (row?.body.length ?? 0) + (create?.input?.length ?? 0),
  });
  return {
    change: (change) => changes.call(change),
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
      // The condition of the indexes.
      if (kind !== "delivery") where.add("kind <> 'delivery'");
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

type Change = ChangeSchedule<NewExecution>;

/** The rows are locked until the end of the transaction: of two writers from one version, the second finds another. */
async function write(query: Query, s: string, given: readonly Change[]): Promise<ChangeScheduleResult[]> {
  const changes = given.toSorted((a, b) => (a.scheduleId < b.scheduleId ? -1 : 1));
  const { rows } = await query(
    `select schedule_id, version from ${s}.schedules where schedule_id = any($1::text[]) order by schedule_id for update`,
    [changes.map(({ scheduleId }) => scheduleId)],
  );
  const versions = new Map(rows.map((row) => [text(row, "schedule_id"), text(row, "version")]));
  const results = new Map<Change, ChangeScheduleResult>();
  let left = changes.filter((change) => {
    const decided = decideSchedule(change, versions.get(change.scheduleId));
    results.set(change, decided === "write" ? "written" : decided);
    return decided === "write";
  });
  const leave = (isLeft: (change: Change) => boolean, result: ChangeScheduleResult) => {
    for (const change of left) if (!isLeft(change)) results.set(change, result);
    left = left.filter(isLeft);
  };
  // Another writer may insert a row at this moment: it is waited for, and found.
  const isNew = ({ expected, row }: Change) => expected === null && row !== null;
  const put = await insertRows(query, s, left.filter(isNew));
  leave((change) => !isNew(change) || put.has(change.scheduleId), "changed");
  const created = await insertExecutions(query, s, left);
  const isCreated = ({ create }: Change) => create === undefined || created.has(create.executionId);
  const refused = left.filter((change) => isNew(change) && !isCreated(change));
  leave(isCreated, "exists");
  const gone = [...refused, ...left.filter(({ row }) => row === null)];
  if (gone.length > 0)
    await query(`delete from ${s}.schedules where schedule_id = any($1::text[])`, [
      gone.map(({ scheduleId }) => scheduleId),
    ]);
  await updateRows(
    query,
    s,
    left.filter((change) => !isNew(change)),
  );
  return given.map((change) => results.get(change) ?? "changed");
}

const columns: readonly (readonly [column: string, type: string])[] = [
  ["schedule_id", "text"],
  ["kind", "text"],
  ["workflow_id", "text"],
  ["agent_id", "text"],
  ["user_id", "text"],
  ["due_at", "bigint"],
  ["version", "text"],
  ["body", "text"],
  ["occurrences", "text"],
];
const names = columns.map(([name]) => name).join(", ");
const given = `unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ")}) as given (${names})`;

function valuesOf(changes: readonly Change[]): readonly unknown[] {
  const rows = changes.flatMap(({ row }) => (row === null ? [] : [row]));
  const fields = rows.map((row) => [
    ...[row.scheduleId, row.kind, row.workflowId, row.agentId, row.userId],
    ...[row.dueAt, row.version, row.body, row.occurrences],
  ]);
  return columns.map((_, index) => fields.map((row) => row[index]));
}

/** Returns the ids of those that were not there. */
async function insertRows(query: Query, s: string, changes: readonly Change[]): Promise<ReadonlySet<string>> {
  if (changes.length === 0) return new Set();
  const { rows } = await query(
    `insert into ${s}.schedules (${names}) select ${names} from ${given} order by schedule_id
     on conflict (schedule_id) do nothing returning schedule_id`,
    valuesOf(changes),
  );
  return new Set(rows.map((row) => text(row, "schedule_id")));
}

async function updateRows(query: Query, s: string, changes: readonly Change[]): Promise<void> {
  if (changes.every(({ row }) => row === null)) return;
  await query(
    `update ${s}.schedules as kept set workflow_id = given.workflow_id, agent_id = given.agent_id,
       user_id = given.user_id, due_at = given.due_at, version = given.version, body = given.body,
       occurrences = given.occurrences
     from ${given} where kept.schedule_id = given.schedule_id`,
    valuesOf(changes),
  );
}

/** Returns the ids of the executions that were created, now or by the same call before. */
async function insertExecutions(
  query: Query,
  s: string,
  changes: readonly Change[],
): Promise<ReadonlySet<string>> {
  const executions = changes
    .flatMap(({ create }) => create ?? [])
    .sort((a, b) => (a.executionId < b.executionId ? -1 : 1));
  if (executions.length === 0) return new Set();
  const created = idsIn(await query(...createStatement(s, executions)));
  const others = executions.filter(({ executionId }) => !created.has(executionId));
  return others.length === 0 ? created : new Set([...created, ...(await createdBefore(query, s, others))]);
}
