// Writes a resume, by a caller or by a deadline, and continues the execution: of many writers exactly one wins.
import { decodeEvent } from "../../journal/codec.ts";
import { pageOf } from "../../journal/read-journal.ts";
import type { Resume } from "../../store/store.ts";
import { addPage, type ExecutionFold } from "../run/execution-fold.ts";
import { afterResume, type LoadableState } from "./after-resume.ts";
import type { ClaimOnItsWay } from "./claims.ts";
import type { Engine } from "./engine.ts";

export interface ResumeToWrite {
  readonly resume: Resume;
  /** The execution as it was read before. */
  readonly state: LoadableState;
  /** Its journal up to there; undefined when it was not read. */
  readonly fold?: ExecutionFold | undefined;
  /** The time of the deadline that resumes it; undefined for a caller. */
  readonly dueAt?: number | undefined;
}

/** The parts of the engine that a resume is written with. */
export type WriteResumeParts = Pick<
  Engine,
  | "store"
  | "workflowKind"
  | "claims"
  | "observation"
  | "publish"
  | "closing"
  | "has"
  | "load"
  | "admission"
  | "driver"
>;

/** False when the suspension is no longer open. `written` is called between the write and everything that follows from it. */
export async function writeResume(
  engine: WriteResumeParts,
  { resume, state, fold, dueAt }: ResumeToWrite,
  written?: () => void,
): Promise<boolean> {
  const { executionId, claim } = resume;
  const take = async (onItsWay: ClaimOnItsWay) => {
    const result = await engine.store.resume(resume);
    if (result.kind === "refused") return result;
    written?.();
    engine.observation.resumed(state.execution.workflowId);
    const page = pageOf(result.events);
    engine.publish(state.execution, page.events);
    if (result.kind === "owned") return result;
    const after = onItsWay.isOvertaken ? undefined : afterResume(state, resume, result, page);
    if (after !== undefined && fold !== undefined) addPage(fold, page);
    const resumed = after && { state: after, fold };
    const claimed = {
      executionId,
      kind: engine.workflowKind,
      claim,
      user: state.execution.userId,
      dueAt,
      resumed,
    };
    // A loaded one has a slot already, and a process that stops only releases the claim.
    if (engine.closing || engine.has(executionId)) await engine.load(claimed);
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
