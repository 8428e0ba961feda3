// Signals: keeps them with the work that they leave, finds them for waits, and notes their effects.
import type { DatabaseSync } from "node:sqlite";
import { anyKey, matchKey, targetOf } from "../../../event/match-key.ts";
import { conflictsIn, dueTimeOf, isUnmatched, settledSignal, workText } from "../../decide/index.ts";
import type {
  FindSignals,
  NoteWork,
  SendSignal,
  SendWork,
  SentSignal,
  SettleWork,
  SignalRow,
  SignalsQuery,
  SignalWait,
  SignalWork,
  TrimSignals,
  WaitsQuery,
} from "../../signal-store.ts";
import { readPage } from "../../sql/read-page.ts";
import {
  knownSignal,
  sentSignal,
  signalColumns,
  signalValues,
  toSignal,
  toWait,
  toWork,
} from "../../sql/signal-rows.ts";
import type { DueQuery, DueTimer } from "../../store.ts";
import { integer, text } from "../columns.ts";
import { Where } from "./observations/where.ts";

function insertWork(database: DatabaseSync) {
  const insert = database.prepare(
    "insert or ignore into signal_work (work_id, target, due_at, body) values (?, ?, ?, ?)",
  );
  return (work: SignalWork, dueAt: number) =>
    void insert.run(work.workId, work.target, dueAt, workText(work));
}

