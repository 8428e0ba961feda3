// Lists open suspensions of all workflows and chats, a page at a time: the oldest first, by deadline or by user, and those that
// contain a text; and counts them.
import { approvalIdOf } from "../../agent/turn/approval-waits.ts";
import { readCursor, writeCursor } from "../../store/cursor.ts";
import type { Store } from "../../store/store.ts";
import type { WaitingSuspension } from "../../store/suspension.ts";
import { callerPageLength, cutPage, textLength } from "../../store/text-length.ts";
import { isoTime } from "../../values/iso-time.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { type ExecutionSuspension, viewSuspension } from "../stream/views.ts";

export type WaitingOrder = "oldest" | "deadline" | "user";

export interface WaitingOptions {
  readonly workflowId?: string | undefined;
  /** Only tool calls in chats with this agent. */
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  /** Only those with this text in their reason, data, ids, user or recipient; upper and lower case are the same. */
  readonly text?: string | undefined;
  /** True: only those that an event ends. False: only those that wait for a person. Default: all. */
  readonly events?: boolean | undefined;
  /** Default: "oldest". The other orders sort the oldest 10 000. */
  readonly order?: WaitingOrder | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface WaitingItem {
  readonly executionId: string;
  /** "" for a tool call of a chat. */
  readonly workflowId: string;
  /** The agent of a chat; null for a workflow. */
  readonly agentId: string | null;
  /** The approval request of a chat: decided with `agents.decide`. Null for a workflow. */
  readonly approvalId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly startAt: string;
  readonly suspension: ExecutionSuspension;
}

export interface WaitingPage {
  readonly items: readonly WaitingItem[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** Open suspensions of one workflow or agent, user and conversation. */
export interface WaitingCount {
  /** "" for chats. */
  readonly workflowId: string;
  /** Null for a workflow. */
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly count: number;
}

export interface WaitingSources {
  readonly store: Pick<Store, "waiting">;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
}

/** The most suspensions that are counted and sorted, the oldest ones. */
const maxCounted = 10_000;
/** The most suspensions that one call searches for a text; the next page continues behind them. */
const maxSearched = 2000;
/** Suspensions of a search that are read at once. */
const searchedAtOnce = 500;

/** The place of a suspension in its order: a time or a user, then the id. */
type Place = readonly [number | string, string];

const keyOf: Readonly<Record<WaitingOrder, (each: WaitingSuspension) => number | string>> = {
  oldest: ({ suspension }) => suspension.suspendedAt,
  deadline: ({ suspension }) => suspension.deadline ?? Number.MAX_SAFE_INTEGER,
  user: ({ userId }) => userId ?? "",
};

export async function listWaiting(
  { store, workflows }: WaitingSources,
  { cursor, limit, text = "", events, order = "oldest", ...filters }: WaitingOptions,
): Promise<WaitingPage> {
  const placeOf = (each: WaitingSuspension): Place => [keyOf[order](each), each.suspension.suspensionId];
  const after = cursor === undefined ? undefined : placeIn(cursor, order);
  const next = order === "oldest" ? oldestFirst(store, filters) : await sorted(store, filters, placeOf);
  const { page, more } =
    text === "" && events === undefined
      ? cutPage(await next(after, limit + 1), limit, callerPageLength)
      : await search(next, { text, events, limit, after, placeOf });
  return {
    items: page.map((each) => ({
      ...each,
      approvalId: each.agentId === null ? null : approvalIdOf(each.suspension.path),
      startAt: isoTime(each.startAt),
      suspension: viewSuspension(workflows.get(each.workflowId), each.suspension),
    })),
    nextCursor: more === undefined ? null : writeCursor(...placeOf(more)),
  };
}

/** Counts by workflow or agent, user and conversation; `complete` is false when there are more than were counted. */
export async function countWaiting(
  { store }: Pick<WaitingSources, "store">,
  { events, ...filters }: Pick<WaitingOptions, "userId" | "events">,
): Promise<{ readonly counts: readonly WaitingCount[]; readonly complete: boolean }> {
  const rows = await store.waiting({ ...filters, brief: true, limit: maxCounted + 1 });
  const counted = rows.slice(0, maxCounted).filter(({ suspension }) => hasEvents(suspension, events));
  const groups = Map.groupBy(counted, ({ workflowId, agentId, userId, conversationId }) =>
    JSON.stringify([workflowId, agentId, userId, conversationId]),
  );
  const counts = [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map(({ workflowId, agentId, userId, conversationId }) => ({
      ...{ workflowId, agentId, userId, conversationId, count: group.length },
    })),
  );
  return { counts, complete: rows.length <= maxCounted };
}

/** Reads up to so many suspensions behind a place. */
type Next = (after: Place | undefined, limit: number) => Promise<readonly WaitingSuspension[]>;
type Filters = Pick<WaitingOptions, "workflowId" | "agentId" | "userId">;

function oldestFirst(store: WaitingSources["store"], filters: Filters): Next {
  return (place, limit) => {
    const after = place && { suspendedAt: Number(place[0]), suspensionId: place[1] };
    return store.waiting({ ...filters, after, limit, length: callerPageLength });
  };
}

async function sorted(
  store: WaitingSources["store"],
  filters: Filters,
  placeOf: (each: WaitingSuspension) => Place,
): Promise<Next> {
  const brief = await store.waiting({ ...filters, brief: true, limit: maxCounted });
  const places = brief.map(placeOf).sort(byPlace);
  return async (after, limit) => {
    const rest = after === undefined ? places : places.filter((place) => byPlace(place, after) > 0);
    return inOrder(
      store,
      rest.slice(0, limit).map(([, id]) => id),
    );
  };
}

/** The suspensions of the ids, in their order; ends when they are long enough. */
async function inOrder(store: WaitingSources["store"], ids: readonly string[]) {
  const rows: WaitingSuspension[] = [];
  const length = callerPageLength;
  let size = ids.length;
  for (let at = 0; at < ids.length && textLength(rows) < length; ) {
    const suspensionIds = ids.slice(at, at + size);
    const found = await store.waiting({ suspensionIds, limit: size, length });
    // A read that is long ends early, with the oldest: then they are read one by one.
    if (size > 1 && textLength(found) >= length) {
      size = 1;
      continue;
    }
    const places = new Map(suspensionIds.map((id, index) => [id, index]));
    const placeOf = ({ suspension }: WaitingSuspension) => places.get(suspension.suspensionId) ?? 0;
    rows.push(...found.toSorted((one, other) => placeOf(one) - placeOf(other)));
    at += size;
  }
  return rows;
}

function byPlace([one, id]: Place, [other, otherId]: Place): number {
  if (one !== other) return one < other ? -1 : 1;
  return id === otherId ? 0 : id < otherId ? -1 : 1;
}

async function search(
  next: Next,
  asked: {
    readonly text: string;
    readonly events: boolean | undefined;
    readonly limit: number;
    readonly after: Place | undefined;
    readonly placeOf: (each: WaitingSuspension) => Place;
  },
) {
  const contains = containing(asked.text);
  const isWanted = (each: WaitingSuspension) => hasEvents(each.suspension, asked.events) && contains(each);
  // One more than are wanted: a row that follows the page.
  const atOnce = asked.text === "" ? Math.min(searchedAtOnce, asked.limit + 1) : searchedAtOnce;
  const page: WaitingSuspension[] = [];
  let last: WaitingSuspension | undefined;
  for (let searched = 0; searched < maxSearched; ) {
    const rows = await next(last === undefined ? asked.after : asked.placeOf(last), atOnce);
    for (const each of rows) {
      last = each;
      if (!isWanted(each)) continue;
      if (page.length === asked.limit) return { page, more: page.at(-1) };
      page.push(each);
    }
    searched += rows.length;
    if (rows.length === 0 || (rows.length < atOnce && textLength(rows) < callerPageLength))
      return { page, more: undefined };
    if (textLength(page) >= callerPageLength) break;
  }
  return { page, more: last };
}

/** `events`: whether an event ends it; false: it waits for a person, whom it names where an event ends it too. */
function hasEvents({ awaits, to }: WaitingSuspension["suspension"], events: boolean | undefined): boolean {
  if (events === undefined) return true;
  return events ? awaits !== undefined : awaits === undefined || to !== undefined;
}

function containing(text: string): (each: WaitingSuspension) => boolean {
  const plain = text.toLowerCase();
  // The data is JSON text, in which some characters are escaped.
  const inJson = JSON.stringify(text).slice(1, -1).toLowerCase();
  return ({ executionId, workflowId, agentId, userId, suspension: { path, reason, data, to } }) =>
    [executionId, workflowId, agentId, userId, path, reason, to].some((word) =>
      word?.toLowerCase().includes(plain),
    ) ||
    (data?.toLowerCase().includes(inJson) ?? false);
}

function placeIn(cursor: string, order: WaitingOrder): Place {
  const isPlace = (place: readonly unknown[]): place is Place =>
    (order === "user" ? typeof place[0] === "string" : Number.isSafeInteger(place[0])) &&
    typeof place[1] === "string";
  return readCursor(cursor, isPlace);
}
