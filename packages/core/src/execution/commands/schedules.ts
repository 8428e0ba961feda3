// Schedules: the commands of callers, the sets that processes declare in code, and the executions that occurrences start.
import { randomUUID } from "node:crypto";
import {
  AndanteError,
  InputValidationError,
  InvalidOptionError,
  ScheduleConflictError,
  ScheduleNotFoundError,
  ScheduleRevisionError,
  TooLargeError,
} from "../../errors/index.ts";
import { linkToSchedule } from "../../schedule/cause.ts";
import {
  decideOccurrences,
  lastTimes,
  type OccurrenceStart,
  type ScheduleStep,
  withInvalidInput,
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
  withOccurrences,
} from "../../schedule/schedule-record.ts";
import type { ChangeScheduleResult, StoredSchedule } from "../../store/schedule-store.ts";
import type { ExecutionRow } from "../../store/store.ts";
import { checkId } from "../../values/check-id.ts";
import { canonicalJson, toJson } from "../../values/json.ts";
import { scheduleIdOf } from "../../workflow/schedules.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { problemWithTags } from "../../workflow/tags.ts";
import type { Engine, FiredSchedules } from "../engine/engine.ts";
import type { Processed } from "../engine/scheduler.ts";
import { cancelExecution } from "./cancel.ts";
import { hashOfSchedules, ScheduleSets } from "./schedule-sets.ts";
import {
  type OccurrenceView,
  previewOf,
  type Schedule,
  type SchedulePreview,
  viewOccurrence,
  viewSchedule,
} from "./schedule-views.ts";
import { checkOptions, contextText, prepareStart, type StartParts } from "./start.ts";

export interface SetScheduleOptions extends ScheduleOptions {
  readonly workflowId: string;
  /** The input of its executions; JSON. Default: none. */
  readonly input?: unknown;
  /** The user its executions belong to. Default: none. */
  readonly userId?: string | undefined;
  /** Further data for the steps' `context`; JSON. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Refused unless the schedule has this revision; 0: unless there is none. Default: any. */
  readonly ifRevision?: number | undefined;
}

export interface ListSchedulesOptions {
  readonly workflowId?: string | undefined;
  readonly userId?: string | undefined;
  /** The `nextCursor` of the page before. Default: from the first on. */
  readonly cursor?: string | undefined;
  /** At most 200. Default: 100. */
  readonly limit?: number | undefined;
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
  >;

/** Writes that lose against others are decided again so many times. */
const maxTries = 10;
const maxPage = 200;

export class Schedules implements FiredSchedules {
  readonly #engine: () => ScheduleParts;
  readonly #ready: () => Promise<void>;
  /** The hash of the schedules that this process declares, by workflow. */
  readonly #hashes: ReadonlyMap<string, string>;
  /** Declares the schedules in code. */
  readonly sets: ScheduleSets;

