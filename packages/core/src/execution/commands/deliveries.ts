// Deliveries: each attempt at one is claimed by a conditional write, made, and recorded by another.
import { randomUUID } from "node:crypto";
import { DeliveryPlaces } from "../../delivery/delivery-places.ts";
import {
  type Attempt,
  attemptLease,
  type DeliveryRecord,
  type DeliveryState,
  deliveriesOf,
  deliveryRow,
  endpointOf,
  keptFor,
  longestDelay,
  messageIdOf,
  nextAttemptAt,
  readAttempts,
  readDelivery,
  siblingsOf,
  withAttempt,
} from "../../delivery/delivery-record.ts";
import { payloadOf } from "../../delivery/outbox.ts";
import { postWebhook, type WebhookRequest, type WebhookResponse } from "../../delivery/post-webhook.ts";
import { webhookHeaders } from "../../delivery/webhook-signature.ts";
import { DeliveryConflictError, DeliveryNotFoundError, InvalidOptionError } from "../../errors/index.ts";
import { deliveryPrefix, type ScheduleRow, type StoredSchedule } from "../../store/schedule-store.ts";
import { callerPageLength } from "../../store/text-length.ts";
import { isoTime } from "../../values/iso-time.ts";
import type { Engine, FiredDeliveries } from "../engine/engine.ts";
import type { Processed } from "../engine/scheduler.ts";
import type { Endpoints, Target } from "./endpoints.ts";
import { hostOfPush, isPush, Pushes } from "./pushes.ts";

/** A delivery as lists show it. */
export interface Delivery {
  readonly deliveryId: string;
  /** The `webhook-id` of each attempt. */
  readonly messageId: string;
  readonly endpointId: string;
  readonly executionId: string | null;
  readonly workflowId: string;
  readonly type: string;
  readonly state: DeliveryState;
  readonly createdAt: string;
  /** When the next attempt is made; null for none. */
  readonly nextAt: string | null;
  readonly attempts: number;
  /** Of the last attempt. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

export interface DeliveryDetail extends Delivery {
  /** The body of the request. */
  readonly payload: string;
  /** The last 20 attempts. */
  readonly history: readonly (Omit<Attempt, "at"> & { readonly at: string })[];
}

export interface ListDeliveriesOptions {
  readonly endpointId?: string | undefined;
  readonly state?: DeliveryState | undefined;
  /** The `nextCursor` of the page before. Default: from the newest execution on. */
  readonly cursor?: string | undefined;
  /** At most 100. Default: 50. */
  readonly limit?: number | undefined;
}

type Parts = Pick<Engine, "store" | "clock" | "logger" | "workflows" | "scheduleWakeup" | "closing">;

type Claimed = StoredSchedule & { readonly record: DeliveryRecord };

const maxPage = 100;
/** Milliseconds until one that waits for an earlier one is looked at again. */
const shortPause = 5_000;
/** Rows that are read at most for one page of a list with a state. */
const maxRead = 2_000;

export class Deliveries implements FiredDeliveries {
  /** Those of the states of tasks. */
  readonly pushes: Pushes;
  readonly #engine: () => Parts;
  readonly #endpoints: Endpoints;
  readonly #ready: () => Promise<void>;
  readonly #post: (webhook: WebhookRequest) => Promise<WebhookResponse>;
  readonly #stopping = new AbortController();
  readonly #places: DeliveryPlaces;
  /** When this process looked at its first delivery. */
  #since: number | undefined;

  /** `post`: for tests. */
  constructor(engine: () => Parts, endpoints: Endpoints, ready: () => Promise<void>, post = postWebhook) {
    this.#engine = engine;
    this.#endpoints = endpoints;
    this.#ready = ready;
    this.#post = post;
    const { signal } = this.#stopping;
    this.#places = new DeliveryPlaces({ now: () => engine().clock.now() }, signal);
    this.pushes = new Pushes(engine, ready, post, signal);
  }

  /** When a delivery of now is sent at the earliest. */
  dueAt(endpointId: string): number {
    return this.#places.dueAt(endpointId);
  }

  /** Cuts the requests under way: they are made again by another process, or after a restart. */
  stop(): void {
    this.#stopping.abort();
  }

