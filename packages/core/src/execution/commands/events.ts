// Events from outside: sends them, and has them start, wake and cancel executions.
//
// A signal and the list of its effects are one write. The rest is work that is due until it is done: each part is a
// conditional write that finds itself done when it is repeated, by this process or another.
import { createHash, randomUUID } from "node:crypto";
import {
  AndanteError,
  EventDataError,
  EventIdConflictError,
  EventNotFoundError,
  ExecutionConflictError,
  InvalidOptionError,
  ShuttingDownError,
  UnserializableError,
} from "../../errors/index.ts";
import { readAwaits, resumeDataOf } from "../../event/awaits.ts";
import { eventIn, linkToEvents } from "../../event/cause.ts";
import type { AnyEvent, EventToSend, SendOptions } from "../../event/define-event.ts";
import { targetOf } from "../../event/match-key.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { WorkflowResumedEvent } from "../../journal/events.ts";
import { noteWork, readEffects } from "../../store/decide/index.ts";
import type {
  DoneWork,
  NewSignal,
  NoteWork,
  SentSignal,
  SignalEffect,
  SignalRow,
  SignalsQuery,
  SignalWait,
  SignalWork,
} from "../../store/signal-store.ts";
import type { StoredExecution, Suspension } from "../../store/store.ts";
import { callerPageLength, cutPage } from "../../store/text-length.ts";
import { checkId, problemOfId } from "../../values/check-id.ts";
import { fromJson, toJson } from "../../values/json.ts";
import { validate } from "../../values/schema.ts";
import { uuid } from "../../values/uuid.ts";
import { requestTries } from "../../values/within-limit.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Engine } from "../engine/engine.ts";
import type { Processed } from "../engine/scheduler.ts";
import { type WriteResumeParts, writeResume } from "../engine/write-resume.ts";
import { checkSize } from "../limits/limits.ts";
import { cancelExecution } from "./cancel.ts";
import { type EventReceipt, type EventView, receiptOf, type SkippedStart, viewEvent } from "./event-views.ts";
import { prepareStart, type StartParts } from "./start.ts";

/** The parts of the engine that events use. */
export type EventParts = StartParts &
  WriteResumeParts &
  Pick<
    Engine,
    | "workflows"
    | "kinds"
    | "logger"
    | "closing"
    | "cluster"
    | "folds"
    | "waiters"
    | "lookForEnds"
    | "scheduleWakeup"
    | "outbox"
  >;

export interface ListEventsOptions {
  readonly name?: string | undefined;
  readonly key?: string | undefined;
  readonly id?: string | undefined;
  /** Only those of this user, or shared ones for "". Default: all. */
  readonly scope?: string | undefined;
  /** Only those that have started, woken and cancelled nothing. Default: all. */
  readonly unmatched?: boolean | undefined;
  /** The `nextCursor` of the page before. Default: from the newest on. */
  readonly cursor?: string | undefined;
  /** At most 200. Default: 100. */
  readonly limit?: number | undefined;
}

/** Events that are sent at once. */
export const maxSent = 1000;
const maxPage = 200;
/** Waits that are read at once, and those that are ended at once: other senders share the connections of the store. */
const [waitsAtOnce, endedAtOnce] = [200, 50];
/** Milliseconds after which another process does the work that a sender has left. */
const ownTime = 1000;
/** Milliseconds between two reads of the workflows of other processes, and of a receipt that is not complete. */
const [triggerTime, answerTime] = [1000, 25];
/** Reads of an answer that another sender works on. */
const answerTries = 40;
/** Milliseconds after which an answer is as complete as it will be soon. */
const recentTime = 5000;

export class Events {
  readonly #engine: () => EventParts;
  readonly #events: ReadonlyMap<string, AnyEvent>;
  readonly #ready: () => Promise<void>;
  /** The workflows that events start, by the names of the events: as other processes declare them. */
  #triggers: ReadonlyMap<string, readonly string[]> = new Map();
  #triggersReadAt = Number.NEGATIVE_INFINITY;
  /** Waits that look for earlier events: the one that is just being sent may be among them. */
  readonly #looking = new Set<Promise<Processed>>();

