// The state of an execution after a resume: derived from the state before it and the events of the resume.
import type { JournalPage } from "../../journal/read-journal.ts";
import type { Resume, ResumeResult, StoredExecution } from "../../store/store.ts";
import type { TracedFold } from "./folds.ts";

/** The part of an execution's state that a load needs. */
export type LoadableState = Pick<StoredExecution, "execution" | "suspensions" | "timers">;

/** A resumed execution that is about to be loaded. */
export interface ResumedExecution {
  readonly state: LoadableState;
  /** The journal up to the state; undefined when it has to be read. */
  readonly journal: TracedFold | undefined;
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
