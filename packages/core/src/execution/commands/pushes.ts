// Pushes: the state of a task, posted to the address that its client has named whenever it has changed, until the task is
// over. A row is due again and again: it reads the state, and posts one that was not delivered. So a push needs no write of
// the execution or the turn behind the task, and any process can make it.
import { createHash, randomUUID } from "node:crypto";
import { attemptLease, messageIdOf, nextAttemptAt } from "../../delivery/delivery-record.ts";
import { checkSettings } from "../../delivery/endpoint-options.ts";
import type { WebhookRequest, WebhookResponse } from "../../delivery/post-webhook.ts";
import { DeliveryConflictError, InvalidOptionError } from "../../errors/index.ts";
import { deliveryPrefix, type StoredSchedule } from "../../store/schedule-store.ts";
import { Fields } from "../../values/fields.ts";
import type { Engine } from "../engine/engine.ts";
import type { Processed } from "../engine/scheduler.ts";

/** The task of a workflow or of an agent. */
export interface PushedTask {
  readonly workflowId: string;
  readonly agentId: string | null;
  readonly taskId: string;
}

export interface PushSettings {
  readonly pushId: string;
  readonly url: string;
  /** Headers of its requests, which are never read back. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface PushSource {
  /** Also http, and addresses that are not public. */
  readonly allowPrivate: boolean;
  /** The body that is posted for the state of a task, and whether it is the last; undefined for a task that is gone. */
  describe(task: PushedTask): Promise<{ readonly body: string; readonly isOver: boolean } | undefined>;
}

interface PushRecord extends PushSettings, PushedTask {
  /** The last body that was delivered; empty for none. */
  readonly delivered: string;
  /** Milliseconds since 1970, of the last delivery or of its creation. */
  readonly since: number;
  /** Attempts at the state of now that have begun. */
  readonly attempts: number;
}

type Parts = Pick<Engine, "store" | "clock" | "closing" | "scheduleWakeup">;

/** No endpoint has this name. */
const pushPrefix = `${deliveryPrefix}@push/`;
const maxOfTask = 10;
const maxTries = 10;
/** Milliseconds between two looks at a task: a quarter of the time since its last change, within these. */
const [shortest, longest] = [1_000, 60_000];

export function isPush(deliveryId: string): boolean {
  return deliveryId.startsWith(pushPrefix);
}

/** The host that a push is sent to; no endpoint has such an id. */
export function hostOfPush({ body }: StoredSchedule): string {
  return `@push/${new URL(readPush(body).url).host}`;
}

export class Pushes {
  readonly #engine: () => Parts;
  readonly #ready: () => Promise<void>;
  readonly #post: (webhook: WebhookRequest) => Promise<WebhookResponse>;
  readonly #signal: AbortSignal;
  #source: PushSource | undefined;

  constructor(
    engine: () => Parts,
    ready: () => Promise<void>,
    post: (webhook: WebhookRequest) => Promise<WebhookResponse>,
    signal: AbortSignal,
  ) {
    this.#engine = engine;
    this.#ready = ready;
    this.#post = post;
    this.#signal = signal;
  }

  /** Pushes are made where a source describes tasks. */
  serve(source: PushSource): void {
    this.#source = source;
  }

