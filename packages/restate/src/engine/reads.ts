// The reads of executions, and the searches for work and for times through the sets of a shard.
import type {
  ClaimAbandoned,
  ClaimsQuery,
  DueQuery,
  DueTimer,
  EventsQuery,
  ExecutionHead,
  ListedExecution,
  OwnedClaim,
  Snapshot,
  StoredEvent,
  StoredExecution,
  WaitingSuspension,
} from "@andante/core/store";
import { isAbandoned } from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { earliest, hasWork, isAlive, isUnparked, rowOf } from "./executions.ts";
import { readEvents } from "./journal.ts";
import { allSets, type Kept, keys, type Parked, type SetOf, type Timed, type Working } from "./layout.ts";
import { headOf, listedOf, stateOf } from "./read-row.ts";

async function state(cells: Cells, executionId: string): Promise<StoredExecution | undefined> {
  const kept = await rowOf(cells, executionId);
  return kept && stateOf(cells, kept);
}

const idOf = ({ executionId }: { readonly executionId: string }) => executionId;

async function rowsOf(cells: Cells, executionIds: readonly string[]): Promise<Kept[]> {
  await cells.load(executionIds.map(keys.row));
  return executionIds.flatMap((id) => cells.get<Kept>(keys.row(id)) ?? []);
}

/** The heads of those that are here, and the shards of those that are elsewhere. */
async function heads(
  cells: Cells,
  executionIds: readonly string[],
): Promise<{ readonly heads: ExecutionHead[]; readonly moved: readonly (readonly [string, number])[] }> {
  const rows = await rowsOf(cells, executionIds);
  const missing = executionIds.filter((id) => !rows.some(({ record }) => record.executionId === id));
  await cells.load(missing.map(keys.moved));
  const moved = missing.flatMap((id) => {
    const shard = cells.get<number>(keys.moved(id));
    return shard === undefined ? [] : [[id, shard] as const];
  });
  return { heads: rows.map(headOf), moved };
}

async function events(cells: Cells, query: EventsQuery): Promise<readonly StoredEvent[]> {
  const kept = await rowOf(cells, query.executionId);
  return kept === undefined ? [] : readEvents(cells, kept, query);
}

async function snapshot(cells: Cells, executionId: string): Promise<Snapshot | undefined> {
  await cells.load([keys.snapshot(executionId)]);
  const found = cells.get<Snapshot>(keys.snapshot(executionId));
  if (found === undefined) await rowOf(cells, executionId);
  return found;
}

async function listed(cells: Cells, executionIds: readonly string[]): Promise<readonly ListedExecution[]> {
  const rows: ListedExecution[] = [];
  for (const kept of await rowsOf(cells, executionIds)) rows.push(await listedOf(cells, kept));
  return rows;
}

/** Open suspensions, in the order asked for; those that are closed meanwhile are absent. */
async function waiting(
  cells: Cells,
  wanted: readonly { readonly executionId: string; readonly suspensionId: string }[],
): Promise<readonly WaitingSuspension[]> {
  const rows = await rowsOf(cells, [...new Set(wanted.map(idOf))]);
  const byId = new Map(rows.map((kept) => [kept.record.executionId, kept]));
  return wanted.flatMap(({ executionId, suspensionId }) => {
    const kept = byId.get(executionId);
    const suspension = kept?.suspensions.find((each) => each.suspensionId === suspensionId);
    if (kept === undefined || suspension === undefined) return [];
    const { workflowId, agentId, userId, conversationId, startAt } = kept.fixed;
    return [{ executionId, workflowId, agentId, userId, conversationId, startAt, suspension }];
  });
}

async function membersOf<Member>(cells: Cells, kind: "c" | "t" | "k"): Promise<[string, Member][]> {
  await cells.load(allSets(kind));
  return allSets(kind).flatMap((key) => Object.entries(cells.get<SetOf<Member>>(key) ?? {}));
}

/** An execution that may be claimed, with all that the order of claims depends on. */
export interface Candidate extends OwnedClaim {
  readonly recoveries: number;
  /** The caller has claimed it already, by the same call. */
  readonly isOwn: boolean;
}

