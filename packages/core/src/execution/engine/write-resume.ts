// Writes a resume, by a caller or by a deadline, and continues the execution: of many writers exactly one wins.
import { decodeEvent } from "../../journal/codec.ts";
import { pageOf } from "../../journal/read-journal.ts";
import type { Resume, ResumeResult } from "../../store/store.ts";
import type { ExecutionFold } from "../run/execution-fold.ts";
import { afterResume } from "./after-resume.ts";
import type { ClaimOnItsWay } from "./claims.ts";
import type { Engine } from "./engine.ts";
import type { LoadableState } from "./engine-kind.ts";
import { addEvents, type TracedFold } from "./folds.ts";

export interface ResumeToWrite {
  readonly resume: Resume;
  /** The execution as it was read before. */
  readonly state: LoadableState;
  /** Its journal up to there; undefined when it was not read. */
  readonly journal?: TracedFold | undefined;
  /** The time of the deadline that resumes it; undefined for a caller. */
  readonly dueAt?: number | undefined;
}

/** The parts of the engine that a resume is written with. */
export type WriteResumeParts = Pick<
  Engine,
  | "store"
  | "kind"
  | "claims"
  | "observation"
  | "progress"
  | "closing"
  | "has"
  | "load"
  | "admission"
  | "driver"
>;

/** False when the suspension is no longer open. `written` is called between the write and everything that follows from it. */
export async function writeResume(
  engine: WriteResumeParts,
  { resume, state, journal, dueAt }: ResumeToWrite,
  written?: () => void,
): Promise<boolean> {
  const { executionId, claim } = resume;
  const kind = engine.kind(state.execution.kind);
  const take = async (onItsWay: ClaimOnItsWay) => {
    const { result, isCurrent } = await writeAfter(engine.store, resume, journal?.fold);
    if (result.kind === "refused") return result;
    written?.();
    if (kind.hasSpans) reportResumed(engine, state, resume);
    const page = pageOf(result.events);
    kind.publish(state.execution, page.events);
    engine.progress.notify();
    if (result.kind === "owned") return result;
    const isKnown = isCurrent && !onItsWay.isOvertaken;
    const after = isKnown ? afterResume(state, resume, result, page) : undefined;
    if (after !== undefined && journal !== undefined) addEvents(journal, page);
    const resumed = after && { state: after, journal };
    const claimed = {
      executionId,
      kind,
      claim,
      user: state.execution.userId,
      dueAt,
      resumed,
    };
    // A loaded one has a slot already, and a process that stops only releases the claim.
    if (engine.closing || !kind.takesSlot || engine.has(executionId)) await engine.load(claimed);
    else await engine.admission.runWhenFree(claimed);
    return result;
  };
  const result = await engine.claims.during(claim.token, take, executionId);
  if (result.kind === "owned") {
    const driver = await engine.driver(executionId);
    driver?.deliver(result.events.map(decodeEvent));
  }
  return result.kind !== "refused";
}

/** The answers of people count with the time that they took: not a deadline, an event, or a pause that is lifted. */
function reportResumed(
  { observation }: Pick<Engine, "observation">,
  { execution, suspensions }: LoadableState,
  { suspensionIds, events, byDeadline }: Resume,
): void {
  const at = events[0]?.timestamp ?? 0;
  const answered = suspensions.filter(
    ({ suspensionId, path, awaits }) =>
      !byDeadline && path !== null && !awaits && suspensionIds.includes(suspensionId),
  );
  const waits = answered.map(({ suspendedAt }) => Math.max(0, at - suspendedAt));
  observation.resumed(execution.workflowId, at, waits);
}

/**
 * Writes the resume on the condition that the journal still ends with the last event of the fold: a failover may have
 * replaced it since the fold was compared. Otherwise the resume is written to the journal as it is, which is read again.
 */
async function writeAfter(
  store: Pick<Engine["store"], "resume">,
  resume: Resume,
  fold: ExecutionFold | undefined,
): Promise<{ readonly result: ResumeResult; readonly isCurrent: boolean }> {
  if (fold !== undefined) {
    const last = { sequence: fold.sequence, at: fold.lastAt };
    const result = await store.resume({ ...resume, last });
    if (result.kind !== "refused") return { result, isCurrent: true };
  }
  return { result: await store.resume(resume), isCurrent: fold === undefined };
}
