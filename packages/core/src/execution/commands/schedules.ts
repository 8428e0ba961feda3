// Schedules: the commands of callers, the schedules in code, and the occurrences that are due.
import { randomUUID } from "node:crypto";
import { overlapOfPrompts, problemOfPrompt } from "../../agent/call/agent-schedules.ts";
import type { CallableAgent } from "../../agent/call/callable-agent.ts";
import {
  AgentNotFoundError,
  AndanteError,
  InvalidOptionError,
  ScheduleConflictError,
  ScheduleNotFoundError,
  ScheduleRevisionError,
} from "../../errors/index.ts";
import {
  decideOccurrences,
  inConversation,
  lastTimes,
  type OccurrenceStart,
  type ScheduleStep,
  withInvalidInput,
  withRefused,
  withStartWaiting,
} from "../../schedule/decide-occurrences.ts";
import { patternOf } from "../../schedule/occurrences.ts";
import {
  readScheduleOptions,
  type ScheduleOptions,
  type ScheduleSpec,
} from "../../schedule/schedule-options.ts";
import {
  dueAtOf,
  executionIdOf,
  maxRunning,
  maxWaiting,
  readOccurrences,
  readRecord,
  type ScheduleRecord,
} from "../../schedule/schedule-record.ts";
import type { ChangeScheduleResult, ScheduleRow, StoredSchedule } from "../../store/schedule-store.ts";
import type { ExecutionRow } from "../../store/store.ts";
import { checkId, checkUrlId } from "../../values/check-id.ts";
import { canonicalJson, toJson } from "../../values/json.ts";
import { problemWithTags } from "../../workflow/tags.ts";
import type { Engine, FiredSchedules } from "../engine/engine.ts";
import type { Processed } from "../engine/scheduler.ts";
import { cancelExecution } from "./cancel.ts";
import {
  declaredById,
  ownerId,
  type ScheduleOwner,
  type ScheduleOwners,
  type ScheduleTarget,
  setIdOf,
} from "./schedule-owners.ts";
import { ScheduleSets } from "./schedule-sets.ts";
import {
  type OccurrenceView,
  previewOf,
  type Schedule,
  type SchedulePreview,
  viewOccurrence,
  viewSchedule,
} from "./schedule-views.ts";
import { checkOptions, contextText, prepareStart, type StartParts } from "./start.ts";
import {
  decidedRow,
  InvalidInput,
  type OccurrenceParts,
  postOccurrence,
  rowOf,
  startExecution,
} from "./start-occurrence.ts";

export interface SetScheduleOptions extends ScheduleOptions {
  /** The workflow whose executions it starts, or an `agentId`. */
  readonly workflowId?: string | undefined;
  /** The agent that its prompts go to. */
  readonly agentId?: string | undefined;
  /** The input of its executions; JSON. Default: none. */
  readonly input?: unknown;
  /** For an agent: the message of each occurrence. */
  readonly prompt?: string | undefined;
  /** For an agent: the conversation that it goes into. Default: one for the schedule, with its id. */
  readonly conversationId?: string | undefined;
  /** The user its executions, or the conversation, belong to. Default: none. */
  readonly userId?: string | undefined;
  /** Further data for the steps' `context`; JSON. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Refused unless the schedule has this revision; 0: unless there is none. Default: any. */
  readonly ifRevision?: number | undefined;
}

export interface ListSchedulesOptions {
  readonly workflowId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  /** The `nextCursor` of the page before. Default: from the first on. */
  readonly cursor?: string | undefined;
  /** At most 200. Default: 100. */
  readonly limit?: number | undefined;
}

export interface PauseScheduleOptions {
  readonly reason?: string | undefined;
  /** The user who pauses it. Default: unknown. */
  readonly by?: string | undefined;
}

export interface BackfillOptions {
  readonly from: Date | string | number;
  readonly to: Date | string | number;
  /** Only returns the times. Default: false. */
  readonly dryRun?: boolean | undefined;
}

export interface PreviewOptions extends ScheduleOptions {
  /** How many times. At most 100. Default: 10. */
  readonly count?: number | undefined;
}