  constructor(
    engine: () => ScheduleParts,
    workflows: ReadonlyMap<string, WorkflowDefinition>,
    ready: () => Promise<void>,
  ) {
    this.#engine = engine;
    this.#ready = ready;
    this.#hashes = new Map([...workflows.values()].map((each) => [each.id, hashOfSchedules(each)]));
    this.sets = new ScheduleSets(engine, this.#hashes, (workflow) => this.#declare(workflow));
  }

  /** Keeps a schedule, or replaces one. One that is the same already keeps its revision. */
  async set(scheduleId: string, options: SetScheduleOptions): Promise<Schedule> {
    await this.#ready();
    const engine = this.#engine();
    checkScheduleId(scheduleId);
    const { workflowId, userId, input, ifRevision } = options;
    const workflow = engine.workflow(workflowId);
    const refuse = (option: string, problem: string) => new InvalidOptionError({ option, problem });
    const spec = readScheduleOptions(options, refuse);
    const problem = problemWithTags(spec.tags);
    if (problem !== undefined) throw refuse("tags", problem);
    checkOptions({ userId, context: options.context });
    const given = {
      ...spec,
      origin: "api" as const,
      input: toJson(input, "input") ?? null,
      context: contextText({ context: options.context }),
      set: null,
    };
    // The checks of a start, without the start.
    await prepareStart(engine, workflowId, input, { userId, context: options.context, tags: spec.tags });
    return this.#update(scheduleId, (stored, now) => {
      const before = stored && readRecord(stored.body);
      if (ifRevision !== undefined && ifRevision !== (before?.revision ?? 0))
        throw new ScheduleRevisionError({ scheduleId, revision: before?.revision ?? 0 });
      if (before?.origin === "code") throw declaredInCode(scheduleId);
      if (stored !== undefined && (stored.userId ?? undefined) !== userId)
        throw new ScheduleConflictError({ scheduleId, problem: "belongs to another user" });
      const owner = { workflowId: workflow.id, userId: userId ?? null };
      if (
        before !== undefined &&
        stored?.workflowId === workflow.id &&
        isSame(before, { ...before, ...given })
      )
        return undefined;
      return { ...owner, record: changedRecord(before, given, now) };
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
  async pause(scheduleId: string, options: { readonly reason?: string | undefined } = {}): Promise<Schedule> {
    return this.#state(scheduleId, "paused", options.reason ?? null);
  }

  /** Continues with the next nominal time; also one that is broken. */
  async resume(scheduleId: string): Promise<Schedule> {
    return this.#state(scheduleId, "active", null);
  }

  /** Starts an execution now, beside the times of the schedule and whatever of it runs. */
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
      const result = await this.#start(stored, step, start);
      if (result === "written") return { executionId: start.executionId };
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

  /** The user of a schedule, for permission; undefined where there is none. */
  async idsOf(
    scheduleId: string,
  ): Promise<{ readonly workflowId: string; readonly userId: string | null } | undefined> {
    await this.#ready();
    const found = await this.#engine().store.schedules.read(scheduleId);
    return found?.kind === "schedule" ? { workflowId: found.workflowId, userId: found.userId } : undefined;
  }

  async fire(scheduleId: string): Promise<Processed> {
    const engine = this.#engine();
    const taken = new Set<string>();
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await engine.store.schedules.read(scheduleId);
      if (stored?.kind !== "schedule" || stored.dueAt === null) return "refused";
      const before = readRecord(stored.body);
      if (before.set !== null && before.set !== this.#hashes.get(stored.workflowId)) {
        // Processes that declare it so fire it.
        this.sets.isForeign(stored.workflowId);
        return "later";
      }
      const now = engine.clock.now();
      const open = await this.#open(before.running);
      const step = decideOccurrences(scheduleId, before, { now, open, taken });
      const isSame = step.occurrences.length === 0 && dueAtOf(scheduleId, step.record, now) === stored.dueAt;
      if (isSame) return "refused";
      for (const executionId of step.cancel) await this.#cancel(executionId);
      const { start } = step;
      const result =
        start === null ? await this.#write(stored, step) : await this.#attempt(stored, step, start);
      if (result === "later") return "later";
      if (result === "exists" && start !== null) taken.add(start.executionId);
      if (result === "written") return this.#report(stored, before, step);
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

  /** Keeps the schedules of a workflow as this process declares them, and marks the others of its code as removed. */
  async #declare(workflow: WorkflowDefinition): Promise<void> {
    const { store } = this.#engine();
    const set = this.#hashes.get(workflow.id) ?? null;
    const declared = new Map(
      [...(workflow.schedules ?? [])].map(([name, { spec }]) => [scheduleIdOf(workflow.id, name), spec]),
    );
    for (const [scheduleId, spec] of declared)
      await this.#change(scheduleId, (stored, now) => declaredRow(workflow.id, spec, set, stored, now));
    for (let after: string | undefined; ; ) {
      const rows = await store.schedules.list({
        kind: "schedule",
        workflowId: workflow.id,
        after,
        limit: maxPage,
      });
      for (const { scheduleId, body } of rows) {
        const { origin, state } = readRecord(body);
        if (origin !== "code" || state === "removed" || declared.has(scheduleId)) continue;
        await this.#change(scheduleId, (stored) => {
          const before = stored && readRecord(stored.body);
          if (stored === undefined || before === undefined || before.state === "removed") return undefined;
          const note = "The code declares it no more";
          return { ...stored, record: { ...before, state: "removed", note, waiting: [] } };
        });
      }
      after = rows.at(-1)?.scheduleId;
      if (rows.length < maxPage || after === undefined) return;
    }
  }

