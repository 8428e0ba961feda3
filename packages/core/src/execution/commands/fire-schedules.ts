// The occurrences of schedules that are due: each starts an execution or posts a prompt, once.
import { randomUUID } from "node:crypto";
import { AndanteError } from "../../errors/index.ts";
import { scheduleIn } from "../../schedule/cause.ts";
import {
  decideOccurrences,
  inConversation,
  type OccurrenceStart,
  type ScheduleStep,
  withExecutionId,
  withInvalidInput,
  withRefused,
  withStartWaiting,
} from "../../schedule/decide-occurrences.ts";
import { dueAtOf, longestWait, readRecord, type ScheduleRecord } from "../../schedule/schedule-record.ts";
import type { ChangeScheduleResult, StoredSchedule } from "../../store/schedule-store.ts";
import type { ExecutionRow } from "../../store/store.ts";
import type { Engine } from "../engine/engine.ts";
import type { Processed } from "../engine/scheduler.ts";
import { cancelExecution } from "./cancel.ts";
import type { ScheduleTarget } from "./schedule-owners.ts";
import type { StartParts } from "./start.ts";
import {
  decidedRow,
  InvalidInput,
  type OccurrenceParts,
  postOccurrence,
  startExecution,
} from "./start-occurrence.ts";
import { changeSchedule, maxTries, type WriteParts, wakeUpFor } from "./write-schedule.ts";

/** The parts of the engine that schedules use. */
export type ScheduleParts = StartParts &
  WriteParts &
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
    | "closing"
    | "cluster"
    | "outbox"
  >;

interface FiringHost extends Pick<OccurrenceParts, "owners" | "post"> {
  /** Whether this process declares a schedule as it is kept. */
  isOwn(schedule: ScheduleTarget & { readonly set: string | null }): boolean;
}

/** Milliseconds until a conversation that waits is looked at again. */
const shortestWait = 1000;

/** Why the conversation of an agent did not take a prompt. */
export const problemOfPost = {
  waits: "has a conversation that waits for a person or a tool",
  full: "has a conversation whose queue is full",
  foreign: "has the conversation of another user",
} as const;

export class ScheduleFiring {
  readonly #engine: () => ScheduleParts;
  readonly #host: FiringHost;

  constructor(engine: () => ScheduleParts, host: FiringHost) {
    this.#engine = engine;
    this.#host = host;
  }

  async fire(scheduleId: string): Promise<Processed> {
    const engine = this.#engine();
    const taken = new Set<string>();
    const foreign = new Set<string>();
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await engine.store.schedules.read(scheduleId);
      if (stored?.kind !== "schedule" || stored.dueAt === null) return "refused";
      const before = readRecord(stored.body);
      if (before.state === "removed") return this.#forget(stored, before);
      // Processes that declare it so fire it.
      if (!this.#host.isOwn({ ...stored, set: before.set })) return "later";
      const now = engine.clock.now();
      const open = await this.openOf(before.running);
      const decided = decideOccurrences(scheduleId, before, { now, open, taken });
      const isForeign = decided.start !== null && foreign.has(decided.start.executionId);
      const step = isForeign
        ? withExecutionId(decided, `${decided.start.executionId}-${randomUUID().slice(0, 8)}`)
        : decided;
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
      if (result === "put-off") return "done";
      // Another process was first, as with most schedules of several nodes: where it is still due, it is found again.
      if (result === "changed" && isKept) return "refused";
      // A caller may choose the id of an occurrence that is to come: that keeps no occurrence from starting.
      if (result === "exists" && start !== null)
        ((await this.hasStarted(scheduleId, start)) ? taken : foreign).add(start.executionId);
      if (result !== "written") continue;
      this.#report(stored, before, step);
      if (isKept) return "done";
    }
    return "later";
  }

  /** One that the code has no more has been in lists for long enough. */
  async #forget({ scheduleId, version }: StoredSchedule, record: ScheduleRecord): Promise<Processed> {
    const { store, clock } = this.#engine();
    if ((dueAtOf(scheduleId, record, clock.now()) ?? 0) > clock.now()) return "refused";
    const result = await store.schedules.change({ scheduleId, expected: version, row: null });
    return result === "written" ? "done" : "refused";
  }

  async ended(
    scheduleId: string,
    { executionId, status }: Pick<ExecutionRow, "executionId" | "status">,
  ): Promise<void> {
    await changeSchedule(this.#engine(), scheduleId, (stored) => {
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

  /** Starts an occurrence; an input that does not fit, or a conversation that takes no prompt, is recorded in its place. */
  async #attempt(
    stored: StoredSchedule,
    step: ScheduleStep,
    start: OccurrenceStart,
  ): Promise<ChangeScheduleResult | "later" | "put-off"> {
    try {
      const result = await this.begin(stored, step, start);
      if (result === "waits") return await this.#putOff(stored, start);
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
        if (invalid.record.state === "broken")
          logger.warn(
            { scheduleId, ...of },
            "a schedule is broken: its input did not fit ten times in a row",
          );
      }
      return result;
    }
  }

  /**
   * The conversation is free again some time: looked at then, at first soon. A row that is due all the time would keep others out
   * of the query for due ones.
   */
  async #putOff(stored: StoredSchedule, { at }: OccurrenceStart): Promise<"put-off" | "changed"> {
    const { store, clock } = this.#engine();
    const { scheduleId, version: expected } = stored;
    const now = clock.now();
    const dueAt = now + Math.min(longestWait, Math.max(shortestWait, now - at));
    const row = { ...stored, dueAt, version: randomUUID() };
    if ((await store.schedules.change({ scheduleId, expected, row })) !== "written") return "changed";
    wakeUpFor(this.#engine(), row);
    return "put-off";
  }

  async begin(
    stored: StoredSchedule,
    step: ScheduleStep,
    start: OccurrenceStart,
  ): Promise<ChangeScheduleResult | Exclude<Awaited<ReturnType<OccurrenceParts["post"]>>, "posted">> {
    const parts = { engine: this.#engine(), ...this.#host };
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

  /** Whether the execution with the id of an occurrence is that occurrence. */
  async hasStarted(scheduleId: string, { at, executionId }: OccurrenceStart): Promise<boolean> {
    const state = await this.#engine().store.state(executionId);
    const cause = scheduleIn(state?.execution.links ?? null);
    return cause?.scheduleId === scheduleId && cause.at === at;
  }

  /** Those that have not ended, of the executions of a schedule. */
  async openOf(executionIds: readonly string[]): Promise<readonly string[]> {
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
    wakeUpFor(this.#engine(), row);
  }
}