/** The parts of the engine that schedules use. */
export type ScheduleParts = StartParts &
  Pick<
    Engine,
    | "workflows"
    | "logger"
    | "folds"
    | "driver"
    | "waiters"
    | "lookForEnds"
    | "admission"
    | "claims"
    | "cluster"
    | "scheduleWakeup"
    | "outbox"
  >;

/** Writes that lose against others are decided again so many times. */
const maxTries = 10;
const maxPage = 200;
/** Characters. */
const maxReason = 1000;

export interface ScheduleHost extends Pick<OccurrenceParts, "post"> {
  readonly owners: ScheduleOwners;
  readonly agents: ReadonlyMap<string, CallableAgent>;
  ready(): Promise<void>;
}

export class Schedules implements FiredSchedules {
  readonly #engine: () => ScheduleParts;
  readonly #host: ScheduleHost;
  readonly #owners: ScheduleOwners;
  /** Declares the schedules in code. */
  readonly sets: ScheduleSets;

  constructor(engine: () => ScheduleParts, host: ScheduleHost) {
    this.#engine = engine;
    this.#host = host;
    this.#owners = host.owners;
    this.sets = new ScheduleSets(engine, this.#owners, (owner) => this.#declare(owner));
  }

  /** Keeps a schedule, or replaces one. One that is the same already keeps its revision. */
  async set(scheduleId: string, options: SetScheduleOptions): Promise<Schedule> {
    await this.#ready();
    checkScheduleId(scheduleId);
    const { userId, ifRevision } = options;
    const { target, given } = await this.#given(options);
    return this.#update(scheduleId, (stored, now) => {
      const before = stored && readRecord(stored.body);
      if (ifRevision !== undefined && ifRevision !== (before?.revision ?? 0))
        throw new ScheduleRevisionError({ scheduleId, revision: before?.revision ?? 0 });
      if (before?.origin === "code") throw declaredInCode(scheduleId);
      if (stored !== undefined && (stored.userId ?? undefined) !== userId)
        throw new ScheduleConflictError({ scheduleId, problem: "belongs to another user" });
      const isSameTarget = stored !== undefined && setIdOf(stored) === setIdOf(target);
      if (before !== undefined && isSameTarget && isSame(before, { ...before, ...given })) return undefined;
      return { ...target, userId: userId ?? null, record: changedRecord(before, given, now) };
    });
  }

  async get(scheduleId: string): Promise<Schedule> {
    return this.#view(await this.#stored(scheduleId));
  }

  async list(
    options: ListSchedulesOptions = {},
  ): Promise<{ readonly schedules: readonly Schedule[]; readonly nextCursor: string | null }> {
    await this.#ready();
    const { limit = 100, cursor: after, ...query } = options;
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > maxPage)
      throw new InvalidOptionError({
        option: "limit",
        problem: `expected a whole number from 1 to ${maxPage}`,
      });
    const rows = await this.#engine().store.schedules.list({
      kind: "schedule",
      ...query,
      after,
      limit: limit + 1,
    });
    const schedules = rows.slice(0, limit).map((row) => this.#view(row));
    const last = schedules.at(-1)?.scheduleId ?? null;
    return { schedules, nextCursor: rows.length > limit ? last : null };
  }

  /** Nothing is made up for the time of a pause. */
  async pause(scheduleId: string, { reason, by }: PauseScheduleOptions = {}): Promise<Schedule> {
    if (reason !== undefined && (typeof reason !== "string" || reason.length > maxReason))
      throw new InvalidOptionError({
        option: "reason",
        problem: `expected a text of at most ${maxReason} characters`,
      });
    checkId(by, "by");
    return this.#state(scheduleId, "paused", { note: reason ?? null, pausedBy: by ?? null });
  }

  /** Continues with the next nominal time; also one that is broken. */
  async resume(scheduleId: string): Promise<Schedule> {
    return this.#state(scheduleId, "active", { note: null, pausedBy: null });
  }

  /** Starts an execution, or posts the prompt, now and beside the times of the schedule. For an agent it returns the id of the message. */
  async trigger(scheduleId: string): Promise<{ readonly executionId: string }> {
    await this.#ready();
    const engine = this.#engine();
    const at = Math.floor(engine.clock.now() / 1000) * 1000;
    const start = { at, executionId: `${executionIdOf(scheduleId, at)}-${randomUUID().slice(0, 8)}` };
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await this.#stored(scheduleId);
      const before = readRecord(stored.body);
      const now = engine.clock.now();
      const record = {
        ...before,
        running: [...before.running, start.executionId].slice(-maxRunning),
        started: before.started + 1,
        lastExecutionId: start.executionId,
      };
      const decided = { at, outcome: "by-hand", executionId: start.executionId, decidedAt: now } as const;
      const step = { record, occurrences: [{ ...decided, late: 0, count: 1 }], start, cancel: [] };
      const result = await this.#begin(stored, step, start).catch((error: unknown) => {
        if (!(error instanceof InvalidInput)) throw error;
        if (error.cause instanceof AndanteError) throw error.cause;
        throw new ScheduleConflictError({ scheduleId, problem: `has no input: ${error.message}` });
      });
      if (result === "written") return { executionId: start.executionId };
      if (result !== "changed" && result !== "exists")
        throw new ScheduleConflictError({ scheduleId, problem: problemOfPost[result] });
    }
    throw new ScheduleConflictError({ scheduleId, problem: "changes too often" });
  }

  /** Starts the occurrences of a time that has passed, one after the other; those that ran are not run again. */
  async backfill(
    scheduleId: string,
    { from, to, dryRun = false }: BackfillOptions,
  ): Promise<{ readonly times: readonly string[] }> {
    const [first, last] = [timeOf("from", from), timeOf("to", to)];
    const stored = await this.#stored(scheduleId);
    const { timing } = readRecord(stored.body);
    const until = Math.min(last, this.#engine().clock.now());
    const all = lastTimes(patternOf(timing), first - 1, until, maxWaiting + 1);
    if (all.length > maxWaiting)
      throw new InvalidOptionError({ option: "from", problem: `more than ${maxWaiting} times until then` });
    const ids = all.map((at) => executionIdOf(scheduleId, at));
    const known = new Set((await this.#engine().store.heads(ids)).map(({ executionId }) => executionId));
    // A message of an agent is no execution.
    for (const { outcome, executionId } of readOccurrences(stored.occurrences))
      if (outcome === "started" && executionId !== null) known.add(executionId);
    const times = all.filter((at) => !known.has(executionIdOf(scheduleId, at)));
    const texts = times.map((at) => new Date(at).toISOString());
    if (dryRun || times.length === 0) return { times: texts };
    const { running } = readRecord(stored.body);
    const open = await this.#open(running);
    const ended = running.filter((id) => !open.includes(id));
    await this.#update(scheduleId, (current) => {
      if (current === undefined) throw new ScheduleNotFoundError({ scheduleId });
      const before = readRecord(current.body);
      if (before.state === "removed" || before.state === "broken")
        throw new ScheduleConflictError({ scheduleId, problem: `is ${before.state}` });
      const waiting = [...new Set([...before.waiting, ...times])].sort((a, b) => a - b);
      if (waiting.length > maxWaiting)
        throw new ScheduleConflictError({
          scheduleId,
          problem: `has ${before.waiting.length} times that wait`,
        });
      const still = before.running.filter((id) => !ended.includes(id));
      return { ...current, record: { ...before, waiting, running: still } };
    });
    return { times: texts };
  }

  /** Executions that it has started go on. */
  async remove(scheduleId: string): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await this.#stored(scheduleId);
      const { origin, state } = readRecord(stored.body);
      if (origin === "code" && state !== "removed") throw declaredInCode(scheduleId);
      const { version: expected } = stored;
      const change = { scheduleId, expected, row: null };
      if ((await this.#engine().store.schedules.change(change)) !== "changed") return;
    }
    throw new ScheduleConflictError({ scheduleId, problem: "changes too often" });
  }

  /** The next times of options, and the days on which the clocks of their zone change. */
  preview(options: PreviewOptions): SchedulePreview {
    const { count = 10, ...given } = options;
    if (!Number.isSafeInteger(count) || count < 1 || count > 100)
      throw new InvalidOptionError({ option: "count", problem: "expected a whole number from 1 to 100" });
    const spec = readScheduleOptions(given, (option, problem) => new InvalidOptionError({ option, problem }));
    return previewOf(spec.timing, this.#engine().clock.now(), count);
  }

  /** The last occurrences that were decided, the newest first. */
  async occurrences(scheduleId: string): Promise<readonly OccurrenceView[]> {
    const { occurrences } = await this.#stored(scheduleId);
    return readOccurrences(occurrences).map(viewOccurrence).reverse();
  }

  /** The ids of a schedule, for permission; undefined where there is none. */
  async idsOf(scheduleId: string): Promise<Pick<Schedule, "workflowId" | "agentId" | "userId"> | undefined> {
    await this.#ready();
    const found = await this.#engine().store.schedules.read(scheduleId);
    if (found?.kind !== "schedule") return undefined;
    const { workflowId, agentId, userId } = found;
    return { workflowId: agentId === null ? workflowId : null, agentId, userId };
  }

  async fire(scheduleId: string): Promise<Processed> {
    const engine = this.#engine();
    const taken = new Set<string>();
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await engine.store.schedules.read(scheduleId);
      if (stored?.kind !== "schedule" || stored.dueAt === null) return "refused";
      const before = readRecord(stored.body);
      // Processes that declare it so fire it.
      if (!this.sets.isOwn({ ...stored, set: before.set })) return "later";
      const now = engine.clock.now();
      const open = await this.#open(before.running);
      const step = decideOccurrences(scheduleId, before, { now, open, taken });
      const isSame = step.occurrences.length === 0 && dueAtOf(scheduleId, step.record, now) === stored.dueAt;
      if (isSame) return "refused";
      for (const executionId of step.cancel) await this.#cancel(executionId);
      const { start } = step;
      const isKept = stored.agentId === null || start === null || before.waiting.includes(start.at);
      const result = !isKept
        ? await this.#write(stored, withStartWaiting(step, before))
        : start === null
          ? await this.#write(stored, step)
          : await this.#attempt(stored, step, start);
      if (result === "later") return "later";
      if (result === "exists" && start !== null) taken.add(start.executionId);
      if (result !== "written") continue;
      this.#report(stored, before, step);
      if (isKept) return "done";
    }
    return "later";
  }

  async ended(
    scheduleId: string,
    { executionId, status }: Pick<ExecutionRow, "executionId" | "status">,
  ): Promise<void> {
    await this.#change(scheduleId, (stored) => {
      const before = stored && readRecord(stored.body);
      if (stored === undefined || before === undefined) return undefined;
      const { pauseOnFailure, waiting, running, state } = before;
      // Otherwise the next occurrence finds that it has ended.
      if (!running.includes(executionId) || (pauseOnFailure === null && waiting.length === 0))
        return undefined;
      const failed = status === "error" ? before.failed + 1 : 0;
      const pauses = state === "active" && pauseOnFailure !== null && failed >= pauseOnFailure;
      const paused = { state: "paused", note: `${failed} executions in a row have failed` } as const;
      const record = { ...before, failed, running: running.filter((id) => id !== executionId) };
      return { ...stored, record: { ...record, ...(pauses && paused) } };
    });
  }

  /** The workflow or the agent, and the checked parts of the record. */
  async #given(
    options: SetScheduleOptions,
  ): Promise<{ readonly target: ScheduleTarget; readonly given: GivenRecord }> {
    const { workflowId, agentId, userId, input, prompt, conversationId, context } = options;
    const engine = this.#engine();
    const refuse = (option: string, problem: string) => new InvalidOptionError({ option, problem });
    if ((workflowId === undefined) === (agentId === undefined))
      throw refuse("workflowId", "expected either workflowId or agentId");
    const isOfAgent = agentId !== undefined;
    const others = isOfAgent ? onlyOfWorkflows : onlyOfAgents;
    for (const option of others)
      if (options[option] !== undefined)
        throw refuse(option, `is an option of schedules of ${isOfAgent ? "workflows" : "agents"}`);
    const spec = readScheduleOptions(options, refuse);
    checkOptions({ userId, context });
    const kept = { origin: "api", context: contextText({ context }), set: null } as const;
    if (workflowId !== undefined) {
      const problem = problemWithTags(spec.tags);
      if (problem !== undefined) throw refuse("tags", problem);
      const workflow = engine.workflow(workflowId);
      // The checks of a start, without the start.
      await prepareStart(engine, workflowId, input, { userId, context, tags: spec.tags });
      const text = toJson(input, "input") ?? null;
      const given = { ...spec, ...kept, input: text, conversationId: null };
      return { target: { workflowId: workflow.id, agentId: null }, given };
    }
    const id = agentId ?? "";
    const agent = this.#host.agents.get(id);
    if (agent === undefined) throw new AgentNotFoundError({ agentId: id });
    if (agent.window === 0) throw refuse("agentId", "this agent keeps no conversations");
    const problem = problemOfPrompt(prompt);
    if (problem !== undefined) throw refuse("prompt", problem);
    checkUrlId(conversationId, "conversationId");
    const given = {
      ...{ ...spec, ...kept, overlap: overlapOfPrompts, input: JSON.stringify(prompt) },
      conversationId: conversationId ?? null,
    };
    return { target: { workflowId: "", agentId: agent.id }, given };
  }

  /** Keeps the schedules of an owner as this process declares them, and marks the others of its code as removed. */
  async #declare(owner: ScheduleOwner): Promise<void> {
    const { store } = this.#engine();
    const { workflowId, agentId } = owner;
    const declared = declaredById(owner);
    for (const [scheduleId, { spec, userId = null }] of declared)
      await this.#change(scheduleId, (stored, now) => declaredRow(owner, spec, userId, stored, now));
    // Those in code are together: the ids of callers have no colon.
    const prefix = `${ownerId(owner)}:`;
    const query = {
      kind: "schedule",
      limit: maxPage,
      ...(agentId === null ? { workflowId } : { agentId }),
    } as const;
    for (let after: string | undefined = prefix; after !== undefined; ) {
      const rows: readonly ScheduleRow[] = await store.schedules.list({ ...query, after });
      for (const { scheduleId, body } of rows) {
        if (!scheduleId.startsWith(prefix)) return;
        const { origin, state } = readRecord(body);
        if (origin !== "code" || state === "removed" || declared.has(scheduleId)) continue;
        await this.#change(scheduleId, (stored) => {
          const before = stored && readRecord(stored.body);
          if (stored === undefined || before === undefined || before.state === "removed") return undefined;
          const note = "The code declares it no more";
          return { ...stored, record: { ...before, state: "removed", note, waiting: [] } };
        });
      }
      after = rows.length < maxPage ? undefined : rows.at(-1)?.scheduleId;
    }
  }

  async #state(
    scheduleId: string,
    state: "active" | "paused",
    why: Pick<ScheduleRecord, "note" | "pausedBy">,
  ): Promise<Schedule> {
    return this.#update(scheduleId, (stored, now) => {
      if (stored === undefined) throw new ScheduleNotFoundError({ scheduleId });
      const before = readRecord(stored.body);
      if (before.state === "removed") throw new ScheduleConflictError({ scheduleId, problem: "is removed" });
      if (before.state === state) return undefined;
      const cursorAt = state === "active" ? Math.max(before.cursorAt, now) : before.cursorAt;
      return { ...stored, record: { ...before, ...why, state, cursorAt, invalid: 0, failed: 0 } };
    });
  }

  #ready(): Promise<void> {
    return this.#host.ready();
  }

  async #stored(scheduleId: string): Promise<StoredSchedule> {
    await this.#ready();
    const found = await this.#engine().store.schedules.read(scheduleId);
    if (found?.kind !== "schedule") throw new ScheduleNotFoundError({ scheduleId });
    return found;
  }

  async #update(scheduleId: string, decide: Decide): Promise<Schedule> {
    await this.#ready();
    const row = await this.#change(scheduleId, decide);
    if (row === undefined) throw new ScheduleNotFoundError({ scheduleId });
    return this.#view(row);
  }

  /** Writes the row that follows from the one that is kept; decided again when another writer was first. */
  async #change(scheduleId: string, decide: Decide): Promise<StoredSchedule | undefined> {
    const { store, clock } = this.#engine();
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await store.schedules.read(scheduleId);
      const now = clock.now();
      const decided = decide(stored, now);
      if (decided === undefined) return stored;
      const { record, ...target } = decided;
      const row = rowOf({ ...target, scheduleId }, record, stored?.occurrences ?? "[]", now);
      const change = { scheduleId, expected: stored?.version ?? null, row };
      if ((await store.schedules.change(change)) !== "written") continue;
      this.#wakeUp(row);
      return row;
    }
    throw new ScheduleConflictError({ scheduleId, problem: "changes too often" });
  }

  /** Starts an occurrence; an input that does not fit, or a conversation that takes no prompt, is recorded in its place. */
  async #attempt(
    stored: StoredSchedule,
    step: ScheduleStep,
    start: OccurrenceStart,
  ): Promise<ChangeScheduleResult | "later"> {
    try {
      const result = await this.#begin(stored, step, start);
      // The conversation is free again some time.
      if (result === "waits") return "later";
      if (result !== "full" && result !== "foreign") return result;
      return await this.#write(stored, withRefused(step, readRecord(stored.body), problemOfPost[result]));
    } catch (error) {
      if (!(error instanceof InvalidInput)) {
        // The process is full, or it stops.
        if (error instanceof AndanteError && error.status === 503) return "later";
        throw error;
      }
      const invalid = withInvalidInput(step, readRecord(stored.body), error.message);
      const { scheduleId, workflowId, agentId } = stored;
      const { logger } = this.#engine();
      const result = await this.#write(stored, invalid);
      if (result === "written") {
        const of = agentId === null ? { workflowId } : { agentId };
        logger.warn({ err: error.cause, scheduleId, ...of }, "the input of a schedule does not fit");
      }
      return result;
    }
  }

  async #begin(
    stored: StoredSchedule,
    step: ScheduleStep,
    start: OccurrenceStart,
  ): Promise<ChangeScheduleResult | Exclude<Awaited<ReturnType<OccurrenceParts["post"]>>, "posted">> {
    const parts = { engine: this.#engine(), owners: this.#owners, post: this.#host.post };
    if (stored.agentId !== null) {
      const { posted, conversationId } = await postOccurrence(parts, stored, start);
      if (posted !== "posted") return posted;
      const made = inConversation(step, conversationId);
      return this.#write(stored, { ...made, record: { ...made.record, invalid: 0 } });
    }
    const { result, row } = await startExecution(parts, stored, step, start);
    if (result === "written") this.#wrote(row, step);
    return result;
  }

  async #write(stored: StoredSchedule, step: ScheduleStep): Promise<ChangeScheduleResult> {
    const { store, clock } = this.#engine();
    const { scheduleId, version: expected } = stored;
    const row = decidedRow(stored, step, clock.now());
    const result = await store.schedules.change({ scheduleId, expected, row });
    if (result === "written") this.#wrote(row, step);
    return result;
  }

  #report(
    { scheduleId, workflowId, agentId }: StoredSchedule,
    before: ScheduleRecord,
    { record }: ScheduleStep,
  ): void {
    const { logger } = this.#engine();
    const missed = record.missed - before.missed;
    if (missed === 0) return;
    const of = agentId === null ? { workflowId } : { agentId };
    logger.warn({ scheduleId, ...of, missed }, "occurrences of a schedule were missed");
  }

  /** Those that have not ended, of the executions of a schedule. */
  async #open(executionIds: readonly string[]): Promise<readonly string[]> {
    if (executionIds.length === 0) return [];
    const heads = await this.#engine().store.heads(executionIds);
    const open = heads.filter(({ status }) => status === "running" || status === "suspended");
    const ids = new Set(open.map(({ executionId }) => executionId));
    return executionIds.filter((id) => ids.has(id));
  }

  async #cancel(executionId: string): Promise<void> {
    const engine = this.#engine();
    const state = await engine.store.state(executionId);
    if (state === undefined || state.execution.endAt !== null) return;
    const reason = "The next occurrence of its schedule is due";
    // One that ends at this moment needs no cancel.
    await cancelExecution(engine, state.execution, { reason }).catch((error: unknown) => {
      if (!(error instanceof AndanteError) || error.status === 503) throw error;
    });
  }

  #wrote(row: StoredSchedule, { occurrences }: Pick<ScheduleStep, "occurrences">): void {
    const { metrics } = this.#engine().observation;
    for (const { outcome, count } of occurrences) metrics.occurrence(outcome, count);
    this.#wakeUp(row);
  }

  #wakeUp({ dueAt }: Pick<StoredSchedule, "dueAt">): void {
    if (dueAt !== null) this.#engine().scheduleWakeup(dueAt, "limit");
  }

  #view(row: Omit<StoredSchedule, "occurrences">): Schedule {
    return viewSchedule(row, readRecord(row.body));
  }
}