  constructor(engine: () => EventParts, events: ReadonlyMap<string, AnyEvent>, ready: () => Promise<void>) {
    this.#engine = engine;
    this.#events = events;
    this.#ready = ready;
  }

  /** The registered events, by name. */
  get definitions(): ReadonlyMap<string, AnyEvent> {
    return this.#events;
  }

  /** Declares which workflows events start here, where other processes may send them. */
  async start(): Promise<void> {
    const { cluster, workflows } = this.#engine();
    if (cluster === undefined || this.#events.size === 0) return;
    for (const workflow of workflows.values()) if (workflow.on !== undefined) await this.#declare(workflow);
  }

  /** Sends an event; resolves when it is kept, with its effects in this process. */
  async send(event: AnyEvent | string, data: unknown, options: SendOptions = {}): Promise<EventReceipt> {
    const [receipt] = await this.sendAll([{ ...options, event, data }]);
    if (receipt === undefined) throw new TypeError("an event has no receipt");
    return receipt;
  }

  /** Sends events in order: all are kept, or none. */
  async sendAll(events: readonly EventToSend[]): Promise<readonly EventReceipt[]> {
    if (!Array.isArray(events) || events.length === 0 || events.length > maxSent)
      throw new InvalidOptionError({ option: "events", problem: `expected 1 to ${maxSent} events` });
    await this.#ready();
    const engine = this.#engine();
    if (engine.closing) throw new ShuttingDownError();
    const signals: NewSignal[] = [];
    for (const each of events) signals.push(await this.#signalOf(each));
    return this.#send(signals);
  }

  async list(
    options: ListEventsOptions = {},
  ): Promise<{ readonly events: readonly EventView[]; readonly nextCursor: string | null }> {
    await this.#ready();
    const { limit = 100, cursor, id: signalId, ...filter } = options;
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > maxPage)
      throw new InvalidOptionError({
        option: "limit",
        problem: `expected a whole number from 1 to ${maxPage}`,
      });
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
      throw new InvalidOptionError({ option: "cursor", problem: "expected the nextCursor of a page" });
    for (const [option, value] of Object.entries({ ...filter, id: signalId }))
      if (option !== "unmatched" && option !== "scope") checkId(value, option);
    const query: SignalsQuery = {
      ...{ ...filter, signalId, limit: limit + 1, length: callerPageLength },
      before: cursor === undefined ? undefined : Number(cursor),
    };
    const rows = await this.#engine().store.signals.list(query);
    const { page, more } = cutPage(rows, limit, callerPageLength);
    return { events: page.map(viewEvent), nextCursor: more === undefined ? null : String(more.seq) };
  }

  async process(workId: string): Promise<Processed> {
    const { signals } = this.#engine().store;
    const work = await signals.work(workId);
    if (work === undefined) return "refused";
    switch (work.kind) {
      case "send":
        await this.#sendOfBody(work);
        return "done";
      case "look": {
        const looking = this.#look(work);
        this.#looking.add(looking);
        return looking.finally(() => this.#looking.delete(looking));
      }
      case "deliver": {
        const row = await signals.bySeq(work.seq);
        if (row !== undefined) return (await this.#deliver(work, row, false)).isDone ? "done" : "later";
        await signals.settle({ seq: null, done: [{ workId }] });
        return "done";
      }
      case "note":
        await signals.settle({ seq: work.seq, done: [{ workId, effects: [work.effect] }] });
        return "done";
    }
  }

  /** Signals beyond the bounds of retention go. */
  async trim(bounds: { readonly keep: number; readonly maxCount: number }): Promise<boolean> {
    const { store, clock } = this.#engine();
    if (this.#events.size === 0) return false;
    const now = clock.now();
    const [dataBefore, before] = [now - bounds.keep, now - Math.max(idsKept, bounds.keep)];
    const { more } = await store.signals.trim({
      dataBefore,
      before,
      keep: bounds.maxCount,
      limit: trimmedAtOnce,
    });
    return more;
  }

  /** `waits`: for the work of an earlier sender of the same event, so that the receipt has its effects. */
  async #send(signals: readonly NewSignal[], waits = true): Promise<readonly EventReceipt[]> {
    const engine = this.#engine();
    const triggers = await this.#startedBy(signals);
    const dueAt = engine.clock.now() + ownTime;
    const sent = await engine.store.signals.send(
      signals.map((signal, index) => ({ ...signal, starts: triggers[index] ?? [], dueAt })),
    );
    const conflict = sent.find(({ kind }) => kind === "conflict");
    if (conflict !== undefined) throw new EventIdConflictError({ eventId: conflict.row.signalId });
    const receipts: EventReceipt[] = [];
    for (const each of sent) receipts.push(await this.#answer(each, waits));
    return receipts;
  }

  /** Does the work that can be done here. */
  async #answer({ kind, row, work }: SentSignal, waits: boolean): Promise<EventReceipt> {
    if (kind === "duplicate") return receiptOf(waits ? await this.#settled(row) : row, true);
    const skipped: SkippedStart[] = [];
    let latest = row;
    for (const each of work) {
      if (!this.#isHere(each.target)) {
        const reason =
          "No workflow of this id is registered in this process: one that registers it starts it";
        if (each.target.startsWith("w")) skipped.push({ workflowId: each.target.slice(1), reason });
        this.#engine().scheduleWakeup(this.#engine().clock.now() + ownTime, "limit");
        continue;
      }
      const done = await this.#deliver(each, latest, true).catch((err: unknown) => {
        this.#reportLater(err, each.workId);
        return "later" as const;
      });
      if (done === "later" || done?.isDone === false)
        this.#engine().scheduleWakeup(this.#engine().clock.now() + ownTime, "limit");
      if (done !== "later") latest = done?.row ?? latest;
    }
    return receiptOf(latest, false, skipped);
  }

  /** The row once the sender that was first has done its work, as far as that is soon. */
  async #settled(row: SignalRow): Promise<SignalRow> {
    const { signals } = this.#engine().store;
    let latest = row;
    // A sender that has died, or a workflow that no process registers, keeps no later one waiting.
    const isRecent = this.#engine().clock.now() - row.sentAt < recentTime;
    for (let tries = 0; isRecent && latest.pending > 0 && tries < answerTries; tries++) {
      await new Promise((resolve) => setTimeout(resolve, answerTime));
      latest = (await signals.bySeq(row.seq)) ?? latest;
    }
    return latest;
  }

  #reportLater(err: unknown, workId: string): void {
    const { logger, storage } = this.#engine();
    if (!storage.failed(err)) logger.warn({ err, workId }, "an event was not delivered; trying again");
  }

