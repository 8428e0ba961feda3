// Signals in the state of shards: a signal is in the shard of its scope and name, `si/` finds it by its id, and the set `e` by its
// place. Waits are lines `wt/` in the shards of their executions, which a search finds after the signal is kept: a wait is kept
// before it looks for signals, so one of both finds the other. Work is a value `wk/` and a member of the set `g`.
import { anyKey, cancelledBy, matchKey, readAwaits, targetOf } from "@andante/core/internal";
import {
  type DoneWork,
  type DueQuery,
  type DueTimer,
  deliverWork,
  type FindSignals,
  isSameSignal,
  isUnmatched,
  lookWork,
  type NewSignal,
  noEffects,
  type SendSignal,
  type SignalRow,
  type SignalWork,
  type Suspension,
  settledSignal,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { type Kept, keys, type PlacedSignal, sets, type TimedWork } from "./layout.ts";
import { columnsOf, field, tagField } from "./lines.ts";
import type { Place } from "./read-row.ts";
import { find, memberKey } from "./sets.ts";

export const signalColumns = columnsOf("seq scope name matchKey signalId sentAt data pending matched whole");
export const waitColumns = columnsOf("target waitId executionId places whole");

/** The numbers of signals are times, which the number of the shard follows. */
const shardsAtMost = 1024;

export function shardIn(seq: number): number {
  return seq % shardsAtMost;
}

/** The id that leads to the shard of signals. */
export function homeOf({ scope, name }: Pick<NewSignal, "scope" | "name">): string {
  return JSON.stringify([scope, name]);
}

/** Its targets may not be known yet: a process has died after it was kept. */
type KeptSignal = SignalRow & { readonly isNew?: true };

/** A signal as it was kept, and whether its waits have to be searched. */
export interface KeptSend {
  readonly kind: "sent" | "duplicate" | "conflict";
  readonly row: SignalRow;
  readonly isNew: boolean;
}

function keep(cells: Cells, row: KeptSignal): void {
  const { seq, scope, name, key, signalId, sentAt, data, pending, effects } = row;
  const names = [field(scope), field(name), field(matchKey(key)), field(signalId)];
  const marks = [sentAt, data === null ? "" : "+", pending, isUnmatched(effects) ? "" : "+"];
  cells.set(keys.signal(seq), row, seq, ...names, ...marks);
}

/** Where waits with this key, and those with any, find it. */
function placesOf({ seq, scope, name, key, sentAt }: Omit<SignalRow, "data">): PlacedSignal[] {
  return [...new Set([matchKey(key), anyKey])].map(
    (each): PlacedSignal => [JSON.stringify([scope, name, each]), seq, "", sentAt],
  );
}

async function known(cells: Cells, signal: Pick<NewSignal, "scope" | "name" | "signalId">) {
  const seq = await cells.read<number>(keys.signalId(homeOf(signal), signal.signalId));
  return { seq, row: seq === undefined ? undefined : await cells.read<KeptSignal>(keys.signal(seq)) };
}

async function sendSignal(
  cells: Cells,
  { signal, shard }: { readonly signal: SendSignal; readonly shard: number },
): Promise<KeptSend> {
  const { starts: _, dueAt: _d, ...made } = signal;
  const before = await known(cells, made);
  if (before.row !== undefined) {
    const { isNew = false, ...row } = before.row;
    return { kind: isSameSignal(row, made) ? "duplicate" : "conflict", row, isNew };
  }
  const last = (await cells.read<number>("lastSignal")) ?? 0;
  const tick = Math.max(made.sentAt, Math.floor(last / shardsAtMost) + 1);
  const seq = before.seq ?? tick * shardsAtMost + shard;
  const row = { ...made, seq, effects: noEffects, pending: 0 };
  cells.set("lastSignal", seq);
  cells.set(keys.signalId(homeOf(made), made.signalId), seq);
  for (const place of placesOf(row)) cells.set(memberKey(sets.signals, place), place);
  keep(cells, { ...row, isNew: true });
  return { kind: "sent", row, isNew: true };
}

/** The targets of a signal are known: its work is kept. */
async function targetSignal(
  cells: Cells,
  {
    seq,
    targets,
    dueAt,
  }: { readonly seq: number; readonly targets: readonly string[]; readonly dueAt: number },
): Promise<SignalRow | undefined> {
  const kept = await cells.read<KeptSignal>(keys.signal(seq));
  if (kept?.isNew !== true) return kept;
  const { isNew: _, ...row } = { ...kept, pending: targets.length };
  for (const target of targets) keepWork(cells, deliverWork(seq, target), dueAt);
  keep(cells, row);
  return row;
}

export function keepWork(cells: Cells, work: SignalWork, dueAt: number): void {
  const member: TimedWork = ["", dueAt, work.workId, work.target];
  cells.set(keys.work(work.workId), { work, dueAt });
  cells.set(memberKey(sets.works, member), member);
}

/** A suspension is kept: its process looks for signals that came before. */
export function keepLook(cells: Cells, executionId: string, suspension: Suspension): void {
  const { suspensionId, awaits, suspendedAt } = suspension;
  if (awaits) keepWork(cells, lookWork(executionId, suspensionId, readAwaits(awaits).target), suspendedAt);
}

/** The lines by which signals find the waits of an execution. */
export function waitPlaces({ record, suspensions }: Kept): (readonly [key: string, place: Place])[] {
  const { executionId } = record;
  const cancelOn = record.endAt === null ? cancelledBy(record.links) : null;
  const own = suspensions.flatMap(({ suspensionId, awaits }) =>
    awaits ? [{ waitId: suspensionId, ...readAwaits(awaits) }] : [],
  );
  const all = cancelOn === null ? own : [...own, { waitId: `x${executionId}`, ...cancelOn }];
  return all.map(({ waitId, target, keys: places }) => {
    const fields = [field(target), field(waitId), field(executionId)];
    const tags = places.map((place) => tagField(JSON.stringify(place))).join("");
    return [keys.wait(waitId), [null, ...fields, tags]];
  });
}

async function settleSignal(
  cells: Cells,
  { seq, removed }: { readonly seq: number; readonly removed: readonly DoneWork[] },
): Promise<SignalRow | undefined> {
  const kept = await cells.read<KeptSignal>(keys.signal(seq));
  if (kept === undefined) return undefined;
  const row = settledSignal(kept, removed);
  keep(cells, row);
  return row;
}

/** Whether there was such work. */
async function dropWork(cells: Cells, workId: string): Promise<boolean> {
  const kept = await cells.read<{ work: SignalWork; dueAt: number }>(keys.work(workId));
  if (kept === undefined) return false;
  cells.clear(keys.work(workId));
  cells.clear(memberKey(sets.works, ["", kept.dueAt, workId]));
  return true;
}

/** Data alone goes, or the whole signal. */
async function dropSignals(
  cells: Cells,
  { seqs, isWhole }: { readonly seqs: readonly number[]; readonly isWhole: boolean },
): Promise<void> {
  for (const seq of seqs) {
    const row = await cells.read<SignalRow>(keys.signal(seq));
    if (row === undefined) continue;
    for (const place of placesOf(row)) cells.clear(memberKey(sets.signals, place));
    if (!isWhole) {
      keep(cells, { ...row, data: null });
      continue;
    }
    cells.clear(keys.signal(seq));
    cells.clear(keys.signalId(homeOf(row), row.signalId));
  }
}

async function findSignals(cells: Cells, query: FindSignals): Promise<SignalRow[]> {
  const { places, since, after, limit } = query;
  const found: SignalRow[] = [];
  for (const place of places) {
    const of = JSON.stringify(place);
    const fits = ([, seq, , sentAt]: PlacedSignal) => seq > after && sentAt >= since;
    const members = await find<PlacedSignal>(cells, sets.signals, {
      isOf: (each) => each === of,
      fits,
      limit,
    });
    await cells.load(members.map(([, seq]) => keys.signal(seq)));
    for (const [, seq] of members) {
      const row = cells.get<SignalRow>(keys.signal(seq));
      if (row !== undefined && row.data !== null) found.push(row);
    }
  }
  return found.sort((a, b) => a.seq - b.seq).slice(0, limit);
}

async function signal(cells: Cells, given: Pick<NewSignal, "scope" | "name" | "signalId">) {
  return (await known(cells, given)).row;
}

async function signalAt(cells: Cells, seq: number): Promise<SignalRow | undefined> {
  return cells.read<SignalRow>(keys.signal(seq));
}

async function signalWork(cells: Cells, workId: string): Promise<SignalWork | undefined> {
  return (await cells.read<{ work: SignalWork }>(keys.work(workId)))?.work;
}

/** The first work of these targets. */
export async function dueWork(
  cells: Cells,
  { workflowIds, agentIds = [], signals = false, after, limit }: DueQuery,
): Promise<DueTimer[]> {
  if (!signals) return [];
  const targets = new Set([
    ...workflowIds.map((workflowId) => targetOf({ workflowId })),
    ...agentIds.map((agentId) => targetOf({ workflowId: "", agentId })),
  ]);
  const fits = ([, , , target]: TimedWork) => targets.has(target);
  const found = await find<TimedWork>(cells, sets.works, { fits, after, limit });
  return found.map(([, dueAt, executionId, target]) => {
    const workflowId = target.startsWith("w") ? target.slice(1) : "";
    return { kind: "signal", executionId, workflowId, dueAt };
  });
}

export const signalWrites = { sendSignal, targetSignal, settleSignal, dropWork, dropSignals };
export const signalReads = { findSignals, signal, signalAt, signalWork };
