// Schedules: the commands of callers. `sets` declares those in code, `fire` starts the occurrences that are due.
import { randomUUID } from "node:crypto";
import { overlapOfPrompts, problemOfPrompt } from "../../agent/call/agent-schedules.ts";
import type { CallableAgent } from "../../agent/call/callable-agent.ts";
import {
  AgentNotFoundError,
  AndanteError,
  InvalidOptionError,
  ScheduleConflictError,
  ScheduleLimitError,
  ScheduleNotFoundError,
  ScheduleRevisionError,
} from "../../errors/index.ts";
import { changedRecord, type GivenRecord, isSame } from "../../schedule/changed-record.ts";
import { lastTimes } from "../../schedule/decide-occurrences.ts";
import { patternOf } from "../../schedule/occurrences.ts";
import { readScheduleOptions, type ScheduleOptions } from "../../schedule/schedule-options.ts";
import {
  executionIdOf,
  maxRunning,
  maxWaiting,
  readOccurrences,
  readRecord,
  type ScheduleRecord,
} from "../../schedule/schedule-record.ts";
import type { StoredSchedule } from "../../store/schedule-store.ts";
import { callerPageLength, cutPage } from "../../store/text-length.ts";
import { checkId, checkUrlId } from "../../values/check-id.ts";
import { toJson } from "../../values/json.ts";
import { problemWithTags } from "../../workflow/tags.ts";
import type { FiredSchedules } from "../engine/engine.ts";
import { correctCursors, declareSchedules } from "./declare-schedules.ts";
import { problemOfPost, ScheduleFiring, type ScheduleParts } from "./fire-schedules.ts";
import { type ScheduleOwners, type ScheduleTarget, setIdOf } from "./schedule-owners.ts";
import { ScheduleSets } from "./schedule-sets.ts";
import {
  type OccurrenceView,
  previewOf,
  type Schedule,
  type SchedulePreview,
  viewOccurrence,
  viewSchedule,
} from "./schedule-views.ts";
import { checkOptions, contextText, prepareStart } from "./start.ts";
import { InvalidInput, type OccurrenceParts } from "./start-occurrence.ts";
import { changeSchedule, type DecideSchedule, maxTries } from "./write-schedule.ts";

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

const maxPage = 200;
/** Characters. */
const maxReason = 1000;

export interface ScheduleHost extends Pick<OccurrenceParts, "post"> {
  readonly owners: ScheduleOwners;
  readonly agents: ReadonlyMap<string, CallableAgent>;
  /** How many schedules one user has at most. */
  readonly maxPerUser: number;
  ready(): Promise<void>;
}

export class Schedules implements FiredSchedules {
  readonly #engine: () => ScheduleParts;
  readonly #host: ScheduleHost;
  readonly #firing: ScheduleFiring;
  /** Declares the schedules in code. */
  readonly sets: ScheduleSets;

  constructor(engine: () => ScheduleParts, host: ScheduleHost) {
    this.#engine = engine;
    this.#host = host;
    this.sets = new ScheduleSets(engine, host.owners, {
      declare: (owner) => declareSchedules(engine(), owner),
      correctCursors: () => correctCursors(engine()),
    });
    this.#firing = new ScheduleFiring(engine, { ...host, isOwn: (schedule) => this.sets.isOwn(schedule) });
  }