/** The new record, or undefined to leave the row as it is. */
type Decide = (
  stored: StoredSchedule | undefined,
  now: number,
) =>
  | (Pick<StoredSchedule, "workflowId" | "agentId" | "userId"> & { readonly record: ScheduleRecord })
  | undefined;

/** Why the conversation of an agent did not take a prompt. */
const problemOfPost = {
  waits: "has a conversation that waits for a person or a tool",
  full: "has a conversation whose queue is full",
  foreign: "has the conversation of another user",
} as const;

const onlyOfWorkflows = ["input", "overlap", "pauseOnFailure", "tags"] as const;
const onlyOfAgents = ["prompt", "conversationId"] as const;

type GivenRecord = ScheduleSpec &
  Pick<ScheduleRecord, "origin" | "input" | "conversationId" | "context" | "set">;

/** From now on: times of the former specification that have not fired are dropped. A pause stays. */
function changedRecord(before: ScheduleRecord | undefined, given: GivenRecord, now: number): ScheduleRecord {
  const isPaused = before?.state === "paused";
  return {
    ...{ running: [], last: null, lastAt: null, lastExecutionId: null, started: 0, skipped: 0, missed: 0 },
    ...before,
    ...given,
    ...{ waiting: [], invalid: 0, failed: 0, cursorAt: now },
    revision: (before?.revision ?? 0) + 1,
    state: isPaused ? "paused" : "active",
    note: isPaused ? before.note : null,
    pausedBy: isPaused ? before.pausedBy : null,
  };
}

