// The index of values: executions that were started, suspended or ended are in a queue, which one node at a time reads.
import {
  candidates,
  entriesOf,
  keyOf,
  maxBatchLength,
  maxEntriesRead,
  maxJournalLength,
  maxJournalRows,
  maxValueBytes,
  type ReadEntry,
  rangeOf,
  readEntries,
  readExclude,
  readTags,
  searchedEvents,
} from "@andante/core/internal";
import {
  type FoundExecution,
  type IndexBatch,
  type ListedExecution,
  referenceOf,
  type SearchMatch,
  type SearchQuery,
  type SearchResult,
  type SearchRules,
  type SearchStore,
  type StoredJson,
} from "@andante/core/store";
import {
  columnsOf,
  integer,
  nullableInteger,
  nullableText,
  type Row,
  shortColumns,
  text,
  toListed,
} from "../columns.ts";
import type { Query } from "../connection/client.ts";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";
import { upTo, valueAt } from "./value-at.ts";

export function search(readers: Readers, s: string): SearchStore<ListedExecution> {
  return {
    define: (rules) => readers.write("defineSearch", (query) => define(query, s, rules)),
    index: (batch) => readers.write("indexValues", (query) => index(query, s, batch)),
    find: readers.forCallers((query: SearchQuery) => find(readers, s, query)),
  };
}

async function define(query: Query, s: string, rules: readonly SearchRules[]): Promise<void> {
  const { rows } = await query(
    `insert into ${s}.search_rules (workflow_id, exclude, version)
     select workflow_id, exclude, 1 from unnest($1::text[], $2::text[]) as given (workflow_id, exclude) order by workflow_id
     on conflict (workflow_id) do update set exclude = excluded.exclude, version = search_rules.version + 1
       where search_rules.exclude <> excluded.exclude
     returning workflow_id, version`,
    [rules.map(({ workflowId }) => workflowId), rules.map(({ exclude }) => JSON.stringify(exclude))],
  );
  const changed = rows.filter((row) => integer(row, "version") > 1).map((row) => text(row, "workflow_id"));
  if (changed.length > 0)
    await query(
      `insert into ${s}.search_queue (execution_id) select execution_id from ${s}.executions
       where workflow_id = any($1) and kind = 'workflow'`,
      [changed],
    );
}

/** The statements that delete the entries of executions. */
export function forgetStatements(s: string): readonly string[] {
  return [
    `delete from ${s}.search_values using ${s}.search_entries,
       json_to_recordset(entries::json) as each (path text, value text)
     where search_entries.execution_id = any($1) and search_values.value = each.value
       and search_values.start_at = search_entries.start_at
       and search_values.execution_id = search_entries.execution_id and search_values.path = each.path`,
    `delete from ${s}.search_entries where execution_id = any($1)`,
  ];
}

interface Entry extends SearchMatch {
  readonly of: Row;
}

async function index(query: Query, s: string, { limit, events }: IndexBatch): Promise<{ more: boolean }> {
  const turn = await query(`select 1 from ${s}.search_turn for update skip locked`);
  // Another node is at it. It may not see the newest changes any more.
  if (turn.count === 0) return { more: true };
  const queued = await query(
    `select id, execution_id from ${s}.search_queue order by id limit $1`,
    [limit],
    "planned",
  );
  if (queued.count === 0) return { more: false };
  const ids = [...new Set(queued.rows.map((row) => text(row, "execution_id")))];
  const { rows } = await query(
    `select executions.execution_id, executions.sequence, executions.start_at, user_id, tags, result_at,
       search_entries.sequence as indexed, search_entries.rules as indexed_under, entries,
       coalesce(search_rules.version, 0) as rules, exclude,
       coalesce(octet_length(input), 0) + coalesce(octet_length(result), 0) as bytes
     from ${s}.executions left join ${s}.search_entries using (execution_id)
       left join ${s}.search_rules using (workflow_id)
     where execution_id = any($1) and kind = 'workflow'`,
    [ids],
  );
  const known = new Map(rows.map((row) => [text(row, "execution_id"), row]));
  const gone = ids.filter((id) => !known.has(id));
  // One that was deleted while it was indexed has left entries behind.
  if (gone.length > 0) for (const statement of forgetStatements(s)) await query(statement, [gone]);
  const { done, stale } = firstOf(queued.rows, known);
  if (stale.length > 0) await replaceEntries(query, s, stale, await entriesIn(query, s, stale, events));
  await query(`delete from ${s}.search_queue where id = any($1::bigint[])`, [
    done.map((row) => integer(row, "id")),
  ]);
  return { more: done.length < queued.rows.length || queued.rows.length === limit };
}

