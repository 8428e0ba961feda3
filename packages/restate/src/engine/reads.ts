// The reads of executions, and the searches for work and for times through the sets of a shard.
import {
  type ClaimAbandoned,
  type ClaimsQuery,
  type DueQuery,
  type DueTimer,
  type EventsQuery,
  isAbandoned,
  type OwnedClaim,
  type Snapshot,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { earliest, isAlive, isUnparked, rowOf, timerOf, workingOf } from "./executions.ts";
import { readEvents } from "./journal.ts";
import { type Kept, keys, type Leases, type Parked, sets, type Timed, type Working } from "./layout.ts";
import { headOf, listedOf, stateOf, waitingOf } from "./read-row.ts";
import { dueSchedules } from "./schedules.ts";
import { find, keysOfSet, type Member } from "./sets.ts";
import { dueWork } from "./signals.ts";

async function rowsOf(cells: Cells, executionIds: readonly string[]): Promise<Kept[]> {
  await cells.load(executionIds.map(keys.row));
  return executionIds.flatMap((id) => cells.get<Kept>(keys.row(id)) ?? []);
}

const idsOf = (members: readonly Member[]) => members.map(([, , id]) => id);

/** Reads one execution, if there is one. */
function ofRow<Value>(read: (cells: Cells, kept: Kept) => Value | Promise<Value>) {
  return async (cells: Cells, executionId: string): Promise<Value | undefined> => {
    const kept = await rowOf(cells, executionId);
    return kept && (await read(cells, kept));
  };
}

async function events(cells: Cells, query: EventsQuery) {
  const kept = await rowOf(cells, query.executionId);
  return kept === undefined ? [] : readEvents(cells, kept, query);
}

async function snapshot(cells: Cells, executionId: string) {
  const found = await cells.read<Snapshot>(keys.snapshot(executionId));
  if (found === undefined) await rowOf(cells, executionId);
  return found;
}

/** A suspension; undefined when it is not open any more. */
async function waiting(cells: Cells, asked: Record<"executionId" | "suspensionId", string>) {
  const kept = await rowOf(cells, asked.executionId);
  const suspension = kept?.suspensions.find(({ suspensionId }) => suspensionId === asked.suspensionId);
  return kept && suspension && waitingOf(kept, suspension);
}

/** The first executions of this shard that the query may claim. */
async function abandoned(cells: Cells, query: ClaimAbandoned): Promise<readonly Working[]> {
  const { workflowIds, agentIds = [], suspects, suspectAfter, except, only } = query;
  const limit = only === undefined ? query.limit : 1;
  await cells.load([keys.leases, ...keysOfSet(sets.working)]);
  const wanted = new Set([...workflowIds.map((id) => `w${id}`), ...agentIds.map((id) => `a${id}`)]);
  const isOf = (owner: string) => !isAlive(cells, owner);
  const fits = ([, , id, of, recoveries]: Working) =>
    wanted.has(of) && !except?.includes(id) && recoveries >= suspectAfter === suspects;
  const members = only === undefined ? await find<Working>(cells, sets.working, { isOf, fits }) : [];
  const first = idsOf(members.sort(byOrder(suspects)).slice(0, limit + 100));
  // A member only counts with its row.
  const rows = await rowsOf(cells, only === undefined ? first : [only]);
  const isFree = ({ record }: Kept) =>
    isAbandoned(record, isAlive(cells, record.owner)) && record.recoveries >= suspectAfter === suspects;
  const free = rows.filter(isFree).slice(0, limit);
  return free.map(workingOf).filter((member) => member !== null);
}

/** Oldest first; of suspects those with the fewest recoveries first. */
export function byOrder(suspects: boolean) {
  return (a: Working, b: Working): number =>
    (suspects ? a[4] - b[4] : 0) || a[1] - b[1] || (a[2] < b[2] ? -1 : 1);
}

async function claims(cells: Cells, { owner, after, limit }: ClaimsQuery): Promise<readonly OwnedClaim[]> {
  const found = await find<Working>(cells, sets.working, {
    isOf: (of) => of === owner,
    fits: ([, startAt, executionId]) => after === undefined || byStart({ startAt, executionId }, after) > 0,
    limit,
  });
  const rows = await rowsOf(cells, idsOf(found));
  return rows.flatMap(({ record: { executionId, token, ...record }, fixed }) =>
    token !== null && record.owner === owner && record.endAt === null
      ? [{ executionId, startAt: fixed.startAt, token }]
      : [],
  );
}

/** The owners that are alive or have work in this shard, with its amount; "" stands for work without an owner. */
async function owners(
  cells: Cells,
  _: null,
): Promise<readonly (readonly [owner: string, isAlive: boolean, executions: number])[]> {
  await cells.load([keys.leases, ...keysOfSet(sets.working)]);
  const work = new Map<string, number>();
  for (const [owner] of await find<Working>(cells, sets.working, {}))
    work.set(owner, (work.get(owner) ?? 0) + 1);
  const alive = Object.entries(cells.get<Leases>(keys.leases) ?? {}).flatMap(([owner, [, is]]) =>
    is ? [owner] : [],
  );
  const names = new Set([...alive, ...work.keys()]);
  return [...names].map((owner) => [owner, alive.includes(owner), work.get(owner) ?? 0]);
}

export function byStart(a: Omit<OwnedClaim, "token">, b: Omit<OwnedClaim, "token">): number {
  if (a.startAt !== b.startAt) return a.startAt - b.startAt;
  return a.executionId === b.executionId ? 0 : a.executionId < b.executionId ? -1 : 1;
}

/** Milliseconds after its time for which a timer counts without its row. */
const trustTime = 10_000;

/**
 * The row of a timer is only read when the timer stays due: by then a process would have woken it, unless a call that was killed
 * half-way has left it behind, or there are more than can be woken.
 */
async function due(cells: Cells, query: DueQuery, now: number): Promise<DueTimer[]> {
  const { workflowIds, agentIds = [], after, limit } = query;
  await cells.load([keys.leases, ...[sets.limits, sets.timers, sets.schedules].flatMap(keysOfSet)]);
  const wanted = new Set(workflowIds);
  const agents = new Set(agentIds);
  const fits = ([, , , workflowId, , agentId]: Timed) =>
    agentId === null ? wanted.has(workflowId) : agents.has(agentId);
  const limits = await find<Timed>(cells, sets.limits, { fits, after, limit });
  const timers = await find<Timed>(cells, sets.timers, { fits, after, limit });
  const isOld = ([, dueAt]: Timed) => dueAt < now - trustTime;
  const ids = new Set(idsOf([...limits, ...timers.filter(isOld)]));
  const all = (await rowsOf(cells, [...ids])).filter(({ record }) => !record.paused);
  const rows = all.filter(({ record }) => record.endAt === null);
  const confirmed = new Set(all.map((kept) => JSON.stringify(timerOf(kept))));
  const first = rows.flatMap((kept) => limitsOf(cells, kept)).sort(byTime);
  return [
    ...first.slice(0, limit),
    ...timers.flatMap((member): DueTimer[] => {
      const [, dueAt, executionId, workflowId, userId, , ended] = member;
      if (isOld(member) && !confirmed.has(JSON.stringify(member))) return [];
      if (ended) return [{ kind: "end", executionId, workflowId, dueAt }];
      return [{ kind: "timer", executionId, workflowId, dueAt, userId }];
    }),
    ...(await dueSchedules(cells, query, now)),
    ...(await dueWork(cells, query)),
  ];
}

export function byTime(a: DueTimer, b: DueTimer): number {
  return a.dueAt - b.dueAt;
}

/** Deadlines and the timeout, with the earliest timer unless a live owner processes it. */
function limitsOf(cells: Cells, { record, fixed, timers, timeoutAt, suspensions }: Kept): DueTimer[] {
  const isOwned = record.token !== null && isAlive(cells, record.owner);
  const isLeft = record.idle || (record.parked === null && !isOwned);
  const timerAt = isLeft ? (earliest(timers) ?? null) : null;
  const common = { executionId: record.executionId, workflowId: fixed.workflowId, timerAt };
  const deadlines = suspensions.flatMap(({ suspensionId, path, stepIndex, deadline: dueAt }): DueTimer[] =>
    dueAt === null ? [] : [{ kind: "deadline", ...common, dueAt, suspensionId, path, stepIndex }],
  );
  return timeoutAt === null ? deadlines : [...deadlines, { kind: "timeout", ...common, dueAt: timeoutAt }];
}

async function parked(
  cells: Cells,
  { workflowId, definition, own }: { workflowId: string; definition: string; own: boolean },
): Promise<readonly string[]> {
  const isOf = (of: string) => of === workflowId;
  const fits = (member: Parked) => isUnparked(member, definition, own);
  return idsOf(await find<Parked>(cells, sets.parked, { isOf, fits }));
}

export const executionReads = {
  state: ofRow(stateOf),
  head: ofRow((_, kept) => headOf(kept)),
  listed: ofRow(listedOf),
  events,
  snapshot,
  waiting,
  abandoned,
  claims,
  owners,
  due,
  parked,
};