/** The parts that a caller gives. */
function isSame(before: ScheduleRecord, after: ScheduleRecord): boolean {
  if (before.state === "removed" || before.state === "broken") return false;
  return canonicalJson(JSON.stringify(before)) === canonicalJson(JSON.stringify(after));
}

function declaredRow(
  { workflowId, agentId, hash: set }: ScheduleOwner,
  spec: ScheduleSpec,
  userId: string | null,
  stored: StoredSchedule | undefined,
  now: number,
): ReturnType<Decide> {
  const before = stored && readRecord(stored.body);
  const given = { ...spec, origin: "code", input: null, conversationId: null, context: "{}" } as const;
  const row = { workflowId, agentId, userId };
  const isSameRow = stored?.userId === userId && setIdOf(stored) === setIdOf(row);
  if (before !== undefined && isSameRow && isSame(before, { ...before, ...given })) {
    // Another set with the same schedule in it.
    return before.set === set ? undefined : { ...row, record: { ...before, set } };
  }
  return { ...row, record: changedRecord(before, { ...given, set }, now) };
}

function declaredInCode(scheduleId: string): ScheduleConflictError {
  const problem = "is declared in the code of its workflow: change it there, or pause it";
  return new ScheduleConflictError({ scheduleId, problem });
}

/** Those of the code have a colon; the id of an execution has a time behind the id of its schedule. */
function checkScheduleId(scheduleId: unknown): void {
  checkId(scheduleId, "scheduleId");
  if (typeof scheduleId === "string" && /^[\w.~-]{1,100}$/.test(scheduleId) && !/^\.+$/.test(scheduleId))
    return;
  const problem = "expected 1 to 100 letters, digits, and the characters - _ . ~";
  throw new InvalidOptionError({ option: "scheduleId", problem });
}

function timeOf(option: string, given: Date | string | number): number {
  const time = typeof given === "number" ? given : new Date(given).getTime();
  if (Number.isSafeInteger(time) && time >= 0) return time;
  throw new InvalidOptionError({ option, problem: "expected a date" });
}