  async #state(scheduleId: string, state: "active" | "paused", note: string | null): Promise<Schedule> {
    return this.#update(scheduleId, (stored, now) => {
      if (stored === undefined) throw new ScheduleNotFoundError({ scheduleId });
      const before = readRecord(stored.body);
      if (before.state === "removed") throw new ScheduleConflictError({ scheduleId, problem: "is removed" });
      if (before.state === state) return undefined;
      const cursorAt = state === "active" ? Math.max(before.cursorAt, now) : before.cursorAt;
      return { ...stored, record: { ...before, state, note, cursorAt, invalid: 0, failed: 0 } };
    });
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
      const { workflowId, userId, record } = decided;
      const row = rowOf({ scheduleId, workflowId, userId }, record, stored?.occurrences ?? "[]", now);
      const change = { scheduleId, expected: stored?.version ?? null, row };
      if ((await store.schedules.change(change)) !== "written") continue;
      this.#wakeUp(row);
      return row;
    }
    throw new ScheduleConflictError({ scheduleId, problem: "changes too often" });
  }

  /** Starts an occurrence; an input that does not fit is recorded in its place. */
  async #attempt(
    stored: StoredSchedule,
    step: ScheduleStep,
    start: OccurrenceStart,
  ): Promise<ChangeScheduleResult | "later"> {
    try {
      return await this.#start(stored, step, start);
    } catch (error) {
      if (!(error instanceof InvalidInput)) {
        // The process is full, or it stops.
        if (error instanceof AndanteError && error.status === 503) return "later";
        throw error;
      }
      const invalid = withInvalidInput(step, readRecord(stored.body), error.message);
      const { scheduleId, workflowId } = stored;
      const { logger } = this.#engine();
      const result = await this.#write(stored, invalid);
      if (result === "written")
        logger.warn(
          { err: error.cause, scheduleId, workflowId },
          "the input of a schedule does not fit its workflow",
        );
      return result;
    }
  }

  /** The execution and the row are one write. */
  async #start(
    stored: StoredSchedule,
    { record, occurrences }: ScheduleStep,
    { at, executionId }: OccurrenceStart,
  ): Promise<ChangeScheduleResult> {
    const engine = this.#engine();
    const { scheduleId, workflowId, userId, version: expected } = stored;
    const now = engine.clock.now();
    const started = { ...record, invalid: 0 };
    const row = rowOf(stored, started, withOccurrences(stored.occurrences, occurrences), now);
    const options = {
      ...{ executionId, exclusive: true, tags: record.tags, context: JSON.parse(record.context) },
      ...(userId !== null && { userId }),
    };
    let result: ChangeScheduleResult | undefined;
    const prepared = await this.#input(stored, record, at).then((input) =>
      prepareStart(engine, workflowId, input, options, {
        links: linkToSchedule({ scheduleId, at }),
        write: async (execution) => {
          result = await engine.store.schedules.change({ scheduleId, expected, row, create: execution });
          return { created: result === "written" };
        },
      }).catch(invalidInput),
    );
    try {
      await prepared.create();
    } catch (error) {
      if (result === undefined) throw error;
    }
    if (result === "written") this.#wakeUp(row);
    return result ?? "changed";
  }

  /** Undefined input stays undefined. */
  async #input(
    { workflowId, scheduleId }: StoredSchedule,
    { origin, input }: ScheduleRecord,
    at: number,
  ): Promise<unknown> {
    if (origin === "api") return input === null ? undefined : JSON.parse(input);
    const { schedules } = this.#engine().workflow(workflowId);
    const given = schedules?.get(scheduleId.slice(workflowId.length + 1))?.input;
    try {
      return typeof given === "function" ? await given({ at: new Date(at) }) : given;
    } catch (error) {
      return invalidInput(error);
    }
  }

  async #write(stored: StoredSchedule, { record, occurrences }: ScheduleStep): Promise<ChangeScheduleResult> {
    const { store, clock } = this.#engine();
    const { scheduleId, version: expected } = stored;
    const row = rowOf(stored, record, withOccurrences(stored.occurrences, occurrences), clock.now());
    const result = await store.schedules.change({ scheduleId, expected, row });
    if (result === "written") this.#wakeUp(row);
    return result;
  }

  #report(
    { scheduleId, workflowId }: StoredSchedule,
    before: ScheduleRecord,
    { record }: ScheduleStep,
  ): Processed {
    const { logger } = this.#engine();
    const missed = record.missed - before.missed;
    if (missed > 0) logger.warn({ scheduleId, workflowId, missed }, "occurrences of a schedule were missed");
    return "done";
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
) => (Pick<StoredSchedule, "workflowId" | "userId"> & { readonly record: ScheduleRecord }) | undefined;

