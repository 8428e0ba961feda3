// Usage of models as callers read it: a page of totals by day, user, agent, workflow or model, and the sum of all.
import { InvalidOptionError } from "../../errors/index.ts";
import { checkLimit, isNumber, readCursor, writeCursor } from "../../store/cursor.ts";
import { fromNanos } from "../../store/usage.ts";
import {
  addCounts,
  dayOf,
  noCounts,
  timeOfDay,
  type UsageCounts,
  type UsageDimension,
  type UsageStore,
} from "../../store/usage-store.ts";

export const usageGroups = ["day", "user", "agent", "workflow", "model"] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageOptions {
  readonly by: UsageGroup;
  /** The first day, UTC. Default: 30 days with today. */
  readonly from?: Date | undefined;
  /** Before this time, to the end of its day, UTC. Default: now. */
  readonly to?: Date | undefined;
  /** The empty text: of no user. */
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly workflowId?: string | undefined;
  /** Provider and name. */
  readonly model?: string | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Default: 100; at most 500. */
  readonly limit?: number | undefined;
}

/** Sums over calls of models. */
export interface UsageSum extends Omit<UsageCounts, "nanos"> {
  /** In the currency of the host's prices; null when no call has a known price. */
  readonly money: number | null;
}

export interface UsageRow extends UsageSum {
  /** A day such as "2026-11-18", or an id; null for none. */
  readonly key: string | null;
}

export interface UsagePage {
  readonly by: UsageGroup;
  /** The first and the last day. */
  readonly from: string;
  readonly to: string;
  /** Days from the latest on; others by money, then by tokens, the highest first. */
  readonly rows: readonly UsageRow[];
  /** Of all pages. */
  readonly total: UsageSum;
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

const dimensions: Readonly<Record<UsageGroup, UsageDimension>> = {
  day: "day",
  user: "userId",
  agent: "agentId",
  workflow: "workflowId",
  model: "model",
};

const defaultDays = 30;
/** The most days of one read, and the most rows, those of the newest days. */
const maxDays = 3660;
const maxRows = 200_000;

export async function readUsage(
  store: Pick<UsageStore, "totals">,
  { by, from, to, cursor, limit = 100, ...filters }: UsageOptions,
  now: number,
): Promise<UsagePage> {
  checkLimit(limit);
  const end = dayOf((to?.getTime() ?? now + 1) - 1) + 1;
  const begin = from === undefined ? end - defaultDays : dayOf(from.getTime());
  const problem = `expected a span of at most ${maxDays} days`;
  if (!(end - begin <= maxDays)) throw new InvalidOptionError({ option: "from", problem });
  const offset = cursor === undefined ? 0 : placeOf(cursor);
  const span = { from: begin, to: end, rows: maxRows, ...filters };
  const [found, days] = await Promise.all([
    store.totals({ by: dimensions[by], ...span, limit: limit + 1, offset }),
    store.totals({ by: "day", ...span, limit: maxDays, offset: 0 }),
  ]);
  const rows = found.slice(0, limit).map(({ of, ...counts }) => ({ key: keyOf(by, of), ...sumOf(counts) }));
  return {
    by,
    from: textOf(begin),
    to: textOf(end - 1),
    rows,
    total: sumOf(days.reduce<UsageCounts>(addCounts, noCounts)),
    nextCursor: found.length > limit ? writeCursor(offset + limit) : null,
  };
}

function keyOf(by: UsageGroup, of: string): string | null {
  if (by === "day") return textOf(Number(of));
  return of === "" ? null : of;
}

function textOf(day: number): string {
  return new Date(timeOfDay(day)).toISOString().slice(0, 10);
}

function placeOf(cursor: string): number {
  const [offset] = readCursor(cursor, isNumber);
  if (offset >= 0) return offset;
  throw new InvalidOptionError({ option: "cursor", problem: "not a cursor of this server" });
}

function sumOf({ nanos, calls, unpricedCalls, ...tokens }: UsageCounts): UsageSum {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens } = tokens;
  return {
    ...{ calls, inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens },
    money: unpricedCalls < calls ? fromNanos(nanos) : null,
    unpricedCalls,
  };
}
