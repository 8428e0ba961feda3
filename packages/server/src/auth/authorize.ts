// The host's access policy; without an `authorize`, endpoints that reveal data show a caller its own.
import { ExecutionNotFoundError } from "@andante/core/errors";
import { ForbiddenError } from "../errors/auth-errors.ts";
import type { Caller } from "./gate.ts";

/** The argument of the host's function. `user` is undefined when the caller is not authenticated. */
export interface AuthorizationRequest extends Caller {
  /** Such as `workflows.execute`, `executions.resume`, `executions.list` or, for a socket, `logs.follow`. */
  readonly action: string;
  /**
   * The ids that are known: `workflowId`, `agentId`, `executionId`, `conversationId`, `userId` and others, from the path,
   * the filter, the body or the row. `id` repeats the workflow's or agent's for actions of workflows, executions and
   * agents.
   */
  readonly resource: Readonly<Record<string, string>>;
}

/** True allows it, false is a 403, `own` allows it for the caller's own: a list shows no more than that. */
export type Authorize = (request: AuthorizationRequest) => boolean | "own" | Promise<boolean | "own">;

/** How much the caller may see. */
export type Scope = "all" | "own";

/**
 * The default view of an endpoint once authentication is configured: `own` a caller its own, and a caller
 * without a token nothing; `outline` the same, but to a caller without a token the outline of everyone's.
 */
export type Reveals = "own" | "outline";

/** Refuses a caller that may see only its own when the execution in the path belongs to another user, or to none. */
export async function checkOwner(
  { action, userId, resource }: AuthorizationRequest,
  idsOf: (
    executionId: string,
  ) => Promise<{ readonly workflowId: string; readonly userId: string | null } | undefined>,
): Promise<void> {
  const { id, executionId } = resource;
  if (id === undefined || executionId === undefined) return;
  const found = await idsOf(executionId);
  if (found?.workflowId !== id) throw new ExecutionNotFoundError({ executionId });
  if (userId === undefined || found.userId !== userId) throw new ForbiddenError({ action });
}