/** The input of an occurrence does not fit, or the host's function for it has thrown. */
class InvalidInput extends Error {}

function invalidInput(cause: unknown): never {
  const isInput = cause instanceof InputValidationError || cause instanceof TooLargeError;
  if (cause instanceof AndanteError && !isInput) throw cause;
  throw new InvalidInput(cause instanceof Error ? cause.message : String(cause), { cause });
}

function rowOf(
  { scheduleId, workflowId, userId }: Pick<StoredSchedule, "scheduleId" | "workflowId" | "userId">,
  record: ScheduleRecord,
  occurrences: string,
  now: number,
): StoredSchedule {
  const dueAt = dueAtOf(scheduleId, record, now);
  const body = JSON.stringify(record);
  return {
    scheduleId,
    kind: "schedule",
    workflowId,
    userId,
    dueAt,
    version: randomUUID(),
    body,
    occurrences,
  };
}

type Given = ScheduleSpec & Pick<ScheduleRecord, "origin" | "input" | "context" | "set">;

/** From now on: what its former times have left undone stays so. A pause stays. */
function changedRecord(before: ScheduleRecord | undefined, given: Given, now: number): ScheduleRecord {
  const isPaused = before?.state === "paused";
  return {
    ...{ running: [], lastAt: null, lastExecutionId: null, started: 0, skipped: 0, missed: 0 },
    ...before,
    ...given,
    ...{ waiting: [], invalid: 0, failed: 0, cursorAt: now },
    revision: (before?.revision ?? 0) + 1,
    state: isPaused ? "paused" : "active",
    note: isPaused ? before.note : null,
  };
}

/** The parts that a caller gives. */
function isSame(before: ScheduleRecord, after: ScheduleRecord): boolean {
  if (before.state === "removed" || before.state === "broken") return false;
  return canonicalJson(JSON.stringify(before)) === canonicalJson(JSON.stringify(after));
}

function declaredRow(
  workflowId: string,
  spec: ScheduleSpec,
  set: string | null,
  stored: StoredSchedule | undefined,
  now: number,
): ReturnType<Decide> {
  const before = stored && readRecord(stored.body);
  const given = { ...spec, origin: "code", input: null, context: "{}" } as const;
  if (before !== undefined && isSame(before, { ...before, ...given })) {
    // Another set with the same schedule in it.
    return before.set === set ? undefined : { workflowId, userId: null, record: { ...before, set } };
  }
  return { workflowId, userId: null, record: changedRecord(before, { ...given, set }, now) };
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