  /** Refuses an address that is not valid. */
  check({ url }: Pick<PushSettings, "url">): void {
    const refuse = (option: string, problem: string) => new InvalidOptionError({ option, problem });
    checkSettings({ url }, refuse, this.#source?.allowPrivate === true);
  }

  /** Creates or replaces a push of a task, which begins with the state of now. */
  async set(task: PushedTask, settings: PushSettings): Promise<void> {
    this.check(settings);
    await this.#ready();
    const engine = this.#parts;
    const { store, clock } = engine;
    const { pushId } = settings;
    const known = await this.list(task);
    if (known.length >= maxOfTask && !known.some((each) => each.pushId === pushId))
      throw new InvalidOptionError({ option: "id", problem: `the task has ${maxOfTask} pushes already` });
    const now = clock.now();
    const scheduleId = idOf(task, pushId);
    for (let tries = 0; tries < maxTries; tries++) {
      const before = await store.schedules.read(scheduleId);
      const row = rowOf(scheduleId, { ...task, ...settings, delivered: "", since: now, attempts: 0 }, now);
      const change = { scheduleId, expected: before?.version ?? null, row };
      if ((await store.schedules.change(change)) === "written") return engine.scheduleWakeup(now, "limit");
    }
    throw new DeliveryConflictError({ deliveryId: pushId, problem: "changes too often" });
  }

  async list(task: PushedTask): Promise<readonly PushSettings[]> {
    await this.#ready();
    const after = idOf(task, "");
    // "0" is the character behind "/".
    const query = { kind: "delivery", after, before: `${after.slice(0, -1)}0`, limit: maxOfTask } as const;
    const rows = await this.#parts.store.schedules.list(query);
    return rows.map(({ body }) => readPush(body));
  }

  async remove(task: PushedTask, pushId: string): Promise<void> {
    await this.#ready();
    const { schedules } = this.#parts.store;
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await schedules.read(idOf(task, pushId));
      if (stored === undefined || (await this.#change(stored, null))) return;
    }
    throw new DeliveryConflictError({ deliveryId: pushId, problem: "changes too often" });
  }

  /** Whether this process can describe tasks. */
  get isServed(): boolean {
    return this.#source !== undefined;
  }

  /** Looks at the task of a row that is due, and posts a state that was not delivered. */
  async fire(stored: StoredSchedule, now: number): Promise<Processed> {
    const source = this.#source;
    if (source === undefined || this.#parts.closing) return "later";
    const record = readPush(stored.body);
    const state = await source.describe(record);
    if (state === undefined) return this.#done(await this.#change(stored, null));
    if (state.body === record.delivered) {
      if (state.isOver) return this.#done(await this.#change(stored, null));
      const pause = Math.min(longest, Math.max(shortest, Math.round((now - record.since) / 4)));
      return this.#next(stored, record, now + pause);
    }
    const next = { ...record, attempts: record.attempts + 1 };
    // From now on no other process makes this attempt; after a crash one does when the lease has passed.
    const claimed = rowOf(stored.scheduleId, next, now + attemptLease);
    if (!(await this.#change(stored, claimed))) return "refused";
    return this.#attempt(claimed, source, state);
  }

  async #attempt(
    claimed: StoredSchedule,
    { allowPrivate }: PushSource,
    { body, isOver }: { readonly body: string; readonly isOver: boolean },
  ): Promise<Processed> {
    const record = readPush(claimed.body);
    const { url, attempts } = record;
    const signal = this.#signal;
    // A receiver that gets a state twice sees one id.
    const headers = { ...record.headers, "webhook-id": messageIdOf(`${claimed.scheduleId} ${body}`) };
    const { status, retryAfter } = await this.#post({ url, headers, body, allowPrivate, signal });
    const now = this.#parts.clock.now();
    if (status !== null && status >= 200 && status < 300) {
      const next = { ...record, delivered: body, since: now, attempts: 0 };
      return isOver
        ? this.#done(await this.#change(claimed, null))
        : this.#next(claimed, next, now + shortest);
    }
    if (signal.aborted) return this.#next(claimed, { ...record, attempts: attempts - 1 }, now);
    const nextAt = status === 410 ? undefined : nextAttemptAt(attempts, now, retryAfter, Math.random());
    return nextAt === undefined
      ? this.#done(await this.#change(claimed, null))
      : this.#next(claimed, record, nextAt);
  }

  get #parts(): Parts {
    return this.#engine();
  }

  async #next(before: StoredSchedule, record: PushRecord, dueAt: number): Promise<Processed> {
    const isWritten = await this.#change(before, rowOf(before.scheduleId, record, dueAt));
    if (isWritten) this.#parts.scheduleWakeup(dueAt, "limit");
    return this.#done(isWritten);
  }

  /** False when another writer was first. */
  async #change({ scheduleId, version }: StoredSchedule, row: StoredSchedule | null): Promise<boolean> {
    const change = { scheduleId, expected: version, row };
    return (await this.#parts.store.schedules.change(change)) === "written";
  }

  #done(isWritten: boolean): Processed {
    return isWritten ? "done" : "refused";
  }
}

/** Tasks have ids of any length and characters. */
function idOf({ workflowId, agentId, taskId }: PushedTask, pushId: string): string {
  const task = JSON.stringify([workflowId, agentId, taskId]);
  return `${pushPrefix}${createHash("sha256").update(task).digest("base64url")}/${pushId}`;
}

function rowOf(scheduleId: string, record: PushRecord, dueAt: number): StoredSchedule {
  const { workflowId, agentId } = record;
  return {
    ...{ scheduleId, kind: "delivery", workflowId, agentId, userId: null, dueAt },
    ...{ version: randomUUID(), body: JSON.stringify(record), occurrences: "[]" },
  };
}

function readPush(body: string): PushRecord {
  const fields = Fields.parse(body, (problem) => new TypeError(`A push: ${problem}`));
  const headers = fields.value("headers");
  return {
    workflowId: fields.text("workflowId"),
    agentId: fields.optionalText("agentId") ?? null,
    taskId: fields.text("taskId"),
    pushId: fields.text("pushId"),
    url: fields.text("url"),
    headers: Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)])),
    delivered: fields.text("delivered"),
    since: fields.number("since"),
    attempts: fields.number("attempts"),
  };
}