/** The first executions of this shard that the query may claim. */
async function abandoned(cells: Cells, query: ClaimAbandoned): Promise<readonly Candidate[]> {
  const { owner, key, workflowIds, agentIds = [], suspects, suspectAfter, limit, except, only } = query;
  await cells.load([keys.leases, ...allSets("c")]);
  const members = await membersOf<Working>(cells, "c");
  const of = new Set([...workflowIds.map((id) => `w${id}`), ...agentIds.map((id) => `a${id}`)]);
  const candidates = members.flatMap(([executionId, [startAt, from, recoveries, claimed, token]]) => {
    const isOwn = claimed === owner && (token?.startsWith(key) ?? false);
    const isWanted =
      only === undefined ? of.has(from) && !except?.includes(executionId) : executionId === only;
    const isFree = token === null || !isAlive(cells, claimed);
    if (!isOwn && !(isWanted && isFree && recoveries >= suspectAfter === suspects)) return [];
    return [{ executionId, startAt, token: token ?? "", recoveries, isOwn }];
  });
  const own = candidates.filter(({ isOwn }) => isOwn);
  const first = (own.length > 0 ? own : candidates)
    .sort(byOrder(suspects))
    .slice(0, own.length > 0 || only !== undefined ? undefined : limit + 100);
  // A member only counts with its row.
  const rows = await rowsOf(cells, first.map(idOf));
  const fits = new Set(
    rows.flatMap(({ record }) => {
      const isFree = isAbandoned(record, isAlive(cells, record.owner));
      const isOwn = hasWork(record) && record.owner === owner && record.token?.startsWith(key);
      return isFree || isOwn ? [record.executionId] : [];
    }),
  );
  return first
    .filter(({ executionId }) => fits.has(executionId))
    .slice(0, own.length > 0 ? undefined : limit);
}

/** Oldest first; of suspects those with the fewest recoveries first. */
export function byOrder(suspects: boolean) {
  return (a: Candidate, b: Candidate): number =>
    (suspects ? a.recoveries - b.recoveries : 0) ||
    a.startAt - b.startAt ||
    (a.executionId < b.executionId ? -1 : 1);
}

async function claims(cells: Cells, { owner, after, limit }: ClaimsQuery): Promise<readonly OwnedClaim[]> {
  const members = await membersOf<Working>(cells, "c");
  const found = members
    .flatMap(([executionId, [startAt, , , claimed]]) => (claimed === owner ? [{ executionId, startAt }] : []))
    .filter((each) => after === undefined || byStart(each, after) > 0)
    .sort(byStart);
  const rows = await rowsOf(cells, found.slice(0, limit).map(idOf));
  return rows.flatMap(({ record: { executionId, token, ...record }, fixed }) =>
    token !== null && record.owner === owner && record.endAt === null
      ? [{ executionId, startAt: fixed.startAt, token }]
      : [],
  );
}

export function byStart(a: Omit<OwnedClaim, "token">, b: Omit<OwnedClaim, "token">): number {
  if (a.startAt !== b.startAt) return a.startAt - b.startAt;
  return a.executionId === b.executionId ? 0 : a.executionId < b.executionId ? -1 : 1;
}

async function due(cells: Cells, { workflowIds, limit }: DueQuery): Promise<readonly DueTimer[]> {
  await cells.load([keys.leases, ...allSets("t")]);
  const wanted = new Set(workflowIds);
  const members = (await membersOf<Timed>(cells, "t")).filter(([, [workflowId]]) => wanted.has(workflowId));
  const firstBy = (timeOf: (member: Timed) => number | null) =>
    members
      .flatMap(([id, member]) => {
        const time = timeOf(member);
        return time === null ? [] : [{ id, time }];
      })
      .sort((a, b) => a.time - b.time)
      .slice(0, limit)
      .map(({ id }) => id);
  const ids = [...new Set([...firstBy(([, time]) => time), ...firstBy(([, , time]) => time)])];
  const rows = (await rowsOf(cells, ids)).filter(({ record }) => !record.paused && record.endAt === null);
  return [rows.flatMap((kept) => limitsOf(cells, kept)), rows.flatMap(timersOf)].flatMap((each) =>
    each.sort(byTime).slice(0, limit),
  );
}

export function byTime(a: DueTimer, b: DueTimer): number {
  return a.dueAt - b.dueAt;
}

function timersOf({ record, fixed, timers }: Kept): DueTimer[] {
  if (!record.idle) return [];
  const { executionId } = record;
  const { workflowId, userId } = fixed;
  return timers.map(({ dueAt }) => ({ kind: "timer", executionId, workflowId, dueAt, userId }));
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
  const members = await membersOf<Parked>(cells, "k");
  return members.flatMap(([id, member]) =>
    member[0] === workflowId && isUnparked(member, definition, own) ? [id] : [],
  );
}

export const executionReads = {
  state,
  heads,
  events,
  snapshot,
  listed,
  waiting,
  abandoned,
  claims,
  due,
  parked,
};
