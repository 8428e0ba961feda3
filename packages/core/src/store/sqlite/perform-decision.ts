// Performs decisions on the open database: reads the record and facts, applies the changes at once.
import type { DatabaseSync } from "node:sqlite";
import { type Changes, type Decision, type ExecutionRecord, type Facts, lookback } from "../decide/index.ts";
import { integer, nullableInteger, nullableText, type Row, readUsage, status, text } from "./columns.ts";
import { appendEvents, journalOf, timeAt } from "./journal-rows.ts";
import { chargeBudgets } from "./operations/budgets/charge-budgets.ts";
import { appendFact } from "./operations/facts.ts";
import { leaseTime } from "./operations/heartbeat.ts";
import { late } from "./operations/late.ts";
import { keepDelivery } from "./operations/schedules.ts";
import { keepWork } from "./operations/signals.ts";
import { addEntries } from "./operations/usage/add-usage.ts";
import { SearchFrontier } from "./search-frontier.ts";

export type PerformDecision = <Argument extends { readonly executionId: string }, Result>(
  decision: Decision<Argument, Result>,
  argument: Argument,
) => Result;

/** The columns that an update always writes: no index holds them. */
const plain = [
  "sequence",
  "step_index",
  "open_suspensions",
  "resumes",
  "owner",
  "token",
  "commits",
  "recoveries",
  "usage",
  "parked_under",
  "definition",
  "links",
];
/** The columns that indexes hold: written only when one of them changes. */
const indexed = ["status", "paused", "idle", "end_at", "parked"];

const recordColumns = ["execution_id", "kind", ...plain, ...indexed].join(", ");

/** Returns a function that reads the record of an execution. */
export function recordOf(database: DatabaseSync) {
  const select = database.prepare(`select ${recordColumns} from executions where execution_id = ?`);
  return (executionId: string): ExecutionRecord | undefined => {
    const row = select.get(executionId);
    return row && toRecord(row);
  };
}

export function performDecision(
  database: DatabaseSync,
  search = new SearchFrontier(database),
): PerformDecision {
  const read = recordOf(database);
  const facts = factsIn(database);
  /** The record as it was read. */
  let before: ExecutionRecord | undefined;
  const changes = changesOf(database, search, () => before);
  return (decision, argument) => {
    const record = read(argument.executionId);
    before = record && { ...record };
    return decision.decide(argument, record, facts, changes);
  };
}

function toRecord(row: Row): ExecutionRecord {
  return {
    executionId: text(row, "execution_id"),
    kind: row.kind === "turn" ? "turn" : "workflow",
    status: status(row),
    sequence: integer(row, "sequence"),
    stepIndex: integer(row, "step_index"),
    openSuspensions: integer(row, "open_suspensions"),
    paused: integer(row, "paused") === 1,
    resumes: integer(row, "resumes"),
    owner: nullableText(row, "owner"),
    token: nullableText(row, "token"),
    commits: integer(row, "commits"),
    idle: integer(row, "idle") === 1,
    recoveries: integer(row, "recoveries"),
    usage: readUsage(row.usage),
    endAt: nullableInteger(row, "end_at"),
    parked: nullableText(row, "parked"),
    parkedUnder: nullableText(row, "parked_under"),
    definition: nullableText(row, "definition"),
    links: nullableText(row, "links"),
  };
}

function factsIn(database: DatabaseSync): Facts {
  const open = database.prepare("select execution_id, path from suspensions where suspension_id = ?");
  // A path is below a step when the step's path and a "/", "[" or "#" begin it; substr needs no escaping.
  const below = database.prepare(
    `select suspension_id from suspensions where execution_id = :execution
       and (path = :path or substr(path, 1, length(:path) + 1) in (:path || '/', :path || '[', :path || '#'))`,
  );
  const alive = database.prepare("select 1 from owners where owner = ? and expires_at > ?");
  const firstTimer = database.prepare("select min(due_at) as due_at from timers where execution_id = ?");
  // Backwards: a caller that repeats a write has made none since.
  const recorded = database.prepare(
    `select sequence, events, write_key from journal where execution = ${journalOf}
       and sequence > (select sequence from executions where execution_id = ?) - ${lookback}
       and write_key in (?, ?, ?, ?) order by sequence desc limit 1`,
  );
  return {
    openSuspension: (suspensionId) => {
      const row = open.get(suspensionId);
      return row && { executionId: text(row, "execution_id"), path: nullableText(row, "path") };
    },
    below: (executionId, paths) => {
      const rows = paths.flatMap((path) => below.all({ execution: executionId, path }));
      return [...new Set(rows.map((row) => text(row, "suspension_id")))];
    },
    isAlive: (owner) => alive.get(owner, leaseTime()) !== undefined,
    dueAt: (executionId) => {
      const row = firstTimer.get(executionId);
      return row && (nullableInteger(row, "due_at") ?? undefined);
    },
    timeOf: timeAt(database),
    recorded: (executionId, [first = "", second = first, third = first, fourth = first]) => {
      const row = recorded.get(executionId, executionId, first, second, third, fourth);
      return (
        row && {
          sequence: integer(row, "sequence"),
          events: text(row, "events"),
          key: text(row, "write_key"),
        }
      );
    },
  };
}

