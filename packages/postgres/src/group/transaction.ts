// One transaction for the writes of a group, at most one for each execution: lock, read, decide, write.
//
// A group of any size takes two round trips, a third when an operation needs facts beyond its row, and only one when it has
// only commits as expected and new executions. The rows are locked in the order of their ids, so that two nodes never wait
// for each other.
import type { ExecutionRecord } from "@andante/core/store";
import { type Query, type Result, type TransactionTimeouts, withTimeouts } from "../connection/client.ts";
import { inText, type Statement } from "../connection/parameters.ts";
import { codeOf, isSqlState, kindOf } from "../connection/trouble.ts";
import { createdBefore, createStatement, idsIn } from "../operations/create.ts";
import { CollectedChanges } from "../write/changes.ts";
import { GroupFacts } from "../write/facts.ts";
import { lockedColumns, toRecord } from "../write/row.ts";
import { type ExpectedCommit, fastCommits, isExpected, sequenceAfter } from "./fast-commit.ts";
import type { Creation, GroupItem } from "./item.ts";
import type { KnownSequences } from "./known-sequences.ts";

/** The group failed, and whether it was committed all the same is not known: the connection broke meanwhile. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super("the connection was lost while a group was being committed", { cause });
  }
}

export interface GroupSettings {
  /** Quoted. */
  readonly schema: string;
  readonly timeouts: TransactionTimeouts;
  readonly known: KnownSequences;
}

/** Tells the result of an item once its group is committed. "again": it has to be decided in another group. */
export type Outcome = (() => void) | "again";

/** The outcomes of the items, in their order. */
export async function performGroup(
  query: Query,
  settings: GroupSettings,
  items: readonly GroupItem[],
): Promise<Outcome[]> {
  const sorted = items.toSorted((a, b) => (a.executionId < b.executionId ? -1 : 1));
  const outcomes = (await performAtOnce(query, settings, sorted)) ?? (await decide(query, settings, sorted));
  return items.map(({ executionId }) => outcomes.get(executionId) ?? "again");
}

// One order of locks for everybody: the rows as they are given, by their ids.
export const beginGroup = (timeouts: TransactionTimeouts) =>
  [
    withTimeouts(timeouts),
    ...["seqscan", "hashjoin", "mergejoin"].map((each) => `set local enable_${each} = off`),
  ].join("; ");

/** A group of nothing but creations and fast commits takes one round trip; undefined for any other. */
async function performAtOnce(
  query: Query,
  { schema, timeouts, known }: GroupSettings,
  items: readonly GroupItem[],
): Promise<Map<string, Outcome> | undefined> {
  const creations: Creation[] = [];
  const expected: ExpectedCommit[] = [];
  for (const { does, executionId } of items) {
    if ("creation" in does) creations.push(does.creation);
    else {
      const before = known.of(executionId);
      if (does.fast === undefined || before === undefined || !isExpected(does.fast, before)) return undefined;
      expected.push({ fast: does.fast, before });
    }
  }
  const fast = expected.length === 0 ? [] : [fastCommits(schema, expected)];
  const statements = inText([...fast, ...creating(schema, creations)]);
  const results = await commit(query, [query(beginGroup(timeouts))], statements);
  const moved = fast.length === 0 ? none : idsIn(results[0] ?? nothing);
  const created = await createdIn(query, schema, creations, results);
  const outcomes = noteCreations(creations, created, known);
  for (const each of expected) {
    const { commit: given, resolve } = each.fast;
    const { executionId, end } = given;
    const wasMoved = moved.has(executionId);
    const sequence = sequenceAfter(each);
    known.note(executionId, wasMoved && end === null ? sequence : undefined);
    if (wasMoved) outcomes.set(executionId, () => resolve({ kind: "ok", sequence, idle: false }));
  }
  return outcomes;
}

