// Signals: keeps them with the work that they leave, finds them for waits, and notes their effects.
//
// A sender locks the places of its signals before it numbers them, and a wait that looks for earlier signals takes the same
// locks. So the numbers of one place are in the order of the commits, and of a sender and a wait at the same time one finds the
// other: the wait is kept before it looks.
import { createHash } from "node:crypto";
import {
  anyKey,
  knownSignal,
  matchKey,
  readPage,
  sentSignal,
  signalValues,
  targetOf,
  toSignal,
  toWait,
  toWork,
} from "@andante/core/internal";
import {
  conflictsIn,
  type DueQuery,
  type FindSignals,
  isUnmatched,
  maxPageLength,
  type NewSignal,
  type SendSignal,
  type SentSignal,
  type SettleWork,
  type SignalRow,
  type SignalStore,
  settledSignal,
} from "@andante/core/store";
import { integer, type Row, text } from "../columns.ts";
import { Batch } from "../connection/batch.ts";
import type { Query } from "../connection/client.ts";
import type { Readers } from "../connection/readers.ts";
import { WriteClashError } from "../connection/trouble.ts";
import { Where } from "../where.ts";
import { workStatement } from "../write/signal-work.ts";

type Reading = Pick<Readers, "read" | "search" | "write" | "forCallers">;

/** Characters that an event counts as beside its data: a transaction takes some hundred locks, and not thousands. */
const lengthOfLocks = 20_000;

export function signals(readers: Reading, s: string): SignalStore {
  const one = async (condition: string, values: readonly unknown[]): Promise<SignalRow | undefined> => {
    const [row] = await readers.read(`select * from ${s}.signals where ${condition}`, values);
    return row && toSignal(row);
  };
  const sends = new Batch<readonly SendSignal[], SentSignal[]>({
    perform: (given) =>
      readers.write("sendSignals", (query) => send(query, s, given), {
        first: locksOf(s, given.flat()),
        isShared: given.length > 1,
      }),
    keysOf: (given) => given.map(idOf),
    lengthOf: (given) => given.reduce((sum, { data }) => sum + lengthOfLocks + (data?.length ?? 0), 0),
  });
  return {
    send: (given) => sends.call(given),
    find: (given) => {
      if (!given.isNew) return find((...asked) => readers.read(...asked), s, given);
      const inTransaction = (query: Query) =>
        find(async (...asked) => (await query(...asked)).rows, s, given);
      return readers.write("findSignals", inTransaction, { first: locksOfNew(s, given) });
    },
    waits: async ({ scope, name, key, target, after = "", limit }) => {
      const rows = await readers.read(
        `select distinct wait_id, execution_id from ${s}.waits where scope = $1 and name = $2
           and match_key in ($3, '${anyKey}') and target = $4 and wait_id > $5 order by wait_id limit $6`,
        [scope, name, matchKey(key), target, after, limit],
      );
      return rows.map(toWait);
    },
    work: async (workId) => {
      const [row] = await readers.read(`select * from ${s}.signal_work where work_id = $1`, [workId]);
      return row && toWork(row);
    },
    settle: (given) => readers.write("settleSignal", (query) => settle(query, s, given)),
    read: ({ scope, signalId }) => one("scope = $1 and signal_id = $2", [scope, signalId]),
    bySeq: (seq) => one("seq = $1", [seq]),
    list: readers.forCallers(async ({ scope, name, key, signalId, unmatched, before, limit, length }) => {
      const where = new Where()
        .add("scope = ?", scope)
        .add("name = ?", name)
        .add("match_key = ?", key === undefined ? undefined : matchKey(key))
        .add("signal_id = ?", signalId)
        .add("seq < ?", before);
      if (unmatched) where.add("not matched");
      const page = `select * from ${s}.signals ${where} order by seq desc limit ${where.bind(limit)}`;
      const bytes = "coalesce(octet_length(data), 0)";
      // Data behind the end of the page are not sent.
      const rows = await readers.search(
        `select * from (select *, sum(${bytes}) over (order by seq desc) - ${bytes} as before from (${page}) as next)
         as measured where before < ${maxPageLength} order by seq desc`,
        where.values,
      );
      return readPage(rows, toSignal, length);
    }),
    trim: ({ dataBefore, before, keep, limit }) =>
      readers.write("trimSignals", async (query) => {
        const newest = await query(`select coalesce(max(seq), 0) as seq from ${s}.signals`, []);
        const last = newest.rows[0] === undefined ? 0 : integer(newest.rows[0], "seq");
        const forgotten = await query(
          `update ${s}.signals set data = null where seq in (select seq from (
             select seq, sent_at from ${s}.signals where data is not null order by seq limit $3 for update skip locked)
           as oldest where sent_at < $1 or seq <= $2)`,
          [dataBefore, last - keep, limit],
        );
        const removed = await query(
          `delete from ${s}.signals where seq in (select seq from (
             select seq, sent_at from ${s}.signals order by seq limit $2 for update skip locked)
           as oldest where sent_at < $1)`,
          [before, limit],
        );
        // No process has had the workflow that it is for.
        const left = await query(
          `delete from ${s}.signal_work where work_id in (select work_id from (
             select work_id, due_at from ${s}.signal_work order by due_at limit $2 for update skip locked)
           as oldest where due_at < $1)`,
          [before, limit],
        );
        return { more: Math.max(forgotten.count, removed.count, left.count) >= limit };
      }),
  };
}