  /** The event that a body has sent; it was kept with the commit of the body's outcome. */
  async #sendOfBody({ workId, signal }: Extract<SignalWork, { kind: "send" }>): Promise<void> {
    const engine = this.#engine();
    try {
      // The receipt is not read. The process that sent it first may be gone, and then the scheduler does its work.
      await this.#send([signal], false);
    } catch (error) {
      if (!(error instanceof EventIdConflictError)) throw error;
      const { name, sentBy: executionId } = signal;
      engine.logger.warn(
        { err: error, event: name, executionId },
        "an event that a body has sent was refused",
      );
    }
    await engine.store.signals.settle({ seq: null, done: [{ workId }] });
  }

  /** A wait is kept: takes an event that came before it. */
  async #look({
    workId,
    executionId,
    suspensionId,
  }: Extract<SignalWork, { kind: "look" }>): Promise<Processed> {
    const { store } = this.#engine();
    const state = await store.state(executionId);
    const suspension = state?.suspensions.find((each) => each.suspensionId === suspensionId);
    const found = suspension?.awaits ? await this.#earlier(suspension.awaits, true) : undefined;
    const note =
      state !== undefined && suspension !== undefined && found !== undefined
        ? await this.#resume(state, suspension, found)
        : undefined;
    await store.signals.settle({ seq: note?.seq ?? null, done: [{ workId }, ...doneNotes([note])] });
    return "done";
  }

  /** The first of the events that a wait may take. `isNew`: it has just been kept. */
  async #earlier(text: string, isNew = false): Promise<SignalRow | undefined> {
    const { signals } = this.#engine().store;
    const { events, keys } = readAwaits(text);
    const found: SignalRow[] = [];
    for (const { name, since, after, not } of events) {
      const places = keys.filter(([, ofName]) => ofName === name);
      const rows = await signals.find({ places, since, after, limit: not.length + 1, isNew });
      const first = rows.find(({ seq }) => !not.includes(seq));
      if (first !== undefined) found.push(first);
    }
    return found.sort((a, b) => a.seq - b.seq)[0];
  }

  /**
   * Done, or as far as this process can do it now. While its sender waits (`isLive`), a page of waits is ended: the others
   * are left to the scheduler. The row is undefined where the event is gone.
   */
  async #deliver(
    { workId, target }: Extract<SignalWork, { kind: "deliver" }>,
    row: SignalRow,
    isLive: boolean,
  ): Promise<{ readonly row: SignalRow | undefined; readonly isDone: boolean }> {
    const { store, logger } = this.#engine();
    const { seq, scope, name, key } = row;
    let notes: DoneWork[] = [];
    const leave = async () => ({ row: await store.signals.settle({ seq, done: notes }), isDone: false });
    for (let after: string | undefined; ; ) {
      const waits = await store.signals.waits({ scope, name, key, target, after, limit: waitsAtOnce });
      for (let from = 0; from < waits.length; from += endedAtOnce) {
        const next = waits.slice(from, from + endedAtOnce);
        notes.push(...doneNotes(await Promise.all(next.map((wait) => this.#end(wait, row, isLive)))));
      }
      after = waits.at(-1)?.waitId;
      if (waits.length < waitsAtOnce || after === undefined) break;
      const left = await leave();
      if (isLive) return left;
      notes = [];
    }
    const workflow = target.startsWith("w") ? this.#engine().workflows.get(target.slice(1)) : undefined;
    const started = workflow && (await this.#start(workflow, row));
    if (started === "later") return leave();
    const effects = started === undefined ? [] : [started];
    if (notes.length + effects.length === 0) await Promise.allSettled(this.#looking);
    const settled = await store.signals.settle({ seq, done: [{ workId, effects }, ...notes] });
    const counts = settled && readEffects(settled.effects).counts;
    logger.debug({ event: name, eventId: row.signalId, ...counts }, "delivered an event");
    return { row: settled, isDone: true };
  }

  /** Ends a wait: resumes it, or cancels its execution. Undefined where this signal has not ended it. */
  async #end(
    { waitId, executionId, suspensionId }: SignalWait,
    row: SignalRow,
    isLive: boolean,
  ): Promise<NoteWork | undefined> {
    const engine = this.#engine();
    const state = await engine.store.state(executionId);
    if (state === undefined || state.execution.endAt !== null) return undefined;
    if (suspensionId === null) {
      const reason = `Event ${row.name}`;
      if (eventIn(state.execution.links)?.seq === row.seq) return undefined;
      const note = this.#note(waitId, targetOf(state.execution), row, { kind: "cancelled", id: executionId });
      try {
        await cancelExecution(engine, state.execution, { reason }, note);
        return note;
      } catch (error) {
        // One that ends at this moment needs no cancel.
        if (error instanceof AndanteError && error.status !== 503) return undefined;
        throw error;
      }
    }
    const suspension = state.suspensions.find((each) => each.suspensionId === suspensionId);
    if (suspension?.awaits == null) return undefined;
    // Earlier ones come first: they may have been sent while the wait was about to begin.
    const earlier = await this.#earlier(suspension.awaits);
    const isNext = takes(suspension.awaits, row, isLive) && row.seq <= (earlier?.seq ?? row.seq);
    const taken = isNext ? row : earlier;
    const note = taken && (await this.#resume(state, suspension, taken));
    if (note === undefined || note.seq === row.seq) return note;
    await engine.store.signals.settle({ seq: note.seq, done: doneNotes([note]) });
    return undefined;
  }

  /** Undefined where it was resumed otherwise. */
  async #resume(
    state: StoredExecution,
    suspension: Suspension,
    row: SignalRow,
  ): Promise<NoteWork | undefined> {
    const engine = this.#engine();
    const { suspensionId, path, stepIndex, awaits } = suspension;
    const { signalId: eventId, name, key, seq, data } = row;
    if (awaits == null || data === null) return undefined;
    const { executionId } = state.execution;
    const { target, several } = readAwaits(awaits);
    const note = this.#note(suspensionId, target, row, { kind: "woken", id: executionId });
    const event: WorkflowResumedEvent = {
      ...{ type: "workflow-resumed", timestamp: engine.clock.now(), path, stepIndex, suspensionId },
      resumeData: resumeDataOf({ several }, name, data),
      ...{ userId: undefined, byDeadline: false, expired: false, event: { eventId, name, key, seq } },
    };
    const claim = { owner: engine.claims.taker, token: randomUUID() };
    const closes = { suspensionIds: [suspensionId], rewind: null };
    const resume = { executionId, ...closes, events: [encodeEvent(event)], claim, byDeadline: false, note };
    return (await writeResume(engine, { resume, state })) ? note : undefined;
  }

  /** Kept with the write that ends a wait: an effect is not lost with the process that has made it. */
  #note(waitId: string, target: string, { seq }: SignalRow, effect: SignalEffect): NoteWork {
    return noteWork(waitId, target, { seq, effect, dueAt: this.#engine().clock.now() + ownTime });
  }

  /** Starts the execution of a workflow that this event starts; undefined where it starts none. */
  async #start(
    { id: workflowId, on = [] }: WorkflowDefinition,
    row: SignalRow,
  ): Promise<SignalEffect | "later" | undefined> {
    const engine = this.#engine();
    const trigger = on.find(({ event }) => event.name === row.name);
    if (trigger === undefined || row.data === null) return undefined;
    const { signalId: eventId, name, seq, sentAt, userId } = row;
    const skipped = (reason: string): SignalEffect => ({ kind: "skipped", id: workflowId, reason });
    try {
      const data = fromJson(row.data);
      if (trigger.if !== undefined && !(await trigger.if({ data }))) return skipped("Its condition is false");
      const input = trigger.input === undefined ? data : await trigger.input({ data });
      const links = linkToEvents({ event: { eventId, name, seq, sentAt } });
      const options = { exclusive: true, ...(userId !== null && { userId }) };
      for (const executionId of executionIdsOf(workflowId, row)) {
        const prepared = await prepareStart(
          engine,
          workflowId,
          input,
          { ...options, executionId },
          { links },
        );
        if (await isCreated(prepared)) return { kind: "started", id: executionId };
        const found = (await engine.store.state(executionId))?.execution.links ?? null;
        if (eventIn(found)?.seq === seq) return { kind: "started", id: executionId };
      }
      return skipped("Its execution id is taken");
    } catch (error) {
      // The process is full, or it stops.
      if (error instanceof AndanteError && error.status === 503) return "later";
      engine.logger.warn(
        { err: error, event: name, eventId, workflowId },
        "an event did not start its workflow",
      );
      return skipped(error instanceof Error ? error.message.slice(0, 500) : "Its function has thrown");
    }
  }

  #isHere(target: string): boolean {
    const { workflows, kinds } = this.#engine();
    if (target.startsWith("w")) return workflows.has(target.slice(1));
    return kinds.some(({ claimable }) => claimable?.agentIds?.includes(target.slice(1)));
  }

  /** Checks an event of a caller. */
  async #signalOf({ event: given, data, id, key, userId, restrictTo }: EventToSend): Promise<NewSignal> {
    const { limits, clock } = this.#engine();
    const name = typeof given === "string" ? given : given?.name;
    const event = this.#events.get(name);
    if (event === undefined || (typeof given !== "string" && given !== event))
      throw new EventNotFoundError({ name: String(name).slice(0, 200) });
    checkId(id, "id");
    checkId(userId, "userId");
    checkId(restrictTo, "restrictTo");
    const refuse = (detail: string) => new EventDataError({ name, detail });
    const subject = `Data of event ${name}`;
    try {
      checkSize(limits, "input", toJson(data, "data"), subject);
      const result = await validate(event.schema, data, requestTries);
      if (!result.ok) throw refuse(result.detail);
      const text = checkSize(limits, "input", toJson(result.value, "data"), subject) ?? "null";
      const made = key ?? keyIn(event, result.value, refuse);
      const problem = made === undefined ? undefined : problemOfId(made);
      if (problem !== undefined) throw refuse(`key: ${problem}`);
      const own = event.scope === "user" ? (restrictTo ?? userId) : (restrictTo ?? "");
      if (own === undefined)
        throw new InvalidOptionError({ option: "userId", problem: `the event ${name} needs a user` });
      return {
        signalId: id ?? uuid(),
        scope: own,
        name,
        key: made ?? null,
        data: text,
        userId: userId ?? restrictTo ?? null,
        sentBy: null,
        sentAt: clock.now(),
      };
    } catch (error) {
      if (error instanceof UnserializableError) throw refuse(error.message);
      throw error;
    }
  }

  /** For each signal the targets of the workflows that it may start, here or in another process. */
  async #startedBy(signals: readonly NewSignal[]): Promise<readonly (readonly string[])[]> {
    const { cluster, workflows } = this.#engine();
    if (cluster !== undefined) await this.#readTriggers();
    return signals.map(({ name }) => {
      const here = [...workflows.values()].filter(({ on }) => on?.some(({ event }) => event.name === name));
      const ids = new Set([...here.map(({ id }) => id), ...(this.#triggers.get(name) ?? [])]);
      return [...ids].map((workflowId) => targetOf({ workflowId }));
    });
  }

  async #readTriggers(): Promise<void> {
    if (performance.now() < this.#triggersReadAt + triggerTime) return;
    const rows = await this.#engine().store.schedules.list({ kind: "trigger", limit: maxTriggers });
    const byName = new Map<string, string[]>();
    for (const { workflowId, body } of rows) {
      const names: readonly string[] = JSON.parse(body);
      for (const name of names) byName.set(name, [...(byName.get(name) ?? []), workflowId]);
    }
    this.#triggers = byName;
    this.#triggersReadAt = performance.now();
  }

  /** A row that other processes read; one that is the same already is not written. */
  async #declare({ id: workflowId, on = [] }: WorkflowDefinition): Promise<void> {
    const { schedules } = this.#engine().store;
    const scheduleId = `${workflowId}!on`;
    const body = JSON.stringify(on.map(({ event }) => event.name).sort());
    for (;;) {
      const stored = await schedules.read(scheduleId);
      if (stored?.body === body) return;
      const row = {
        scheduleId,
        kind: "trigger",
        workflowId,
        agentId: null,
        userId: null,
        dueAt: null,
        body,
      } as const;
      const written = { ...row, version: randomUUID(), occurrences: "[]" };
      const change = { scheduleId, expected: stored?.version ?? null, row: written };
      if ((await schedules.change(change)) === "written") return;
    }
  }
}

/** Milliseconds for which ids of events are known, and signals that are trimmed at once. */
const idsKept = 8 * 86_400_000;
const trimmedAtOnce = 1000;
const maxTriggers = 1000;

function doneNotes(notes: readonly (NoteWork | undefined)[]): DoneWork[] {
  return notes.flatMap((note) =>
    note === undefined ? [] : [{ workId: note.workId, effects: [note.effect], keptBy: note.effect.id }],
  );
}

/** Whether a wait takes this event. One that is live came after it was kept: clocks of processes may differ. */
function takes(text: string, { name, seq, sentAt }: SignalRow, isLive: boolean): boolean {
  const { events } = readAwaits(text);
  return events.some(
    (each) =>
      each.name === name && seq > each.after && !each.not.includes(seq) && (isLive || sentAt >= each.since),
  );
}

function keyIn(event: AnyEvent, data: unknown, refuse: (detail: string) => Error): string | undefined {
  try {
    return event.keyOf(data);
  } catch (error) {
    throw refuse(`key: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** False where an execution with this id is there. */
async function isCreated({ create }: Awaited<ReturnType<typeof prepareStart>>): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (error instanceof ExecutionConflictError) return false;
    throw error;
  }
}

/**
 * The same for each delivery: it is started once. The second one is for a caller who has taken the first for an execution of
 * its own: before the event is sent it cannot be known.
 */
function executionIdsOf(
  workflowId: string,
  { scope, signalId, seq, sentAt }: SignalRow,
): readonly [string, string] {
  const hashed = (...parts: readonly unknown[]) => {
    const digest = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
    return `${workflowId.slice(0, 130)}:${digest}`;
  };
  const id = `${workflowId}:${signalId}`;
  const first = scope === "" && id.length <= 200 ? id : hashed(scope, signalId);
  return [first, hashed(scope, signalId, seq, sentAt)];
}