export function sendSignals(database: DatabaseSync) {
  const read = readSignal(database);
  const keepWork = insertWork(database);
  const nextTarget = database.prepare(
    `select target from waits where scope = ? and name = ? and match_key = ? and target > ? order by target limit 1`,
  );
  /** One step through the index for each target: one key may have a hundred thousand waits. */
  const targetsOf = ({ scope, name, key }: SendSignal): string[] => {
    const found: string[] = [];
    for (const each of new Set([matchKey(key), anyKey]))
      for (let last = ""; ; ) {
        const row = nextTarget.get(scope, name, each, last);
        if (row === undefined) break;
        last = text(row, "target");
        found.push(last);
      }
    return found;
  };
  const insert = database.prepare(
    `insert into signals (${signalColumns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const send = (signal: SendSignal): SentSignal => {
    const { starts, dueAt, ...made } = signal;
    const before = read(made);
    if (before !== undefined) return knownSignal(before, made);
    const found = [...new Set([...starts, ...targetsOf(signal)])];
    const seq = Number(insert.run(...signalValues(made, found.length)).lastInsertRowid);
    const sent = sentSignal(made, seq, found);
    for (const work of sent.work) keepWork(work, dueAt);
    return sent;
  };
  return (signals: readonly SendSignal[]): SentSignal[] => {
    const conflicts = conflictsIn(signals, read);
    return conflicts.length > 0 ? conflicts : signals.map(send);
  };
}

/** Work that other writes keep. */
export function keepWork(database: DatabaseSync) {
  const insert = insertWork(database);
  return (works: readonly (SendWork | NoteWork)[]): void => {
    for (const work of works) insert(work, dueTimeOf(work));
  };
}

export function findSignals(database: DatabaseSync) {
  const range = "and data is not null and sent_at >= ? and seq > ? order by seq limit ?";
  const byKey = database.prepare(
    `select * from signals where scope = ? and name = ? and match_key = ? ${range}`,
  );
  const byName = database.prepare(`select * from signals where scope = ? and name = ? ${range}`);
  return ({ places, since, after, limit }: FindSignals): SignalRow[] =>
    places
      .flatMap(([scope, name, key]) =>
        key === anyKey
          ? byName.all(scope, name, since, after, limit)
          : byKey.all(scope, name, key, since, after, limit),
      )
      .map(toSignal)
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit);
}

export function signalWaits(database: DatabaseSync) {
  const select = database.prepare(
    `select wait_id, execution_id from waits where scope = ? and name = ? and match_key = ? and target = ?
       and wait_id > ? order by wait_id limit ?`,
  );
  return ({ scope, name, key, target, after = "", limit }: WaitsQuery): SignalWait[] => {
    const places = [...new Set([matchKey(key), anyKey])];
    const rows = places.flatMap((each) => select.all(scope, name, each, target, after, limit).map(toWait));
    const waits = new Map(rows.map((wait) => [wait.waitId, wait]));
    return [...waits.values()].sort((a, b) => (a.waitId < b.waitId ? -1 : 1)).slice(0, limit);
  };
}

export function signalWork(database: DatabaseSync) {
  const select = database.prepare("select * from signal_work where work_id = ?");
  return (workId: string): SignalWork | undefined => {
    const row = select.get(workId);
    return row && toWork(row);
  };
}

export function settleSignal(database: DatabaseSync) {
  const remove = database.prepare("delete from signal_work where work_id = ?");
  const bySeq = signalBySeq(database);
  const write = database.prepare("update signals set effects = ?, matched = ?, pending = ? where seq = ?");
  return ({ seq, done }: SettleWork): SignalRow | undefined => {
    const removed = done.filter(({ workId }) => remove.run(workId).changes > 0);
    const row = seq === null ? undefined : bySeq(seq);
    if (row === undefined) return undefined;
    const settled = settledSignal(row, removed);
    const { effects, pending } = settled;
    if (effects !== row.effects || pending !== row.pending)
      write.run(effects, Number(!isUnmatched(effects)), pending, row.seq);
    return settled;
  };
}

export function readSignal(database: DatabaseSync) {
  const select = database.prepare("select * from signals where scope = ? and signal_id = ?");
  return ({ scope, signalId }: Pick<SignalRow, "scope" | "signalId">): SignalRow | undefined => {
    const row = select.get(scope, signalId);
    return row && toSignal(row);
  };
}

export function signalBySeq(database: DatabaseSync) {
  const select = database.prepare("select * from signals where seq = ?");
  return (seq: number): SignalRow | undefined => {
    const row = select.get(seq);
    return row && toSignal(row);
  };
}

export function listSignals(database: DatabaseSync) {
  return ({ scope, name, key, signalId, unmatched, before, limit, length }: SignalsQuery): SignalRow[] => {
    const where = new Where()
      .add("scope = ?", scope)
      .add("name = ?", name)
      .add("match_key = ?", key === undefined ? undefined : matchKey(key))
      .add("signal_id = ?", signalId)
      .add("seq < ?", before);
    if (unmatched) where.add("matched = 0");
    const statement = `select * from signals ${where} order by seq desc limit ?`;
    return readPage(database.prepare(statement).iterate(...where.values, limit), toSignal, length);
  };
}

/** Each looks at so many rows from the oldest on. */
export function trimSignals(database: DatabaseSync) {
  const last = database.prepare("select max(seq) as seq from signals");
  const forget = database.prepare(
    `update signals set data = null where seq in (select seq from (
       select seq, sent_at from signals where data is not null order by seq limit ?) where sent_at < ? or seq <= ?)`,
  );
  const remove = database.prepare(
    `delete from signals where seq in (select seq from (
       select seq, sent_at from signals order by seq limit ?) where sent_at < ?)`,
  );
  const removeWork = database.prepare(
    `delete from signal_work where work_id in (select work_id from (
       select work_id, due_at from signal_work order by due_at limit ?) where due_at < ?)`,
  );
  return ({ dataBefore, before, keep, limit }: TrimSignals): { more: boolean } => {
    const row = last.get();
    const newest = row?.seq == null ? 0 : integer(row, "seq");
    const forgotten = forget.run(limit, dataBefore, newest - keep).changes;
    const removed = remove.run(limit, before).changes;
    // No process has had the workflow that it is for.
    const left = removeWork.run(limit, before).changes;
    return { more: Math.max(Number(forgotten), Number(removed), Number(left)) >= limit };
  };
}

export function dueWork(database: DatabaseSync) {
  const select = database.prepare(
    `select work_id, target, due_at from signal_work where due_at > ? and target in (select value from json_each(?))
     order by due_at limit ?`,
  );
  return ({ workflowIds, agentIds = [], after = -1, limit }: DueQuery): DueTimer[] => {
    const targets = [
      ...workflowIds.map((workflowId) => targetOf({ workflowId })),
      ...agentIds.map((agentId) => targetOf({ workflowId: "", agentId })),
    ];
    return select.all(after, JSON.stringify(targets), limit).map((row) => {
      const target = text(row, "target");
      const workflowId = target.startsWith("w") ? target.slice(1) : "";
      return {
        kind: "signal",
        executionId: text(row, "work_id"),
        workflowId,
        dueAt: integer(row, "due_at"),
      };
    });
  };
}