/** The part of the query for what is due: $1 are the workflows, $2 the limit, $3 the agents, $4 its `after`, $5 the targets. */
export const dueWork = (s: string) => `
  (select 'signal' as kind, work_id as execution_id, case when target like 'w%' then substr(target, 2) else '' end as workflow_id,
     null as user_id, due_at, null::bigint as timer_at, null as suspension_id, null as path, 0 as step_index
   from ${s}.signal_work where due_at > $4 and target = any($5) order by due_at limit $2)`;

export function targetsOf({
  workflowIds,
  agentIds = [],
}: Pick<DueQuery, "workflowIds" | "agentIds">): string[] {
  return [
    ...workflowIds.map((workflowId) => targetOf({ workflowId })),
    ...agentIds.map((agentId) => targetOf({ workflowId: "", agentId })),
  ];
}

/** A lock, as PostgreSQL numbers them in a database. */
function lockOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest().readBigInt64BE().toString();
}

type Lock = readonly [lock: string, how: "shared" | "alone"];

/** Takes locks in one order, whichever transaction takes them: first those of names. The numbers are part of the statement. */
function lockStatement(ofNames: readonly Lock[], others: readonly Lock[]): string {
  const inOrder = (locks: readonly Lock[]) => [...new Map(locks)].sort(([a], [b]) => (a < b ? -1 : 1));
  const locks = [...inOrder(ofNames), ...inOrder(others)];
  const numbers = locks.map(([lock]) => lock).join();
  const shared = locks.map(([, how]) => how === "shared").join();
  return `select case when shared then pg_advisory_xact_lock_shared(lock) else pg_advisory_xact_lock(lock) end
    from unnest('{${numbers}}'::bigint[], '{${shared}}'::boolean[]) with ordinality as given (lock, shared, place) order by place`;
}

function locksOf(s: string, given: readonly SendSignal[]): string {
  return lockStatement(
    given.map(({ scope, name }) => [lockOf(s, "name", scope, name), "shared"]),
    given.map(({ scope, name, key }) => [lockOf(s, "key", scope, name, matchKey(key)), "alone"]),
  );
}

function idOf({ scope, signalId }: Pick<NewSignal, "scope" | "signalId">): string {
  return JSON.stringify([scope, signalId]);
}

/** Keeps the signals of several senders; no two of them have a signal in common. */
async function send(
  query: Query,
  s: string,
  senders: readonly (readonly SendSignal[])[],
): Promise<SentSignal[][]> {
  const all = senders.flat();
  const known = await knownIn(query, s, all);
  const conflicts = senders.map((given) => conflictsIn(given, (signal) => known.get(idOf(signal))));
  const ids = new Set(known.keys());
  const kept = senders.filter((_, index) => conflicts[index]?.length === 0);
  const fresh = kept.flat().filter((signal) => {
    const isKnown = ids.has(idOf(signal));
    ids.add(idOf(signal));
    return !isKnown;
  });
  const targets = await targetsIn(query, s, fresh);
  const seqs = await insert(query, s, fresh, targets);
  const made = fresh.map((signal, index) => {
    const { starts: _, dueAt, ...row } = signal;
    return { dueAt, sent: sentSignal(row, seqs[index] ?? 0, targets[index] ?? []) };
  });
  const works = made.flatMap(({ sent: { work } }) => work);
  if (works.length > 0) {
    const times = made.flatMap(({ dueAt, sent: { work } }) => work.map(() => dueAt));
    await query(...workStatement(s, works, times));
  }
  const madeById = new Map(made.map(({ sent }) => [idOf(sent.row), sent]));
  const seen = new Set<string>();
  const resultOf = (signal: SendSignal): SentSignal => {
    const id = idOf(signal);
    const before = known.get(id);
    if (before !== undefined) return knownSignal(before, signal);
    const sent = madeById.get(id);
    if (sent === undefined) throw new TypeError("a signal was not kept");
    if (seen.has(id)) return knownSignal(sent.row, signal);
    seen.add(id);
    return sent;
  };
  return senders.map((given, index) => {
    const found = conflicts[index] ?? [];
    return found.length > 0 ? found : given.map(resultOf);
  });
}