async function decide(
  query: Query,
  { schema, timeouts, known }: GroupSettings,
  items: readonly GroupItem[],
): Promise<Map<string, Outcome>> {
  const creations = items.flatMap(({ does }) => ("creation" in does ? [does.creation] : []));
  const writes = items.flatMap((item) => ("write" in item.does ? [{ item, write: item.does.write }] : []));
  const changes = new CollectedChanges();
  const decided = new Map<string, () => void>();
  let records = new Map<unknown, ExecutionRecord>();
  let statements: Statement[];
  try {
    const begun = query(beginGroup(timeouts));
    const ids = writes.map(({ item }) => item.executionId);
    const [, locked] = await allOf([begun, lock(query, schema, ids)]);
    records = new Map(locked?.rows.map((row) => [row.execution_id, toRecord(row)]));
    const facts = new GroupFacts(schema);
    for (const { item, write } of writes) write.request(records.get(item.executionId), facts.requests);
    await facts.read(query);
    for (const { item, write } of writes)
      decided.set(item.executionId, write.decide(records.get(item.executionId), facts.facts, changes));
    statements = inText([...changes.statements(schema), ...creating(schema, creations)]);
  } catch (error) {
    // Not awaited: the statements of the next group come after it.
    query("rollback").catch(() => {});
    throw error;
  }
  const created = await createdIn(query, schema, creations, await commit(query, [], statements));
  for (const executionId of decided.keys()) {
    const record = records.get(executionId);
    known.note(executionId, record?.token ? record.sequence : undefined);
  }
  return new Map([...decided, ...noteCreations(creations, created, known)]);
}

function noteCreations(
  creations: readonly Creation[],
  created: ReadonlySet<string>,
  known: KnownSequences,
): Map<string, Outcome> {
  return new Map(
    creations.map(({ execution: { executionId, events }, resolve }) => {
      const isCreated = created.has(executionId);
      if (isCreated) known.note(executionId, events.length);
      return [executionId, () => resolve({ created: isCreated })];
    }),
  );
}

/** Rejects, as a write would, where nothing can be written: a replica, or a database that was made read-only. */
export async function checkWritable(query: Query): Promise<void> {
  const { rows } = await query("select current_setting('transaction_read_only') as read_only");
  if (rows[0]?.read_only === "on") throw Object.assign(new Error("read-only"), { code: "25006" });
}

function lock(query: Query, s: string, ids: readonly string[]): Promise<Result> {
  return query(
    `select ${lockedColumns} from ${s}.executions where execution_id = any($1) order by execution_id for update`,
    [ids],
  );
}

function creating(schema: string, creations: readonly Creation[]): Statement[] {
  if (creations.length === 0) return [];
  return [
    createStatement(
      schema,
      creations.map(({ execution }) => execution),
    ),
  ];
}

/** Runs statements whose values are text already and commits, with the statements before; returns their results. */
async function commit(
  query: Query,
  sent: readonly Promise<Result>[],
  statements: readonly Statement[],
): Promise<Result[]> {
  const running = statements.map(([statement, values]) => query(statement, values));
  const committing = query("commit");
  let results: Result[];
  try {
    results = (await allOf([...sent, ...running])).slice(sent.length);
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
  return results;
}

/** Which executions were created, now or by the same call before, by the last of these results. */
async function createdIn(
  query: Query,
  schema: string,
  creations: readonly Creation[],
  results: readonly Result[],
): Promise<ReadonlySet<string>> {
  if (creations.length === 0) return none;
  const made = idsIn(results.at(-1) ?? nothing);
  if (made.size === creations.length) return made;
  const others = creations.flatMap(({ execution }) => (made.has(execution.executionId) ? [] : [execution]));
  try {
    return new Set([...made, ...(await createdBefore(query, schema, others))]);
  } catch (error) {
    // The rest of the group is committed: only a repetition returns its results.
    throw new UnknownOutcome(error);
  }
}

const nothing: Result = { rows: [], count: 0 };
const none: ReadonlySet<string> = new Set();

/** Waits for all of them, also when one fails, so that no rejection is left unhandled. */
async function allOf<Value>(promises: readonly Promise<Value>[]): Promise<Value[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
}
