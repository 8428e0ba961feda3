// The writes to executions: each loads the row and the facts, lets the decision of @andante/core decide, and keeps its changes.

import { isBelow } from "@andante/core/internal";
import {
  type Changes,
  type ClaimedExecution,
  type Commit,
  type CommitResult,
  type Decision,
  decisions,
  type ExecutionRecord,
  type FactRequests,
  type Facts,
  isAbandoned,
  lookback,
  type NewExecution,
  type NewTurn,
  newRecord,
  type OwnedClaim,
  type Snapshot,
  takeOver,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { append, eventAt, loadEvents, removeEvents, textOf } from "./journal.ts";
import {
  allSets,
  type FixedColumns,
  type Kept,
  type KeptInput,
  keys,
  type Leases,
  longText,
  type Parked,
  type SetOf,
  type Timed,
  type Working,
} from "./layout.ts";
import { lineOf, waitingLineOf } from "./lines.ts";
import { claimedOf } from "./read-row.ts";

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
function changesOf(cells: Cells, kept: Kept | undefined): Changes {
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

/** The places where an execution is found: its members in sets, and its lines in lists. */
interface Places {
  readonly members: Readonly<Record<string, Working | Timed | Parked | undefined>>;
  readonly lines: Readonly<Record<string, string>>;
}

const nowhere: Places = { members: {}, lines: {} };

function parkedOf({ record, fixed }: Kept): Parked | undefined {
  return record.parked === null ? undefined : [fixed.workflowId, record.parkedUnder, record.definition];
}

/** Whether a definition lets a parked execution be claimed again. */
export function isUnparked([, parkedUnder, begun]: Parked, definition: string, own: boolean): boolean {
  return parkedUnder !== definition && (!own || begun === definition);
}

function placesOf(kept: Kept): Places {
  const { executionId } = kept.record;
  // A pause waits for no answer.
  const lines = kept.suspensions
    .filter(({ path }) => path !== null)
    .map((each) => [keys.waitingLine(each.suspensionId), waitingLineOf(kept, each)] as const);
  return {
    members: {
      [keys.working(executionId)]: workingOf(kept),
      [keys.timed(executionId)]: timedOf(kept),
      [keys.parked(executionId)]: parkedOf(kept),
    },
    lines: { ...Object.fromEntries(lines), [keys.line(executionId)]: lineOf(kept) },
  };
}

/** Whether it has work for a process, with an owner or without one. */
export function hasWork(record: ExecutionRecord): boolean {
  return isAbandoned({ ...record, token: null }, false);
}

function workingOf({ record, fixed }: Kept): Working | undefined {
  if (!hasWork(record)) return undefined;
  const of = record.kind === "turn" ? `a${fixed.agentId}` : `w${fixed.workflowId}`;
  return [fixed.startAt, of, record.recoveries, record.owner, record.token];
}

function timedOf({ record, fixed, timeoutAt, suspensions, timers }: Kept): Timed | undefined {
  if (record.kind !== "workflow" || record.paused || record.endAt !== null) return undefined;
  const limits = [timeoutAt, ...suspensions.map(({ deadline }) => deadline)].filter((time) => time !== null);
  const timer = record.idle ? earliest(timers) : undefined;
  if (limits.length === 0 && timer === undefined) return undefined;
  return [fixed.workflowId, limits.length === 0 ? null : Math.min(...limits), timer ?? null];
}

/** Keeps a row and the places where it is found. `before`: the places of the row as it was. */
async function keep(
  cells: Cells,
  kept: Kept | undefined,
  executionId: string,
  before: Places,
): Promise<void> {
  const after = kept === undefined ? nowhere : placesOf(kept);
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const sets = Object.keys({ ...before.members, ...after.members }).filter(
    (key) => !isSame(before.members[key], after.members[key]),
  );
  await cells.load(sets);
  for (const key of sets) {
    const { [executionId]: _, ...others } = cells.get<SetOf<unknown>>(key) ?? {};
    const member = after.members[key];
    cells.set(key, member === undefined ? others : { ...others, [executionId]: member });
  }
  for (const key of Object.keys(before.lines)) if (after.lines[key] === undefined) cells.clear(key);
  for (const [key, text] of Object.entries(after.lines))
    if (before.lines[key] !== text) cells.setText(key, text);
  if (kept === undefined) cells.clear(keys.row(executionId));
  else cells.set(keys.row(executionId), kept);
}

/** Lets a decision of @andante/core decide. `endAt`: the time of an end that has no event. */
export async function perform<Argument extends { readonly executionId: string }, Result>(
  cells: Cells,
  decision: Decision<Argument, Result>,
  argument: Argument,
  endAt?: number,
): Promise<Result> {
  const { executionId } = argument;
  const kept = await rowOf(cells, executionId);
  const facts = await readFacts(cells, decision, argument, kept);
  const before = kept === undefined ? nowhere : placesOf(kept);
  const changes = changesOf(cells, kept);
  let isChanged = false;
  const result = decision.decide(argument, kept && { ...kept.record }, facts, {
    ...changes,
    update: (record) => {
      isChanged = true;
      if (endAt !== undefined && record.endAt !== null) record.endAt = endAt;
      changes.update(record);
    },
  });
  if (isChanged) await keep(cells, kept, executionId, before);
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
export async function insert(
  cells: Cells,
  made: NewExecution | NewTurn,
  columns: Pick<ExecutionRecord, "kind" | "stepIndex" | "resumes" | "usage" | "definition">,
  fixed: Pick<FixedColumns, "workflowId" | "agentId" | "tags" | "replayOf" | "trace">,
  timeoutAt: number | null,
): Promise<void> {
  const { executionId, input, context, userId, conversationId, startAt, claim, events } = made;
  const kept: Kept = {
    record: { ...newRecord, ...columns, ...claim, executionId, sequence: events.length },
    fixed: { ...fixed, userId, conversationId, startAt },
    timeoutAt,
    outcome: null,
    lastAt: 0,
    tail: [],
    writes: [],
    suspensions: [],
    timers: [],
  };
  append(cells, kept, 0, events, null);
  cells.set(keys.input(executionId), { input, context } satisfies KeptInput);
  await keep(cells, kept, executionId, nowhere);
}

async function create(cells: Cells, made: NewExecution): Promise<{ readonly created: boolean }> {
  const before = await cells.read<Kept>(keys.row(made.executionId));
  if (before !== undefined) return { created: before.record.token === made.claim.token };
  const { replay, usage = null, definition = null, tags = [], trace = null, workflowId, timeoutAt } = made;
  const { stepIndex = 0, resumes = 0 } = replay ?? {};
  await insert(
    cells,
    made,
    { kind: "workflow", stepIndex, resumes, usage, definition },
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

/** Claims executions that were found to be abandoned, where they still are. */
async function claim(
  cells: Cells,
  { claims, owner }: { readonly owner: string; readonly claims: readonly Omit<OwnedClaim, "startAt">[] },
): Promise<readonly { readonly row: ClaimedExecution; readonly token: string }[]> {
  await cells.load([keys.leases, ...claims.map(({ executionId }) => keys.row(executionId))]);
  const leases = cells.get<Leases>(keys.leases) ?? {};
  const taken = [];
  for (const { executionId, token } of claims) {
    const kept = cells.get<Kept>(keys.row(executionId));
    if (kept === undefined) continue;
    const { record } = kept;
    const before = placesOf(kept);
    if (record.token !== token) {
      if (!isAbandoned(record, isAlive(cells, record.owner))) continue;
      takeOver(record, { owner, token }, record.owner !== null && leases[record.owner] !== undefined);
      await keep(cells, kept, executionId, before);
    }
    taken.push({ row: claimedOf(kept), token });
  }
  return taken;
}

/** Lets a parked execution be claimed again, unless it was parked under this definition. */
async function unpark(
  cells: Cells,
  { executionId, definition, own }: { executionId: string; definition: string; own: boolean },
): Promise<void> {
  const kept = await rowOf(cells, executionId);
  const parked = kept === undefined ? undefined : parkedOf(kept);
  if (kept === undefined || parked === undefined || !isUnparked(parked, definition, own)) return;
  const before = placesOf(kept);
  Object.assign(kept.record, { parked: null, parkedUnder: null });
  await keep(cells, kept, executionId, before);
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
    await keep(cells, kept, executionId, before);
    return { events: removed, isGone: false };
  }
  await remove(cells, kept);
  return { events: removed, isGone: true };
}

/** Deletes an execution whose journal is deleted. */
export async function remove(cells: Cells, kept: Kept): Promise<void> {
  const { executionId } = kept.record;
  for (const key of [keys.input, keys.outcome, keys.snapshot]) cells.clear(key(executionId));
  await keep(cells, undefined, executionId, placesOf(kept));
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
  await cells.load(allSets("c"));
  const members = allSets("c").flatMap((key) => Object.values(cells.get<SetOf<Working>>(key) ?? {}));
  const owners = new Set(members.map(([, , , owner]) => owner));
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
  release: decided(decisions.release),
  park: decided(decisions.park),
  adopt: decided(decisions.adopt),
  keepSnapshot,
  claim,
  unpark,
  drop,
  lease,
};