/** The first of the queue whose values fit in a batch, and those of them whose entries are not up to date. */
function firstOf(queued: readonly Row[], known: ReadonlyMap<string, Row>) {
  const done: Row[] = [];
  const stale = new Set<Row>();
  let bytes = 0;
  for (const row of queued) {
    if (bytes >= maxBatchLength) break;
    done.push(row);
    const of = known.get(text(row, "execution_id"));
    if (of === undefined || stale.has(of)) continue;
    if (of.indexed === of.sequence && of.indexed_under === of.rules) continue;
    stale.add(of);
    bytes += Math.min(integer(of, "bytes"), 2 * maxValueBytes);
  }
  return { done, stale: [...stale] };
}

async function entriesIn(
  query: Query,
  s: string,
  stale: readonly Row[],
  types: IndexBatch["events"],
): Promise<Entry[][]> {
  const ids = stale.map((row) => text(row, "execution_id"));
  const read = async (statement: string, values: readonly unknown[]) => (await query(statement, values)).rows;
  const shortValueAt = valueAt({ read }, s, maxValueBytes);
  const values = await read(
    `select execution_id, ${upTo(maxValueBytes, "input")}, ${upTo(maxValueBytes, "result")}
     from ${s}.executions where execution_id = any($1)`,
    [ids],
  );
  const valuesOf = new Map(values.map((row) => [text(row, "execution_id"), row]));
  // Long rows are measured without being read.
  const journal = await read(
    `select given.execution_id, sequence, events from unnest($1::text[]) as given (execution_id) cross join lateral (
       select sequence, events from (
         select sequence, events,
           sum(octet_length(events)) over (order by sequence desc) - octet_length(events) as before
         from (select sequence, events from ${s}.journal where journal.execution_id = given.execution_id
               order by sequence desc limit ${maxJournalRows}) as newest
         where octet_length(events) <= ${maxValueBytes}) as measured
       where before < ${maxJournalLength} and (strpos(events, $2) > 0 or strpos(events, $3) > 0)) as found
     order by given.execution_id, sequence desc`,
    [ids, `["${types.state}",`, `["${types.suspension}",`],
  );
  const all: Entry[][] = [];
  for (const of of stale) {
    const executionId = text(of, "execution_id");
    const row = valuesOf.get(executionId);
    const found: Record<keyof IndexBatch["events"], StoredJson[]> = { suspension: [], state: [] };
    for (const each of journal.filter((line) => line.execution_id === executionId))
      for (const { kind, sequence, value } of searchedEvents(
        integer(each, "sequence"),
        text(each, "events"),
        types,
      )) {
        const isHere = typeof value === "string";
        found[kind].push(isHere ? value : await shortValueAt(executionId, referenceOf(sequence, value)));
      }
    const resultAt = nullableInteger(of, "result_at");
    const entries = entriesOf(
      {
        input: row === undefined ? null : nullableText(row, "input"),
        result:
          resultAt === null
            ? row === undefined
              ? null
              : nullableText(row, "result")
            : await shortValueAt(executionId, resultAt),
        tags: readTags(nullableText(of, "tags")),
        suspensions: found.suspension,
        states: found.state,
      },
      readExclude(nullableText(of, "exclude")),
    );
    all.push(entries.map((entry) => ({ ...entry, of })));
  }
  return all;
}