function changesOf(
  database: DatabaseSync,
  search: SearchFrontier,
  before: () => ExecutionRecord | undefined,
): Changes {
  const updating = (columns: readonly string[]) =>
    database.prepare(
      `update executions set ${columns.map((column) => `${column} = ?`).join(", ")} where execution_id = ?`,
    );
  const update = updating(plain);
  const updateAll = updating([...plain, ...indexed]);
  const end = database.prepare(
    "update executions set result = ?, result_at = ?, error = ? where execution_id = ?",
  );
  const close = database.prepare("delete from suspensions where suspension_id = ?");
  const closeAll = database.prepare("delete from suspensions where execution_id = ?");
  const clearTimers = database.prepare("delete from timers where execution_id = ?");
  const holdTimers = database.prepare("update timers set held = ? where execution_id = ?");
  const holdDeadlines = database.prepare("update suspensions set held = ? where execution_id = ?");
  const spend = addEntries(database);
  const charge = late(database, chargeBudgets);
  const moveTimeout = database.prepare(
    "update executions set timeout_at = timeout_at + ? where execution_id = ?",
  );
  return {
    ...timerChanges(database),
    append: appendEvents(database),
    open: openSuspension(database, search),
    remember: appendFact(database),
    keepWork: late(database, keepWork),
    update: (record) => {
      const values = [
        record.sequence,
        record.stepIndex,
        record.openSuspensions,
        record.resumes,
        record.owner,
        record.token,
        record.commits,
        record.recoveries,
        record.usage && JSON.stringify(record.usage),
        record.parkedUnder,
        record.definition,
        record.links,
      ];
      const old = before();
      if (old !== undefined && isIndexedAlike(old, record))
        return void update.run(...values, record.executionId);
      const { status, endAt, parked } = record;
      const inIndexes = [status, Number(record.paused), Number(record.idle), endAt, parked];
      updateAll.run(...values, ...inIndexes, record.executionId);
      if (endAt !== null) search.joins("end", endAt);
    },
    end: (executionId, { result, resultAt, error }) => void end.run(result, resultAt, error, executionId),
    close: (suspensionIds) => {
      for (const suspensionId of suspensionIds) close.run(suspensionId);
    },
    closeAll: (executionId) => void closeAll.run(executionId),
    clearTimers: (executionId) => void clearTimers.run(executionId),
    hold: (executionId, held) => {
      holdTimers.run(Number(held), executionId);
      holdDeadlines.run(Number(held), executionId);
    },
    moveTimeout: (executionId, by) => void moveTimeout.run(by, executionId),
    deliver: late(database, keepDelivery),
    spend: (_, entries) => spend(entries),
    charge,
  };
}

/** Whether the columns that indexes hold are equal. */
function isIndexedAlike(one: ExecutionRecord, other: ExecutionRecord): boolean {
  return (
    one.status === other.status &&
    one.paused === other.paused &&
    one.idle === other.idle &&
    one.endAt === other.endAt &&
    one.parked === other.parked
  );
}

export function timerChanges(database: DatabaseSync): Pick<Changes, "setTimer" | "clearTimer"> {
  const set = database.prepare(
    `insert into timers (execution_id, path, due_at) values (?, ?, ?)
     on conflict (execution_id, path) do update set due_at = excluded.due_at`,
  );
  const clear = database.prepare("delete from timers where execution_id = ? and path = ?");
  return {
    setTimer: (executionId, { path, dueAt }) => void set.run(executionId, path, dueAt),
    clearTimer: (executionId, path) => void clear.run(executionId, path),
  };
}

export function openSuspension(database: DatabaseSync, search: SearchFrontier): Changes["open"] {
  const insert = database.prepare(
    `insert into suspensions (suspension_id, execution_id, path, step_index, reason, data, suspended_at, deadline,
       on_deadline, held, resume_schema, awaits, recipient)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (executionId, suspension, held) => {
    const { suspensionId, path, stepIndex, reason, data, suspendedAt, deadline, onDeadline } = suspension;
    const { resumeSchema = null, awaits = null, to = null } = suspension;
    const times = [suspendedAt, deadline, onDeadline, Number(held)];
    insert.run(suspensionId, executionId, path, stepIndex, reason, data, ...times, resumeSchema, awaits, to);
    search.joins("suspension", suspendedAt);
  };
}
