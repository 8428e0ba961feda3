// Deliveries: the row of one event for one endpoint, its id, and the times of its attempts.
import { createHash, randomUUID } from "node:crypto";
import { deliveryPrefix, type ScheduleRow, type StoredSchedule } from "../store/schedule-store.ts";
import { Fields, isRecord } from "../values/fields.ts";

/**
 * - `scheduled`: a reminder or an escalation whose time has not come.
 * - `pending`: to be sent, or to be sent again.
 * - `delivered`, `failed`: it is kept for a while.
 */
export const deliveryStates = ["scheduled", "pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The body of the row. */
export interface DeliveryRecord {
  readonly endpointId: string;
  /** Null for a test. */
  readonly executionId: string | null;
  readonly type: string;
  readonly state: DeliveryState;
  /** The same in every attempt. */
  readonly messageId: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Attempts that have begun since it was last sent by hand. */
  readonly attempts: number;
  /** Of the last attempt. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  /** The body of the request: JSON text, the same bytes in every attempt. */
  readonly payload: string;
  /** Of a reminder or an escalation: it is sent while this suspension is open. */
  readonly suspensionId: string | null;
  /** Of a reminder: milliseconds until the next one. */
  readonly every: number | null;
}

/** One attempt: status, or the reason without one. */
export interface Attempt {
  readonly at: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly milliseconds: number;
}

const maxAttemptsKept = 20;
/** Milliseconds that one is kept after its last attempt. */
export const keptFor = 7 * 24 * 60 * 60 * 1000;
/** Milliseconds from the begin of an attempt until another process takes the delivery over. */
export const attemptLease = 60_000;

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** Milliseconds after each attempt but the last: the schedule of Standard Webhooks. */
const delays = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
/** The part of a delay that is added at random, so that an endpoint that returns is not met by all at once. */
const jitter = 0.1;
const maxRetryAfter = 24 * hour;
/** Milliseconds until the next attempt, at most. */
export const longestDelay = 27 * hour;

/** When the next attempt is made after so many have failed; undefined after the last. `random`: 0 to 1. */
export function nextAttemptAt(
  attempts: number,
  now: number,
  retryAfter: string | undefined,
  random: number,
): number | undefined {
  const delay = delays[attempts - 1];
  if (delay === undefined) return undefined;
  const wanted = Math.min(maxRetryAfter, millisecondsOf(retryAfter, now));
  return now + Math.max(Math.round(delay * (1 + jitter * random)), wanted);
}

/** Of a `Retry-After`: seconds or a date; 0 for anything else. */
function millisecondsOf(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * second;
  const date = Date.parse(retryAfter);
  return Number.isFinite(date) ? Math.max(0, date - now) : 0;
}

/** The executions of an endpoint, the newest first, and the events of an execution in their order. */
export function deliveryIdOf(
  { endpointId, startAt, executionId }: { endpointId: string; startAt: number; executionId: string },
  at: number,
  name: string,
): string {
  const newestFirst = String(1e15 - startAt).padStart(16, "0");
  return `${deliveriesOf(endpointId)}${newestFirst}/${executionId}/${padded(at)}-${name}`;
}

export function deliveriesOf(endpointId: string): string {
  return `${deliveryPrefix}${endpointId}/`;
}

/** The endpoint of a delivery with this id. */
export function endpointOf(deliveryId: string): string {
  return deliveryId.slice(deliveryPrefix.length, deliveryId.indexOf("/", deliveryPrefix.length));
}

/** The beginning of the ids of the events of the same execution for the same endpoint. */
export function siblingsOf(deliveryId: string): string {
  return deliveryId.slice(0, deliveryId.lastIndexOf("/") + 1);
}

function padded(at: number): string {
  return String(Math.max(0, at)).padStart(15, "0");
}

export function messageIdOf(deliveryId: string): string {
  return `msg_${createHash("sha256").update(deliveryId).digest("base64url").slice(0, 27)}`;
}

export function deliveryRow(
  scheduleId: string,
  { workflowId, userId, dueAt }: Pick<ScheduleRow, "workflowId" | "userId" | "dueAt">,
  record: DeliveryRecord,
  occurrences: string,
): StoredSchedule {
  const body = JSON.stringify(record);
  return {
    scheduleId,
    kind: "delivery",
    workflowId,
    agentId: null,
    userId,
    dueAt,
    version: randomUUID(),
    body,
    occurrences,
  };
}

const damaged = (problem: string) => new TypeError(`A delivery: ${problem}`);

export function readDelivery(body: string): DeliveryRecord {
  const fields = Fields.parse(body, damaged);
  return {
    endpointId: fields.text("endpointId"),
    executionId: fields.optionalText("executionId") ?? null,
    type: fields.text("type"),
    state: deliveryStates.find((state) => state === fields.text("state")) ?? "failed",
    messageId: fields.text("messageId"),
    createdAt: fields.number("createdAt"),
    attempts: fields.number("attempts"),
    lastStatus: fields.optionalNumber("lastStatus") ?? null,
    lastError: fields.optionalText("lastError") ?? null,
    payload: fields.text("payload"),
    suspensionId: fields.optionalText("suspensionId") ?? null,
    every: fields.optionalNumber("every") ?? null,
  };
}

export function readAttempts(occurrences: string): readonly Attempt[] {
  const list: unknown = JSON.parse(occurrences);
  return (Array.isArray(list) ? list : []).filter(isRecord).map((each) => {
    const fields = new Fields(each, damaged);
    return {
      at: fields.number("at"),
      status: fields.optionalNumber("status") ?? null,
      error: fields.optionalText("error") ?? null,
      milliseconds: fields.number("milliseconds"),
    };
  });
}

export function withAttempt(occurrences: string, attempt: Attempt): string {
  return JSON.stringify([...readAttempts(occurrences), attempt].slice(-maxAttemptsKept));
}