async function replaceEntries(
  query: Query,
  s: string,
  stale: readonly Row[],
  entries: readonly Entry[][],
): Promise<void> {
  const added: Entry[] = [];
  const removed: Entry[] = [];
  for (const [index, of] of stale.entries()) {
    const kept = of.entries === null ? [] : readEntries(text(of, "entries"));
    const before = new Map(kept.map((entry) => [keyOf(entry), { ...entry, of }]));
    for (const entry of entries[index] ?? []) if (!before.delete(keyOf(entry))) added.push(entry);
    removed.push(...before.values());
  }
  const keys = (list: readonly Entry[]) => [
    list.map(({ value }) => value),
    list.map(({ of }) => integer(of, "start_at")),
    list.map(({ of }) => text(of, "execution_id")),
    list.map(({ path }) => path),
  ];
  if (removed.length > 0)
    await query(
      `delete from ${s}.search_values
       using unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) as old (value, start_at, execution_id, path)
       where search_values.value = old.value and search_values.start_at = old.start_at
         and search_values.execution_id = old.execution_id and search_values.path = old.path`,
      keys(removed),
    );
  if (added.length > 0)
    await query(
      `insert into ${s}.search_values (value, start_at, execution_id, path, user_id)
       select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[]) on conflict do nothing`,
      [...keys(added), added.map(({ of }) => nullableText(of, "user_id"))],
    );
  await query(
    `insert into ${s}.search_entries (execution_id, start_at, sequence, rules, entries)
     select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::integer[], $5::text[])
     on conflict (execution_id) do update set start_at = excluded.start_at, sequence = excluded.sequence,
       rules = excluded.rules, entries = excluded.entries`,
    [
      stale.map((of) => text(of, "execution_id")),
      stale.map((of) => integer(of, "start_at")),
      stale.map((of) => integer(of, "sequence")),
      stale.map((of) => integer(of, "rules")),
      entries.map((list) => JSON.stringify(list.map(({ path, value }) => ({ path, value })))),
    ],
  );
}

/** Candidates whose rows are read at once. */
const rowsAtOnce = 200;

async function find(readers: Readers, s: string, query: SearchQuery): Promise<SearchResult<ListedExecution>> {
  if (query.userId?.includes("\u0000")) return { found: [], more: false, complete: true };
  const { whole, beginning } = rangeOf(query.text);
  const entries = await readEntriesOf(readers, wholeStatement(s, query, whole));
  let complete = entries.length < maxEntriesRead;
  if (beginning !== undefined) {
    const longer = await readEntriesOf(readers, longerStatement(s, query, beginning));
    complete &&= longer.length < maxEntriesRead;
    entries.push(...longer);
  }
  const { workflowId = null, status = null, limit } = query;
  const all = candidates(entries, query);
  const found: FoundExecution<ListedExecution>[] = [];
  for (let first = 0; first < all.length; first += rowsAtOnce) {
    const some = all.slice(first, first + rowsAtOnce);
    const rows = await readers.read(
      `select ${columnsOf("executions", [...shortColumns, "error"])} from ${s}.executions
       where execution_id = any($1) and workflow_id = coalesce($2, workflow_id) and status = coalesce($3, status)`,
      [some.map(({ executionId }) => executionId), workflowId, status],
    );
    const listed = new Map(rows.map((row) => [text(row, "execution_id"), row]));
    for (const { executionId, matches } of some) {
      const row = listed.get(executionId);
      if (row === undefined) continue;
      if (found.length === limit) return { found, more: true, complete };
      found.push({ execution: toListed(row), matches });
    }
  }
  return { found, more: false, complete };
}

type Statement = readonly [statement: string, values: readonly unknown[]];

/** Whole values are in the order of the list: a page continues where the one before has ended. */
export function wholeStatement(s: string, { userId, before }: SearchQuery, whole: string): Statement {
  const place = before && [before.startAt, before.executionId];
  return entriesStatement(s, userId, "value = ?", [whole], place);
}

export function longerStatement(
  s: string,
  { userId }: SearchQuery,
  { after, before }: { readonly after: string; readonly before: string },
): Statement {
  return entriesStatement(s, userId, "value > ? and value < ?", [after, before], undefined);
}

// In the order of an index: the entries that are read are the first that match, however many there are.
function entriesStatement(
  s: string,
  userId: string | undefined,
  condition: string,
  range: readonly string[],
  place: readonly (string | number)[] | undefined,
): Statement {
  const where = new Where()
    .add("user_id = ?", userId)
    .add(condition, ...range)
    .add("(start_at, execution_id) < (?, ?)", ...(place ?? [undefined]));
  const own = userId === undefined ? "" : "user_id, ";
  return [
    `select value, start_at, execution_id, path from ${s}.search_values ${where}
     order by ${own}value, start_at desc, execution_id desc limit ${maxEntriesRead}`,
    where.values,
  ];
}

async function readEntriesOf(readers: Readers, [statement, values]: Statement): Promise<ReadEntry[]> {
  const rows = await readers.walk(statement, values);
  return rows.map((row) => ({
    value: text(row, "value"),
    startAt: integer(row, "start_at"),
    executionId: text(row, "execution_id"),
    path: text(row, "path"),
  }));
}
