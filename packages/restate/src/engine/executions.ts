// The writes to executions: each loads the row and the facts, lets the decision of @andante/core decide, and keeps its changes.

import { isBelow } from "@andante/core/internal";
import {
  type Changes,
  type Claim,
  type ClaimedExecution,
  type Commit,
  type CommitResult,
  type Decision,
  decisions,
  dueTimeOf,
  type ExecutionRecord,
  type FactRequests,
  type Facts,
  isAbandoned,
  isChildWait,
  lookback,
  type NewExecution,
  type NewTurn,
  newRecord,
  type Snapshot,
  takeOver,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { keepFact } from "./facts.ts";
import { append, eventAt, loadEvents, removeEvents, textOf } from "./journal.ts";
import {
  type FixedColumns,
  type Kept,
  type KeptInput,
  keys,
  type Leases,
  longText,
  type Parked,
  sets,
  type Timed,
  type Working,
} from "./layout.ts";
import { claimedOf, fieldsOf, type Place, shortOf } from "./read-row.ts";
import { keepDelivery } from "./schedule-rows.ts";
import { find, memberKey } from "./sets.ts";
import { keepLook, keepWork, waitPlaces } from "./signals.ts";
import { spend } from "./usage.ts";

/** An execution that another shard holds. */
export class Moved extends Error {
  readonly shard: number;
  constructor(shard: number) {
    super(`the shard ${shard} holds it`);
    this.shard = shard;
  }
}

/** The row of an execution; undefined when there is none. */
export async function rowOf(cells: Cells, executionId: string): Promise<Kept | undefined> {
  const kept = await cells.read<Kept>(keys.row(executionId));
  if (kept !== undefined) return kept;
  const shard = await cells.read<number>(keys.moved(executionId));
  if (shard !== undefined) throw new Moved(shard);
  return undefined;
}

export function isAlive(cells: Cells, owner: string | null): boolean {
  return owner !== null && (cells.get<Leases>(keys.leases)?.[owner]?.[1] ?? false);
}

/** Requests the facts of one execution, then reads them from values that are loaded. */
async function readFacts<Argument, Result>(
  cells: Cells,
  decision: Decision<Argument, Result>,
  argument: Argument,
  kept: Kept | undefined,
): Promise<Facts> {
  const wanted: { first: number; last: number }[] = [];
  const writeOf = (given: readonly string[]) => {
    const found = kept?.writes.findLast(([key]) => given.includes(key));
    const isNear = found !== undefined && found[2] > (kept?.record.sequence ?? 0) - lookback;
    return isNear ? found : undefined;
  };
  let asksAlive = false;
  const requests: FactRequests = {
    openSuspensions: () => undefined,
    below: () => undefined,
    dueAt: () => undefined,
    isAlive: () => {
      asksAlive = true;
    },
    timeOf: (_, sequence) => void wanted.push({ first: sequence, last: sequence }),
    recorded: (_, given) => {
      const [, first, last] = writeOf(given) ?? [];
      if (first !== undefined && last !== undefined) wanted.push({ first, last });
    },
  };
  decision.request?.(argument, kept?.record, requests);
  if (asksAlive) await cells.load([keys.leases]);
  if (kept !== undefined) for (const { first, last } of wanted) await loadEvents(cells, kept, first, last);
  return {
    openSuspension: (id) => {
      const found = kept?.suspensions.find(({ suspensionId }) => suspensionId === id);
      return kept && found && { executionId: kept.record.executionId, path: found.path };
    },
    below: (_, paths) =>
      kept?.suspensions.flatMap(({ suspensionId, path }) =>
        path !== null && paths.some((step) => path === step || isBelow(path, step)) ? [suspensionId] : [],
      ) ?? [],
    isAlive: (owner) => isAlive(cells, owner),
    dueAt: () => earliest(kept?.timers ?? []),
    timeOf: (_, sequence) => (kept === undefined ? undefined : eventAt(cells, kept, sequence)?.[1]),
    recorded: (_, given) => {
      const found = writeOf(given);
      if (kept === undefined || found === undefined) return undefined;
      const [key, first, last] = found;
      return { key, sequence: last, events: textOf(cells, kept, first, last) };
    },
  };
}

export function earliest(timers: readonly { readonly dueAt: number }[]): number | undefined {
  return timers.length === 0 ? undefined : Math.min(...timers.map(({ dueAt }) => dueAt));
}

/** Applies the changes of a decision to the row. A decision without an execution changes nothing. */
function changesOf(
  cells: Cells,
  kept: Kept | undefined,
): Omit<Changes, "spend" | "charge" | "remember" | "deliver"> {
  const row = (): Kept => {
    if (kept !== undefined) return kept;
    throw new Error("a decision has changed an execution that does not exist");
  };
  const close = (isClosed: (suspensionId: string) => boolean) => {
    row().suspensions = row().suspensions.filter(({ suspensionId }) => !isClosed(suspensionId));
  };
  return {
    update: (record) => {
      row().record = record;
    },
    end: (executionId, outcome) => {
      const isLong = (outcome.result?.length ?? 0) + (outcome.error?.length ?? 0) > longText;
      if (isLong) cells.set(keys.outcome(executionId), outcome);
      row().outcome = isLong || outcome;
    },
    append: (_, last, events, key) => append(cells, row(), last, events, key),
    open: (_, suspension) => {
      close((id) => id === suspension.suspensionId);
      row().suspensions.push(suspension);
      keepLook(cells, row().record.executionId, suspension);
    },
    keepWork: (works) => {
      for (const work of works) keepWork(cells, work, dueTimeOf(work));
    },
    close: (ids) => close((id) => ids.includes(id)),
    closeAll: () => close(() => true),
    setTimer: (_, timer) => {
      row().timers = [...row().timers.filter(({ path }) => path !== timer.path), timer];
    },
    clearTimer: (_, path) => {
      row().timers = row().timers.filter((timer) => timer.path !== path);
    },
    clearTimers: () => {
      row().timers = [];
    },
    // The row says that it is paused: readers of its times look there.
    hold: () => undefined,
    moveTimeout: (_, by) => {
      const { timeoutAt } = row();
      if (timeoutAt !== null) row().timeoutAt = timeoutAt + by;
    },
  };
}

/** The places where an execution is found: its members of sets and its open suspensions, with their keys. */
type Places = Readonly<Record<string, Place>>;

function parkedOf({ record, fixed }: Kept): Parked | null {
  if (record.parked === null) return null;
  return [fixed.workflowId, 0, record.executionId, record.parkedUnder, record.definition];
}

/** Whether a definition lets a parked execution be claimed again. */
export function isUnparked([, , , parkedUnder, begun]: Parked, definition: string, own: boolean): boolean {
  return parkedUnder !== definition && (!own || begun === definition);
}

function placesOf(kept: Kept | undefined): Places {
  if (kept === undefined) return {};
  const members = [
    [sets.working, workingOf(kept)],
    [sets.limits, limitOf(kept)],
    [sets.timers, timerOf(kept)],
    [sets.parked, parkedOf(kept)],
  ] as const;
  return Object.fromEntries([
    ...members.flatMap(([set, member]) => (member ? [[memberKey(set, member), [member]]] : [])),
    // A pause waits for no answer, and another execution ends the wait for it.
    ...kept.suspensions
      .filter((each) => each.path !== null && !isChildWait(each))
      .map((each) => [keys.waiting(each.suspensionId), shortOf(kept, each)]),
    ...waitPlaces(kept),
  ]);
}

export function workingOf({ record, fixed }: Kept): Working | null {
  const hasWork = isAbandoned({ ...record, token: null }, false);
  if (!hasWork) return null;
  const of = record.kind === "turn" ? `a${fixed.agentId}` : `w${fixed.workflowId}`;
  const owner = record.token === null ? "" : (record.owner ?? "");
  return [owner, fixed.startAt, record.executionId, of, record.recoveries];
}

/** Its member by the first of these times, while times count for it. */
function timedOf({ record, fixed }: Kept, given: readonly (number | null)[]): Timed | null {
  const times = given.filter((time) => time !== null);
  if (record.paused || times.length === 0) return null;
  const { workflowId, userId, agentId } = fixed;
  const place = ["", Math.min(...times), record.executionId, workflowId, userId, agentId] as const;
  return record.endAt === null ? place : [...place, true];
}

function limitOf(kept: Kept): Timed | null {
  if (kept.record.endAt !== null) return null;
  return timedOf(kept, [kept.timeoutAt, ...kept.suspensions.map(({ deadline }) => deadline)]);
}

export function timerOf(kept: Kept): Timed | null {
  return timedOf(kept, kept.record.idle ? kept.timers.map(({ dueAt }) => dueAt) : []);
}

/** Keeps a row and the places where it is found. `before`: the places of the row as it was. */
function keep(cells: Cells, kept: Kept | undefined, executionId: string, before: Places): void {
  const after = placesOf(kept);
  for (const key of Object.keys(before)) if (after[key] === undefined) cells.clear(key);
  for (const [key, place] of Object.entries(after))
    if (JSON.stringify(before[key]) !== JSON.stringify(place)) cells.set(key, ...place);
  if (kept === undefined) cells.clear(keys.row(executionId));
  else cells.set(keys.row(executionId), kept, ...fieldsOf(kept));
}

/** Lets a decision of @andante/core decide. `endAt`: the time of an end that has no event, and of its announcement. */
export async function perform<Argument extends { readonly executionId: string }, Result>(
  cells: Cells,
  decision: Decision<Argument, Result>,
  argument: Argument,
  endAt?: number,
): Promise<Result> {
  const { executionId } = argument;
  const kept = await rowOf(cells, executionId);
  const facts = await readFacts(cells, decision, argument, kept);
  const before = placesOf(kept);
  const changes = changesOf(cells, kept);
  let isChanged = false;
  const others: (() => Promise<void>)[] = [];
  const result = decision.decide(argument, kept && { ...kept.record }, facts, {
    ...changes,
    spend: (key, entries) => void others.push(() => spend(cells, key, entries)),
    charge: (charges) => cells.charge(charges),
    remember: (change) => void others.push(() => keepFact(cells, change)),
    deliver: (row) => void others.push(() => keepDelivery(cells, row)),
    setTimer: (id, timer) => changes.setTimer(id, { ...timer, dueAt: endAt ?? timer.dueAt }),
    update: (record) => {
      isChanged = true;
      if (endAt !== undefined && record.endAt !== null) record.endAt = endAt;
      changes.update(record);
    },
  });
  if (isChanged) keep(cells, kept, executionId, before);
  for (const write of others) await write();
  return result;
}

function decided<Argument extends { readonly executionId: string }, Result>(
  decision: Decision<Argument, Result>,
) {
  return (cells: Cells, argument: Argument): Promise<Result> => perform(cells, decision, argument);
}

/** A commit that ends an execution without an event takes the time of the call: a repeated attempt must decide the same. */
export function commit(cells: Cells, argument: Commit, at: number): Promise<CommitResult> {
  const isSilentEnd = argument.end !== null && argument.following.length === 0;
  return perform(cells, decisions.commit, argument, isSilentEnd ? at : undefined);
}

/** Keeps a new execution. */
export function insert(
  cells: Cells,
  made: NewExecution | NewTurn,
  columns: Pick<ExecutionRecord, "kind" | "stepIndex" | "resumes" | "usage" | "definition" | "links">,
  fixed: Pick<FixedColumns, "workflowId" | "agentId" | "tags" | "replayOf" | "trace">,
  timeoutAt: number | null,
): void {
  const { executionId, input, context, userId, conversationId, startAt, claim, events } = made;
  const isLong = (input?.length ?? 0) + context.length > longText;
  if (isLong) cells.set(keys.input(executionId), { input, context } satisfies KeptInput);
  const kept: Kept = {
    record: { ...newRecord, ...columns, ...claim, executionId, sequence: events.length },
    fixed: { ...fixed, userId, conversationId, startAt },
    input: isLong || { input, context },
    timeoutAt,
    outcome: null,
    lastAt: 0,
    tail: [],
    writes: [],
    suspensions: [],
    timers: [],
  };
  append(cells, kept, 0, events, null);
  keep(cells, kept, executionId, {});
}

export async function create(cells: Cells, made: NewExecution): Promise<{ readonly created: boolean }> {
  const before = await cells.read<Kept>(keys.row(made.executionId));
  if (before !== undefined) return { created: before.record.token === made.claim.token };
  const { replay, usage = null, definition = null, tags = [], trace = null, workflowId, timeoutAt } = made;
  const { links = null } = made;
  const { stepIndex = 0, resumes = 0 } = replay ?? {};
  insert(
    cells,
    made,
    { kind: "workflow", stepIndex, resumes, usage, definition, links },
    { workflowId, agentId: null, tags, replayOf: replay?.of ?? null, trace },
    timeoutAt,
  );
  return { created: true };
}

async function keepSnapshot(cells: Cells, snapshot: Snapshot): Promise<void> {
  const { executionId, sequence } = snapshot;
  await cells.load([keys.row(executionId), keys.snapshot(executionId)]);
  const record = (await rowOf(cells, executionId))?.record;
  if (record === undefined || record.endAt !== null || record.sequence < sequence) return;
  const before = cells.get<Snapshot>(keys.snapshot(executionId));
  if ((before?.sequence ?? 0) < sequence) cells.set(keys.snapshot(executionId), snapshot);
}

/** Claims an execution that was found to be abandoned, if it still is. */
async function claim(
  cells: Cells,
  { executionId, owner, token }: Claim & { readonly executionId: string },
): Promise<{ readonly row: ClaimedExecution; readonly token: string } | undefined> {
  await cells.load([keys.leases]);
  const kept = await rowOf(cells, executionId);
  if (kept === undefined) return undefined;
  const { record } = kept;
  if (record.token !== token) {
    if (!isAbandoned(record, isAlive(cells, record.owner))) return undefined;
    const before = placesOf(kept);
    const hadHeartbeat = cells.get<Leases>(keys.leases)?.[record.owner ?? ""] !== undefined;
    takeOver(record, { owner, token }, hadHeartbeat);
    keep(cells, kept, executionId, before);
  }
  return { row: claimedOf(kept), token };
}

/** Lets a parked execution be claimed again, unless it was parked under this definition. */
async function unpark(
  cells: Cells,
  { executionId, definition, own }: { executionId: string; definition: string; own: boolean },
): Promise<void> {
  const kept = await rowOf(cells, executionId);
  const parked = kept === undefined ? null : parkedOf(kept);
  if (kept === undefined || parked === null || !isUnparked(parked, definition, own)) return;
  const before = placesOf(kept);
  Object.assign(kept.record, { parked: null, parkedUnder: null });
  keep(cells, kept, executionId, before);
}

/** Deletes an execution that has ended, or as many of its last events; returns how many events that were. */
async function drop(
  cells: Cells,
  { executionId, events }: { executionId: string; events: number },
): Promise<{ readonly events: number; readonly isGone: boolean }> {
  const kept = await rowOf(cells, executionId);
  if (kept === undefined) return { events: 0, isGone: true };
  if (kept.record.endAt === null) return { events: 0, isGone: false };
  const before = placesOf(kept);
  const removed = await removeEvents(cells, kept, events);
  if (removed >= events) {
    keep(cells, kept, executionId, before);
    return { events: removed, isGone: false };
  }
  remove(cells, kept);
  return { events: removed, isGone: true };
}

/** Deletes an execution whose journal is deleted. */
export function remove(cells: Cells, kept: Kept): void {
  const { executionId } = kept.record;
  for (const key of [keys.input, keys.outcome, keys.snapshot]) cells.clear(key(executionId));
  keep(cells, undefined, executionId, placesOf(kept));
}

/** Notes that an owner is alive, or that its lease has ended. `count` numbers these changes of one owner. */
async function lease(
  cells: Cells,
  { owner, count, isAlive }: { owner: string; count: number; isAlive: boolean },
): Promise<void> {
  const leases = (await cells.read<Leases>(keys.leases)) ?? {};
  if (count <= (leases[owner]?.[0] ?? -1)) return;
  const { [owner]: _, ...others } = leases;
  const kept = Object.keys(others).length < maxLeases ? others : await withoutForgotten(cells, others);
  cells.set(keys.leases, { ...kept, [owner]: [count, isAlive] });
}

/** Leases that are kept before those of processes are dropped that are gone and own nothing. */
const maxLeases = 500;

async function withoutForgotten(cells: Cells, leases: Leases): Promise<Leases> {
  const owners = new Set((await find<Working>(cells, sets.working, {})).map(([owner]) => owner));
  const kept = Object.entries(leases).filter(([owner, [, alive]]) => alive || owners.has(owner));
  return Object.fromEntries(kept);
}

export const executionWrites = {
  create,
  commit,
  resume: decided(decisions.resume),
  pause: decided(decisions.pause),
  cancel: decided(decisions.cancel),
  wake: decided(decisions.wake),
  endHandled: decided(decisions.endHandled),
  release: decided(decisions.release),
  park: decided(decisions.park),
  adopt: decided(decisions.adopt),
  keepSnapshot,
  claim,
  unpark,
  drop,
  lease,
};
