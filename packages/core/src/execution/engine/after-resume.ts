// The state of an execution without a read: after it has gone idle here, and after a resume.
import type { JournalPage } from "../../journal/read-journal.ts";
import type { Resume, ResumeResult } from "../../store/store.ts";
import type { IdleExecution } from "../run/loaded-execution.ts";
import type { LoadableState, RunRow } from "./engine-kind.ts";
import type { TracedFold } from "./folds.ts";

/** A resumed execution that is about to be loaded. */
export interface ResumedExecution {
  readonly state: LoadableState;
  /** The journal up to the state; undefined when it has to be read. */
  readonly journal: TracedFold | undefined;
}

/**
 * The state of an execution that has gone idle here with this definition. Undefined unless it is suspended and nothing else:
 * only a resume or an end changes it then, while one that sleeps may be paused or woken.
 */
export function idleState(
  { fold, suspensions, timers, stepIndex, timeoutAt }: IdleExecution,
  row: RunRow & Pick<LoadableState["execution"], "kind">,
  definition: string,
): LoadableState | undefined {
  if (suspensions.length === 0 || timers.length > 0) return undefined;
  const { startAt, sequence, journal } = fold;
  const { resumes } = journal;
  const nothing = { agentId: null, endAt: null, parked: null, paused: false } as const;
  const position = { startAt, timeoutAt, sequence, stepIndex, resumes };
  const execution = { ...row, ...nothing, ...position, status: "suspended", definition } as const;
  return { execution, suspensions, timers };
}

/**
 * Undefined when the claim was not granted, or the journal has events between the state and the resume. Every change of the
 * suspensions has an event; a timer without one is set again where it is missing.
 */
export function afterResume(
  { execution, suspensions, timers }: LoadableState,
  { suspensionIds, rewind, pausedFor = 0 }: Pick<Resume, "suspensionIds" | "rewind" | "pausedFor">,
  { kind }: ResumeResult,
  { stored: events }: JournalPage,
): LoadableState | undefined {
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
    timeoutAt: execution.timeoutAt === null ? null : execution.timeoutAt + pausedFor,
    parked: null,
  };
  return { execution: row, suspensions: open, timers: rewind === null ? timers : [] };
}