  async list({ endpointId, state, cursor, limit = 50 }: ListDeliveriesOptions = {}): Promise<{
    readonly deliveries: readonly Delivery[];
    readonly nextCursor: string | null;
  }> {
    await this.#ready();
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > maxPage)
      throw new InvalidOptionError({
        option: "limit",
        problem: `expected a whole number from 1 to ${maxPage}`,
      });
    const first = endpointId === undefined ? deliveryPrefix : deliveriesOf(endpointId);
    const found: Delivery[] = [];
    let after = cursor !== undefined && cursor > first ? cursor : first;
    for (let read = 0; ; ) {
      const query = { kind: "delivery", after, before: endOf(first), limit: maxPage } as const;
      const rows = await this.#engine().store.schedules.list({ ...query, length: callerPageLength });
      for (const row of rows) {
        read++;
        after = row.scheduleId;
        if (isPush(row.scheduleId)) continue;
        const view = viewOf(row, readDelivery(row.body));
        if (state !== undefined && view.state !== state) continue;
        found.push(view);
        if (found.length === limit) return { deliveries: found, nextCursor: after };
      }
      if (rows.length === 0) return { deliveries: found, nextCursor: null };
      if (read >= maxRead) return { deliveries: found, nextCursor: after };
    }
  }

  async get(deliveryId: string): Promise<DeliveryDetail> {
    const stored = await this.#stored(deliveryId);
    const record = readDelivery(stored.body);
    const history = readAttempts(stored.occurrences).map((each) => ({ ...each, at: isoTime(each.at) }));
    return { ...viewOf(stored, record), payload: record.payload, history };
  }

  /** Sends one again, now, with the same id. */
  async redeliver(deliveryId: string): Promise<Delivery> {
    const stored = await this.#stored(deliveryId);
    const before = readDelivery(stored.body);
    if (before.state === "scheduled" || before.state === "pending")
      throw new DeliveryConflictError({ deliveryId, problem: `is ${before.state}` });
    const record = { ...before, state: "pending" as const, attempts: 0 };
    const now = this.#engine().clock.now();
    const row = deliveryRow(deliveryId, { ...stored, dueAt: now }, record, stored.occurrences);
    if (!(await this.#change(stored, row)))
      throw new DeliveryConflictError({ deliveryId, problem: "is changed at this moment" });
    return viewOf(row, record);
  }

  /** Sends an event of the type `endpoint.test`. */
  async test(endpointId: string): Promise<{ readonly deliveryId: string }> {
    await this.#endpoints.get(endpointId);
    const { clock, workflows } = this.#engine();
    const [workflowId] = workflows.keys();
    if (workflowId === undefined)
      throw new InvalidOptionError({ option: "workflows", problem: "none is registered" });
    const now = clock.now();
    const deliveryId = `${deliveriesOf(endpointId)}${String(1e15 - now).padStart(16, "0")}/test-${randomUUID()}/test`;
    const record: DeliveryRecord = {
      ...{
        endpointId,
        executionId: null,
        type: "endpoint.test",
        state: "pending",
        attempts: 0,
        createdAt: now,
      },
      messageId: messageIdOf(deliveryId),
      payload: payloadOf("endpoint.test", now, { endpointId }),
      ...{ suspensionId: null, every: null, lastStatus: null, lastError: null },
    };
    const row = deliveryRow(deliveryId, { workflowId, userId: null, dueAt: now }, record, "[]");
    await this.#change(undefined, row);
    return { deliveryId };
  }

  async deliver(deliveryId: string): Promise<Processed> {
    const place = await this.#places.take(await this.#receiverOf(deliveryId));
    if (place.kind === "stopped") return "later";
    const engine = this.#engine();
    const now = engine.clock.now();
    try {
      const stored = await engine.store.schedules.read(deliveryId);
      if (stored?.kind !== "delivery" || stored.dueAt === null || stored.dueAt > now) return "refused";
      if (place.kind === "full") return await this.#putOff(stored, place.tryAt);
      if (!isPush(deliveryId)) return await this.#send(stored, now);
      if (this.pushes.isServed) return await this.pushes.fire(stored, now);
      return this.#isKnownElsewhere(stored, now) ? "later" : await this.#putOff(stored, now + attemptLease);
    } finally {
      if (place.kind === "taken") place.free();
    }
  }

  /** Those whose requests share places: pushes by their host, so that one that hangs does not delay the others. */
  async #receiverOf(deliveryId: string): Promise<string> {
    const stored = isPush(deliveryId) ? await this.#engine().store.schedules.read(deliveryId) : undefined;
    return stored === undefined ? endpointOf(deliveryId) : hostOfPush(stored);
  }

  async #send(stored: StoredSchedule, now: number): Promise<Processed> {
    const engine = this.#engine();
    const record = readDelivery(stored.body);
    if (record.state === "delivered" || record.state === "failed") return this.#remove(stored);
    if (engine.closing || this.#stopping.signal.aborted) return "later";
    if (await this.#isOver(stored, record)) return this.#drop(stored, record);
    const target = await this.#endpoints.target(record.endpointId);
    if (target !== undefined && target.state !== "active")
      return this.#fail(stored, record, "the endpoint is disabled");
    const earlierDueAt = await this.#earlier(stored, now);
    if (earlierDueAt !== undefined) {
      // A row that is due all the time would keep others out of the query for due ones. It follows the earlier one at once, but
      // for one that has just been sent, or whose process has died.
      const isFar = earlierDueAt > now + attemptLease;
      return this.#putOff(stored, isFar ? earlierDueAt : now + shortPause);
    }
    if (target === undefined)
      return this.#isKnownElsewhere(stored, now)
        ? "later"
        : this.#fail(stored, record, "the endpoint is removed");
    if (record.state === "scheduled") await this.#scheduleNext(stored, record, now);
    const claimed = await this.#claim(stored, record, now);
    if (claimed === undefined) return "refused";
    // Later events wait for it from now on: one of a step that was resumed before is not sent behind them.
    if (await this.#isOver(stored, record)) return this.#drop(claimed, record);
    await this.#attempt(claimed, target);
    await this.#sendNext(claimed);
    return "done";
  }

  /** An event of the same execution that has waited for this one. */
  async #sendNext({ scheduleId, record }: Claimed): Promise<void> {
    // Behind the end there is none.
    if (record.type === "execution.ended") return;
    const { store, clock } = this.#engine();
    const before = endOf(siblingsOf(scheduleId));
    const query = { kind: "delivery", after: scheduleId, before, limit: 1, brief: true } as const;
    const [next] = await store.schedules.list(query);
    // Decided by the row whose version is claimed: another process may send it at this moment.
    const stored = next && (await store.schedules.read(next.scheduleId));
    if (stored === undefined) return;
    const { state, attempts, createdAt } = readDelivery(stored.body);
    const now = clock.now();
    const isNext = state === "scheduled" || (state === "pending" && attempts === 0);
    if (isNext && createdAt <= now) await this.#send(stored, now);
  }

  /** The code of another process may serve it, as while a new one is deployed: that process takes the delivery at once. */
  #isKnownElsewhere({ dueAt }: StoredSchedule, now: number): boolean {
    this.#since ??= now;
    const isShared = this.#engine().store.clusterChannel !== undefined;
    return isShared && now - Math.max(dueAt ?? now, this.#since) < attemptLease;
  }

  /** Looked at again then. */
  async #putOff(stored: StoredSchedule, dueAt: number): Promise<Processed> {
    return (await this.#change(stored, { ...stored, dueAt, version: randomUUID() })) ? "done" : "refused";
  }

  /** From now on no other process makes this attempt; after a crash one does when the lease has passed. */
  async #claim(stored: StoredSchedule, before: DeliveryRecord, now: number): Promise<Claimed | undefined> {
    const record = { ...before, state: "pending" as const, attempts: before.attempts + 1 };
    const row = deliveryRow(
      stored.scheduleId,
      { ...stored, dueAt: now + attemptLease },
      record,
      stored.occurrences,
    );
    return (await this.#change(stored, row)) ? { ...row, record } : undefined;
  }

  async #attempt(claimed: Claimed, target: Target): Promise<void> {
    const { clock } = this.#engine();
    const { record } = claimed;
    const { payload: body, messageId: id } = record;
    const at = clock.now();
    const start = performance.now();
    const timestamp = Math.floor(at / 1000);
    const headers = {
      ...webhookHeaders({ id, timestamp, body }, target.secrets),
      ...{ "content-type": "application/json", "user-agent": "andante" },
    };
    const { url, allowPrivate } = target;
    const { signal } = this.#stopping;
    const { status, error, retryAfter } = await this.#post({ url, headers, body, allowPrivate, signal });
    const now = clock.now();
    if (signal.aborted && status === null) {
      const again = { ...record, attempts: record.attempts - 1 };
      await this.#change(
        claimed,
        deliveryRow(claimed.scheduleId, { ...claimed, dueAt: now }, again, claimed.occurrences),
      );
      return;
    }
    const milliseconds = Math.round(performance.now() - start);
    const history = withAttempt(claimed.occurrences, { at, status, error, milliseconds });
    const isDelivered = status !== null && status >= 200 && status < 300;
    const nextAt =
      isDelivered || status === 410
        ? undefined
        : nextAttemptAt(record.attempts, now, retryAfter, Math.random());
    const state = isDelivered ? "delivered" : nextAt === undefined ? "failed" : "pending";
    const dueAt = nextAt ?? now + keptFor;
    await this.#change(
      claimed,
      deliveryRow(
        claimed.scheduleId,
        { ...claimed, dueAt },
        { ...record, state, lastStatus: status, lastError: error },
        history,
      ),
    );
    await this.#endpoints.attempted(
      record.endpointId,
      isDelivered ? "ok" : status === 410 ? "gone" : "failed",
    );
  }

  /** When an earlier event of the same execution is to be sent to the same endpoint; undefined where all are sent. */
  async #earlier({ scheduleId }: StoredSchedule, now: number): Promise<number | undefined> {
    const siblings = siblingsOf(scheduleId);
    for (let after = siblings; ; ) {
      const query = { kind: "delivery", after, before: scheduleId, limit: maxPage, brief: true } as const;
      const rows = await this.#engine().store.schedules.list(query);
      for (const { scheduleId: id, dueAt } of rows) {
        // One that was sent is due for its deletion in a week.
        if (dueAt === null || dueAt > now + longestDelay) continue;
        const found = await this.#engine().store.schedules.read(id);
        if (found === undefined) continue;
        const record = readDelivery(found.body);
        if (record.state !== "pending") continue;
        const next = found.dueAt ?? 0;
        if (next <= now + attemptLease || !(await this.#isOver(found, record))) return next;
      }
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      after = last.scheduleId;
    }
  }

  /** Whether it is a reminder or an escalation of a step that waits no longer. One that is sent again by hand is sent. */
  async #isOver({ occurrences }: StoredSchedule, record: DeliveryRecord): Promise<boolean> {
    const { executionId, suspensionId, state, attempts } = record;
    const isByHand = state === "pending" && attempts === 0 && readAttempts(occurrences).length > 0;
    if (suspensionId === null || isByHand) return false;
    const stored = executionId === null ? undefined : await this.#engine().store.state(executionId);
    return stored?.suspensions.some((open) => open.suspensionId === suspensionId) !== true;
  }

  #drop(stored: StoredSchedule, record: DeliveryRecord): Promise<Processed> {
    if (record.state === "scheduled") return this.#remove(stored);
    return this.#fail(stored, record, "its step waits no longer");
  }

  /** The reminder after this one. */
  async #scheduleNext(stored: StoredSchedule, record: DeliveryRecord, now: number): Promise<void> {
    if (record.every === null) return;
    const missed = Math.floor((now - record.createdAt) / record.every);
    const at = record.createdAt + (missed + 1) * record.every;
    const siblings = siblingsOf(stored.scheduleId);
    const name = stored.scheduleId.slice(siblings.length).replace(/^\d+/, "");
    const deliveryId = `${siblings}${String(at).padStart(15, "0")}${name}`;
    const next = { ...record, messageId: messageIdOf(deliveryId), createdAt: at };
    await this.#change(undefined, deliveryRow(deliveryId, { ...stored, dueAt: at }, next, "[]"));
  }

  async #fail(stored: StoredSchedule, record: DeliveryRecord, error: string): Promise<Processed> {
    const now = this.#engine().clock.now();
    const history = withAttempt(stored.occurrences, { at: now, status: null, error, milliseconds: 0 });
    const failed = { ...record, state: "failed" as const, lastStatus: null, lastError: error };
    const row = deliveryRow(stored.scheduleId, { ...stored, dueAt: now + keptFor }, failed, history);
    return (await this.#change(stored, row)) ? "done" : "refused";
  }

  async #remove({ scheduleId, version }: StoredSchedule): Promise<Processed> {
    const change = { scheduleId, expected: version, row: null };
    return (await this.#engine().store.schedules.change(change)) === "written" ? "done" : "refused";
  }

  /** False when another writer was first. */
  async #change(before: ScheduleRow | undefined, row: StoredSchedule): Promise<boolean> {
    const engine = this.#engine();
    const change = { scheduleId: row.scheduleId, expected: before?.version ?? null, row };
    if ((await engine.store.schedules.change(change)) !== "written") return false;
    if (row.dueAt !== null) engine.scheduleWakeup(row.dueAt, "limit");
    return true;
  }

  async #stored(deliveryId: string): Promise<StoredSchedule> {
    await this.#ready();
    const found = await this.#engine().store.schedules.read(deliveryId);
    if (found?.kind !== "delivery" || isPush(deliveryId)) throw new DeliveryNotFoundError({ deliveryId });
    return found;
  }
}

/** The first text behind all that begin with this one. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

function viewOf({ scheduleId, workflowId, dueAt }: ScheduleRow, record: DeliveryRecord): Delivery {
  const { messageId, endpointId, executionId, type, state, createdAt, attempts } = record;
  const { lastStatus, lastError } = record;
  const isOpen = state === "pending" || state === "scheduled";
  return {
    ...{ deliveryId: scheduleId, messageId, endpointId, executionId, workflowId, type, state, attempts },
    ...{ lastStatus, lastError },
    createdAt: isoTime(createdAt),
    nextAt: isOpen && dueAt !== null ? isoTime(dueAt) : null,
  };
}
