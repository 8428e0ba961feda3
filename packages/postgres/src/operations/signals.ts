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
import type { Query } from "../connection/client.ts";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";
import { workStatement } from "../write/signal-work.ts";

export function signals(readers: Readers, s: string): SignalStore {
  const one = async (condition: string, values: readonly unknown[]): Promise<SignalRow | undefined> => {
    const [row] = await readers.read(`select * from ${s}.signals where ${condition}`, values);
    return row && toSignal(row);
  };
  return {
    send: (given) => readers.write("sendSignals", (query) => send(query, s, given)),
    find: (given) => readers.write("findSignals", (query) => find(query, s, given)),
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

/** The part of the query for what is due: $1 are the workflows, $2 the limit, $3 the agents. */
export const dueWork = (s: string) => `
  (select 'signal' as kind, work_id as execution_id, case when target like 'w%' then substr(target, 2) else '' end as workflow_id,
     null as user_id, due_at, null::bigint as timer_at, null as suspension_id, null as path, 0 as step_index
   from ${s}.signal_work where target = any($4) order by due_at limit $2)`;

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

/** Takes locks in one order, whichever transaction takes them. */
async function lock(query: Query, locks: readonly string[], shared: "" | "_shared"): Promise<void> {
  if (locks.length === 0) return;
  const sorted = [...new Set(locks)].sort();
  await query(
    `select pg_advisory_xact_lock${shared}(lock) from unnest($1::bigint[]) with ordinality as given (lock, place)
     order by place`,
    [sorted],
  );
}

async function send(query: Query, s: string, given: readonly SendSignal[]): Promise<SentSignal[]> {
  await lock(
    query,
    given.map(({ scope, name }) => lockOf(s, "name", scope, name)),
    "_shared",
  );
  const exclusive = given.flatMap(({ scope, name, key, signalId }) => [
    lockOf(s, "key", scope, name, matchKey(key)),
    lockOf(s, "id", scope, signalId),
  ]);
  await lock(query, exclusive, "");
  const known = await knownIn(query, s, given);
  const idOf = ({ scope, signalId }: Pick<NewSignal, "scope" | "signalId">) =>
    JSON.stringify([scope, signalId]);
  const conflicts = conflictsIn(given, (signal) => known.get(idOf(signal)));
  if (conflicts.length > 0) return conflicts;
  const ids = new Set(known.keys());
  const fresh = given.filter((signal) => {
    const isKnown = ids.has(idOf(signal));
    ids.add(idOf(signal));
    return !isKnown;
  });
  const targets = await targetsIn(query, s, fresh);
  const seqs = await insert(query, s, fresh, targets);
  const made = new Map(
    fresh.map((signal, index) => {
      const { starts: _, dueAt: _d, ...row } = signal;
      return [idOf(signal), sentSignal(row, seqs[index] ?? 0, targets[index] ?? [])] as const;
    }),
  );
  const dueAt = given[0]?.dueAt ?? 0;
  const works = [...made.values()].flatMap(({ work }) => work);
  if (works.length > 0) {
    const times = works.map(() => dueAt);
    await query(...workStatement(s, works, times));
  }
  const seen = new Set<string>();
  return given.map((signal) => {
    const id = idOf(signal);
    const before = known.get(id);
    if (before !== undefined) return knownSignal(before, signal);
    const sent = made.get(id);
    if (sent === undefined) throw new TypeError("a signal was not kept");
    if (seen.has(id)) return knownSignal(sent.row, signal);
    seen.add(id);
    return sent;
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
  return new Map(rows.map(toSignal).map((row) => [JSON.stringify([row.scope, row.signalId]), row]));
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
     order by place returning seq`,
    types.map((_, index) => rows.map((row) => row[index])),
  );
  return made.map((row) => integer(row, "seq")).sort((a, b) => a - b);
}

async function find(query: Query, s: string, given: FindSignals): Promise<SignalRow[]> {
  const { places, since, after, limit } = given;
  const ofAnyKey = places.filter(([, , key]) => key === anyKey);
  const keyed = places.filter(([, , key]) => key !== anyKey);
  await lock(
    query,
    ofAnyKey.map(([scope, name]) => lockOf(s, "name", scope, name)),
    "",
  );
  await lock(
    query,
    keyed.map(([scope, name, key]) => lockOf(s, "key", scope, name, key)),
    "_shared",
  );
  const found: SignalRow[] = [];
  for (const [scope, name, key] of places) {
    const isKey = key === anyKey ? "" : "and match_key = $6";
    const { rows } = await query(
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
