// One transaction for the writes of a group, at most one for each execution: lock, read, decide, write.
//
// Whatever the size of the group it takes two round trips, and a third when an operation has more to ask than its row
// tells. The rows are locked in the order of their ids, so that two nodes wait for each other one way only.
import type { NewExecution } from "@andante/core/store";
import type { Query, Result } from "../connection/client.ts";
import { codeOf, isSqlState, kindOf } from "../connection/trouble.ts";
import { create, createdBefore } from "../operations/create.ts";
import { Changes } from "../write/changes.ts";
import { Facts } from "../write/facts.ts";
import { lockedColumns, toLocked } from "../write/row.ts";
import type { GroupItem } from "./item.ts";

/** The group failed, and whether it was committed all the same is not known: the connection broke meanwhile. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super("the connection was lost while a group was being committed", { cause });
  }
}

export interface GroupSettings {
  /** Quoted. */
  readonly schema: string;
  /** Milliseconds after which the database ends a transaction whose node has frozen. */
  readonly idleTimeout: number;
}

/** Functions that tell the results of the items, in the order of the items. */
export async function performGroup(
  query: Query,
  { schema, idleTimeout }: GroupSettings,
  items: readonly GroupItem[],
): Promise<(() => void)[]> {
  const sorted = items.toSorted((a, b) => (a.executionId < b.executionId ? -1 : 1));
  const creations = sorted.flatMap(({ does }) => ("creation" in does ? [does.creation] : []));
  const writes = sorted.flatMap((item) => ("write" in item.does ? [{ item, write: item.does.write }] : []));
  const changes = new Changes();
  const results = new Map<string, () => void>();
  try {
    const begun = query(`begin; set local idle_in_transaction_session_timeout = ${idleTimeout}`);
    const ids = writes.map(({ item }) => item.executionId);
    const [, locked] = await allOf([begun, ids.length === 0 ? none : lock(query, schema, ids)]);
    const rows = new Map(locked?.rows.map((row) => [row.execution_id, toLocked(row)]));
    const facts = new Facts(schema);
    for (const { item, write } of writes) write.ask(rows.get(item.executionId), facts);
    await facts.read(query);
    for (const { item, write } of writes)
      results.set(item.executionId, write.decide(rows.get(item.executionId), facts, changes));
  } catch (error) {
    // Not waited for: what the next group sends comes after it.
    query("rollback").catch(() => {});
    throw error;
  }
  const executions = creations.map(({ execution }) => execution);
  const made = await commit(query, schema, executions, changes);
  for (const { execution, resolve } of creations) {
    const created = made.has(execution.executionId);
    results.set(execution.executionId, () => resolve({ created }));
  }
  return items.map(({ executionId }) => results.get(executionId) ?? (() => {}));
}

/** Rejects, as a write would, where nothing can be written: a replica, or a database that was made read-only. */
export async function checkWritable(query: Query): Promise<void> {
  const { rows } = await query("select current_setting('transaction_read_only') as read_only");
  if (rows[0]?.read_only === "on") throw Object.assign(new Error("read-only"), { code: "25006" });
}

const none: Promise<Result> = Promise.resolve({ rows: [], count: 0 });

function lock(query: Query, s: string, ids: readonly string[]): Promise<Result> {
  return query(
    `select ${lockedColumns} from ${s}.executions where execution_id = any($1) order by execution_id for update`,
    [ids],
  );
}

async function commit(
  query: Query,
  schema: string,
  creates: readonly NewExecution[],
  changes: Changes,
): Promise<ReadonlySet<string>> {
  const creating = creates.length === 0 ? nothingMade : create(query, schema, creates);
  const writing = changes.statements(schema).map(([statement, values]) => query(statement, values));
  const committing = query("commit");
  try {
    await allOf<unknown>([creating, ...writing]);
  } catch (error) {
    await committing.catch(() => {});
    // A statement that the database has refused: then the commit was a rollback.
    if (isSqlState(codeOf(error)) && kindOf(error) !== "trouble") throw error;
    throw new UnknownOutcome(error);
  }
  try {
    await committing;
  } catch (error) {
    throw kindOf(error) === "trouble" ? new UnknownOutcome(error) : error;
  }
  const made = await creating;
  if (made.size === creates.length) return made;
  const others = creates.filter(({ executionId }) => !made.has(executionId));
  try {
    return new Set([...made, ...(await createdBefore(query, schema, others))]);
  } catch (error) {
    // The rest of the group is committed: only repeating it tells its results.
    throw new UnknownOutcome(error);
  }
}

const nothingMade: Promise<ReadonlySet<string>> = Promise.resolve(new Set<string>());

/** Waits for all of them, also when one fails, so that none is left without somebody who hears of it. */
async function allOf<Value>(promises: readonly Promise<Value>[]): Promise<Value[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
}