  /** Keeps a schedule, or replaces one. One that is the same already keeps its revision. */
  async set(scheduleId: string, options: SetScheduleOptions): Promise<Schedule> {
    await this.#ready();
    await this.#checkNewId(scheduleId);
    const { userId, ifRevision } = options;
    const { target, given } = await this.#given(options);
    const isNew = userId !== undefined && (await this.idsOf(scheduleId)) === undefined;
    if (isNew) await this.#checkRoom(userId, 1);
    const made = await this.#update(scheduleId, (stored, now) => {
      const before = stored && readRecord(stored.body);
      if (ifRevision !== undefined && ifRevision !== (before?.revision ?? 0))
        throw new ScheduleRevisionError({ scheduleId, revision: before?.revision ?? 0 });
      if (stored !== undefined && (stored.userId ?? undefined) !== userId)
        throw new ScheduleConflictError({ scheduleId, problem: "belongs to another user" });
      const isSameTarget = stored !== undefined && setIdOf(stored) === setIdOf(target);
      if (before !== undefined && isSameTarget && isSame(before, { ...before, ...given })) return undefined;
      return { ...target, userId: userId ?? null, record: changedRecord(before, given, now) };
    });
    // Callers at the same time find the schedules of each other.
    if (isNew)
      await this.#checkRoom(userId, 0).catch(async (error) => {
        await this.remove(scheduleId);
        throw error;
      });
    return made;
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
      length: callerPageLength,
    });
    const { page, more } = cutPage(rows, limit, callerPageLength);
    return { schedules: page.map((row) => this.#view(row)), nextCursor: more?.scheduleId ?? null };
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
      const result = await this.#firing.begin(stored, step, start).catch((error: unknown) => {
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
    const known = new Set<string>();
    for (const at of all) {
      const start = { at, executionId: executionIdOf(scheduleId, at) };
      if (await this.#firing.hasStarted(scheduleId, start)) known.add(start.executionId);
    }
    // A message of an agent is no execution.
    for (const { outcome, executionId } of readOccurrences(stored.occurrences))
      if (outcome === "started" && executionId !== null) known.add(executionId);
    const times = all.filter((at) => !known.has(executionIdOf(scheduleId, at)));
    const texts = times.map((at) => new Date(at).toISOString());
    if (dryRun || times.length === 0) return { times: texts };
    const { running } = readRecord(stored.body);
    const open = await this.#firing.openOf(running);
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
      if (origin === "code" && state !== "removed") throw declaredInCode(stored);
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

  fire(scheduleId: string): ReturnType<FiredSchedules["fire"]> {
    return this.#firing.fire(scheduleId);
  }

  ended(...end: Parameters<FiredSchedules["ended"]>): Promise<void> {
    return this.#firing.ended(...end);
  }

  /** Refuses the id of a schedule in code with the place that declares it, and any other with a character of those. */
  async #checkNewId(scheduleId: string): Promise<void> {
    checkId(scheduleId, "scheduleId");
    if (typeof scheduleId === "string" && isNewId(scheduleId)) return;
    const stored =
      typeof scheduleId === "string" ? await this.#engine().store.schedules.read(scheduleId) : undefined;
    if (stored?.kind === "schedule" && readRecord(stored.body).state !== "removed")
      throw declaredInCode(stored);
    const problem = "expected 1 to 100 letters, digits, and the characters - _ . ~";
    throw new InvalidOptionError({ option: "scheduleId", problem });
  }

  /** Refuses a user with more schedules than allow so many further ones. */
  async #checkRoom(userId: string, further: number): Promise<void> {
    const limit = this.#host.maxPerUser - further;
    const query = { kind: "schedule", userId, limit: limit + 1, brief: true } as const;
    if ((await this.#engine().store.schedules.list(query)).length > limit)
      throw new ScheduleLimitError({ limit: this.#host.maxPerUser });
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
      const cursorAt = state === "active" ? now : before.cursorAt;
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

  async #update(scheduleId: string, decide: DecideSchedule): Promise<Schedule> {
    await this.#ready();
    const row = await changeSchedule(this.#engine(), scheduleId, decide);
    if (row === undefined) throw new ScheduleNotFoundError({ scheduleId });
    return this.#view(row);
  }

  #view(row: Omit<StoredSchedule, "occurrences">): Schedule {
    return viewSchedule(row, readRecord(row.body));
  }
}

const onlyOfWorkflows = ["input", "overlap", "pauseOnFailure", "tags"] as const;
const onlyOfAgents = ["prompt", "conversationId"] as const;

function declaredInCode({ scheduleId, workflowId, agentId }: StoredSchedule): ScheduleConflictError {
  const owner = agentId === null ? `workflow "${workflowId}"` : `agent "${agentId}"`;
  const name = scheduleId.slice(scheduleId.lastIndexOf(":") + 1);
  const problem = `is declared in the code of ${owner}, schedule "${name}": change it there, or pause it`;
  return new ScheduleConflictError({ scheduleId, problem });
}

/** True for an id that a caller may give: those of the code have a colon. */
function isNewId(scheduleId: string): boolean {
  return /^[\w.~-]{1,100}$/.test(scheduleId) && !/^\.+$/.test(scheduleId);
}

function timeOf(option: string, given: Date | string | number): number {
  const time = typeof given === "number" ? given : new Date(given).getTime();
  if (Number.isSafeInteger(time) && time >= 0) return time;
  throw new InvalidOptionError({ option, problem: "expected a date" });
}
