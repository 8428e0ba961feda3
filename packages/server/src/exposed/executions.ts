// Executions as a caller of another protocol sees them: their state, their open suspensions, and resumes.
import type { ExecutionHandle, ExecutionState } from "@andante/core";
import { NotCancellableError } from "@andante/core/errors";
import { findVisible } from "../routes/executions.ts";
import { type InnerCall, rowOf } from "./inner-call.ts";

export type OpenSuspension = NonNullable<ExecutionState["suspensions"]>[number];

/** The state; an execution that the caller may not see does not exist. */
export function visibleState(call: InnerCall, executionId: string): Promise<ExecutionState> {
  return call.perform(rowOf("findExecution"), { params: { executionId } }, findVisible);
}

/** The suspensions of steps that the caller may resume. */
export async function questionsFor(
  call: InnerCall,
  { workflowId, executionId, ...state }: ExecutionState,
): Promise<readonly OpenSuspension[]> {
  const open = suspensionsOf(state).filter(({ stepPath }) => stepPath !== undefined);
  if (open.length === 0) return [];
  return (await call.may("executions.resume", { workflowId, executionId })) ? open : [];
}

export function suspensionsOf({
  suspensions,
  suspension,
}: Pick<ExecutionState, "suspensions" | "suspension">): readonly OpenSuspension[] {
  return suspensions ?? (suspension === undefined ? [] : [suspension]);
}

export function resumeSuspension(
  call: InnerCall,
  { workflowId, executionId }: ExecutionState,
  suspensionId: string,
  resumeData: unknown,
): Promise<ExecutionHandle> {
  const request = { params: { id: workflowId, executionId }, body: { resumeData } };
  return call.perform(rowOf("resumeExecution"), request, ({ caller }) =>
    call.service.andante.startResume(workflowId, executionId, resumeData, {
      suspensionId,
      userId: caller.userId,
    }),
  );
}

/** False for one that has ended. */
export async function cancelExecution(call: InnerCall, executionId: string): Promise<boolean> {
  try {
    await call.ask(rowOf("cancelFoundExecution"), { params: { executionId }, body: {} });
    return true;
  } catch (error) {
    if (error instanceof NotCancellableError) return false;
    throw error;
  }
}