async function knownIn(
  query: Query,
  s: string,
  given: readonly SendSignal[],
): Promise<ReadonlyMap<string, SignalRow>> {
  const { rows } = await query(
    `select signals.* from ${s}.signals join unnest($1::text[], $2::text[]) as given (scope, signal_id)
     using (scope, signal_id)`,
    [given.map(({ scope }) => scope), given.map(({ signalId }) => signalId)],
  );
  return new Map(rows.map(toSignal).map((row) => [idOf(row), row]));
}

/** For each signal, the targets of the waits that it ends and of the workflows that it may start. */
async function targetsIn(
  query: Query,
  s: string,
  fresh: readonly SendSignal[],
): Promise<readonly string[][]> {
  if (fresh.length === 0) return [];
  const { rows } = await query(
    `select distinct place, target from ${s}.waits join unnest($1::text[], $2::text[], $3::text[])
       with ordinality as given (scope, name, key, place)
     on waits.scope = given.scope and waits.name = given.name and waits.match_key in (given.key, '${anyKey}')`,
    [fresh.map(({ scope }) => scope), fresh.map(({ name }) => name), fresh.map(({ key }) => matchKey(key))],
  );
  const found = Map.groupBy(rows, (row: Row) => integer(row, "place"));
  return fresh.map(({ starts }, index) => [
    ...new Set([...starts, ...(found.get(index + 1) ?? []).map((row) => text(row, "target"))]),
  ]);
}

async function insert(
  query: Query,
  s: string,
  fresh: readonly SendSignal[],
  targets: readonly string[][],
): Promise<readonly number[]> {
  if (fresh.length === 0) return [];
  const rows = fresh.map((signal, index) => signalValues(signal, targets[index]?.length ?? 0));
  const types = ["text", "text", "text", "text", "text", "text", "text", "bigint", "text", "integer"];
  const { rows: made } = await query(
    `insert into ${s}.signals (signal_id, scope, name, match_key, data, user_id, sent_by, sent_at, effects, pending)
     select signal_id, scope, name, match_key, data, user_id, sent_by, sent_at, effects, pending
     from unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(", ")}) with ordinality
       as given (signal_id, scope, name, match_key, data, user_id, sent_by, sent_at, effects, pending, place)
     order by place on conflict (scope, signal_id) do nothing returning seq`,
    types.map((_, index) => rows.map((row) => row[index])),
  );
  // Another sender was first with one of the ids, which has no lock: the server has room for some thousand locks in all.
  if (made.length < fresh.length) throw new WriteClashError();
  return made.map((row) => integer(row, "seq")).sort((a, b) => a - b);
}

/** Waits for the senders that have the locks: their events are found, and later events find the wait. */
function locksOfNew(s: string, { places }: FindSignals): string {
  const ofAnyKey = places.filter(([, , key]) => key === anyKey);
  const keyed = places.filter(([, , key]) => key !== anyKey);
  return lockStatement(
    ofAnyKey.map(([scope, name]) => [lockOf(s, "name", scope, name), "alone"]),
    keyed.map(([scope, name, key]) => [lockOf(s, "key", scope, name, key), "shared"]),
  );
}

async function find(
  read: (statement: string, values: readonly unknown[]) => Promise<readonly Row[]>,
  s: string,
  { places, since, after, limit }: FindSignals,
): Promise<SignalRow[]> {
  const found: SignalRow[] = [];
  for (const [scope, name, key] of places) {
    const isKey = key === anyKey ? "" : "and match_key = $6";
    const rows = await read(
      `select * from ${s}.signals where scope = $1 and name = $2 and data is not null and sent_at >= $3
         and seq > $4 ${isKey} order by seq limit $5`,
      [scope, name, since, after, limit, ...(key === anyKey ? [] : [key])],
    );
    found.push(...rows.map(toSignal));
  }
  return found.sort((a, b) => a.seq - b.seq).slice(0, limit);
}

async function settle(query: Query, s: string, { seq, done }: SettleWork): Promise<SignalRow | undefined> {
  const { rows: gone } = await query(
    `delete from ${s}.signal_work where work_id = any($1::text[]) returning work_id`,
    [done.map(({ workId }) => workId)],
  );
  const ids = new Set(gone.map((row) => text(row, "work_id")));
  if (seq === null) return undefined;
  const found = await query(`select * from ${s}.signals where seq = $1 for update`, [seq]);
  const row = found.rows[0] && toSignal(found.rows[0]);
  if (row === undefined) return undefined;
  const settled = settledSignal(
    row,
    done.filter(({ workId }) => ids.has(workId)),
  );
  const { effects, pending } = settled;
  if (pending === row.pending && effects === row.effects) return row;
  await query(`update ${s}.signals set effects = $2, matched = $3, pending = $4 where seq = $1`, [
    seq,
    effects,
    !isUnmatched(effects),
    pending,
  ]);
  return settled;
}
