// Executions right after a resume: what the store holds of them is known without asking again.
import type { JournalPage } from "../../journal/read-journal.ts";
import type { ExecutionRow, Resume, ResumeResult, StoredExecution } from "../../store/store.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";
import type { FoldedRow } from "../run/execution-fold.ts";
import type { IdleExecution } from "../run/loaded-execution.ts";
import type { HookSubject } from "./call-hooks.ts";
import type { Definitions } from "./definitions.ts";

/** What has to be known of an execution to resume it and to continue it then. */
export interface ResumableExecution extends Pick<StoredExecution, "suspensions" | "timers"> {
  readonly execution: FoldedRow &
    HookSubject &
    Pick<
      ExecutionRow,
      "kind" | "status" | "endAt" | "timeoutAt" | "stepIndex" | "paused" | "resumes" | "definition" | "parked"
    >;
}

/** The part of it that an execution of a workflow has from its beginning. */
export type RunRow = HookSubject & Pick<ExecutionRow, "trace">;

/**
 * An execution that has gone idle here, as the store has it now. It ran with the current definition. Undefined where a time
 * will wake it: another process may then take it, run it with its own definition and stop before there is an event.
 */
export function idleExecution(
  row: RunRow,
  definitions: Definitions,
  { fold, timeoutAt, stepIndex, suspensions, timers }: IdleExecution,
): ResumableExecution | undefined {
  if (timers.length > 0) return undefined;
  const { startAt, sequence, journal } = fold;
  const status = suspensions.length > 0 ? ("suspended" as const) : ("running" as const);
  const { resumes } = journal;
  const definition = definitions.current(row.workflowId);
  const execution = {
    ...row,
    startAt,
    timeoutAt,
    endAt: null,
    status,
    sequence,
    stepIndex,
    resumes,
    kind: "workflow" as const,
    paused: false,
    definition,
    parked: null,
  };
  return { execution, suspensions, timers };
}

/** How long its texts are, without those that its journal shares. The input as it was sent is not one of them. */
export function textLength({ execution, suspensions }: ResumableExecution): number {
  let length = execution.context.length + (execution.input?.length ?? 0);
  for (const { reason, onDeadline, resumeSchema } of suspensions)
    length += reason.length + (onDeadline?.length ?? 0) + (resumeSchema?.length ?? 0);
  return length;
}

export interface ResumedExecution {
  readonly state: ResumableExecution;
  /** The events of the resume. */
  readonly page: JournalPage;
  /** The store has found the event before them to be the one that was known here. */
  readonly compared: boolean;
}

type AcceptedKind = Exclude<ResumeResult["kind"], "refused">;

/** Commands whose writes are remembered: a command follows another within milliseconds or finds its write in the store. */
const maxWrites = 1000;

/** Those that are about to be loaded here. */
export class ResumedExecutions {
  readonly #known = new TurnoverMap<string, ResumedExecution>();
  /** What callers have written to executions lately, by the number of the last event. */
  readonly #written = new TurnoverMap<string, number>();

  /**
   * `before` was read before the resume was written, `page` holds its events; undefined when the execution has to be read
   * again. `compared`: the resume named the last event before it.
   */
  add(
    before: ResumableExecution,
    resume: Pick<Resume, "suspensionIds" | "rewind">,
    kind: AcceptedKind,
    page: JournalPage,
    compared = false,
  ): ResumedExecution | undefined {
    const { executionId } = before.execution;
    const state = afterResume(before, resume, kind, page);
    const resumed = state && { state, page, compared };
    const last = page.stored.at(-1)?.sequence ?? 0;
    const later = (this.#written.get(executionId) ?? 0) > last;
    this.wrote(executionId, last);
    if (resumed === undefined || later) return undefined;
    this.#known.set(executionId, resumed);
    return resumed;
  }

  /** A caller has written an event of this number: a pause that comes before the execution is loaded must be seen. */
  wrote(executionId: string, sequence: number): void {
    const known = this.#known.get(executionId)?.state.execution.sequence;
    if (known !== undefined && sequence > known) this.#known.delete(executionId);
    const before = this.#written.get(executionId) ?? 0;
    this.#written.delete(executionId);
    this.#written.set(executionId, Math.max(before, sequence));
    const oldest = this.#written.oldest();
    if (this.#written.size > maxWrites && oldest !== undefined) this.#written.delete(oldest);
  }

  /** The same one, when nothing has happened since. It is being loaded. */
  take(executionId: string, resumed: ResumedExecution | undefined): ResumedExecution | undefined {
    const known = this.#known.get(executionId);
    if (known === undefined || known !== resumed) return undefined;
    this.#known.delete(executionId);
    return resumed;
  }
}

/**
 * Undefined when something else was written in between, or another process continues the execution: whatever changes its
 * suspensions leaves an event, and what sets a timer without one sets it again where it is missing.
 */
function afterResume(
  { execution, suspensions, timers }: ResumableExecution,
  { suspensionIds, rewind }: Pick<Resume, "suspensionIds" | "rewind">,
  kind: AcceptedKind,
  page: JournalPage,
): ResumableExecution | undefined {
  const { stored: events } = page;
  const last = events.at(-1);
  if (kind !== "claimed" || last === undefined || events[0]?.sequence !== execution.sequence + 1)
    return undefined;
  const open =
    rewind === null ? suspensions.filter((each) => !suspensionIds.includes(each.suspensionId)) : [];
  const row = {
    ...execution,
    sequence: last.sequence,
    resumes: execution.resumes + events.length,
    status: open.length > 0 ? ("suspended" as const) : ("running" as const),
    paused: open.some(({ path }) => path === null),
    stepIndex: rewind?.stepIndex ?? execution.stepIndex,
    parked: null,
  };
  return { execution: row, suspensions: open, timers: rewind === null ? timers : [] };
}
