// The host's access policy; without an `authorize`, endpoints that reveal data show a caller only its own data.
import { ExecutionNotFoundError } from "@andante/core/errors";
import { ForbiddenError } from "../errors/auth-errors.ts";
import type { Caller } from "./gate.ts";

/** The argument of the host's function. `user` is undefined when the caller is not authenticated. */
export interface AuthorizationRequest extends Caller {
  /** Such as `workflows.execute`, `executions.resume`, `executions.list` or, for a socket, `logs.follow`. */
  readonly action: string;
  /**
   * The known ids: `workflowId`, `agentId`, `executionId`, `conversationId`, `userId` and others, from the path, the
   * filter, the body or the row. `id` repeats the id of the workflow or agent for actions on workflows, executions and
   * agents.
   */
  readonly resource: Readonly<Record<string, string>>;
}

/** True allows the action, false is a 403, `own` allows it for the caller's own data: lists show only that. */
export type Authorize = (request: AuthorizationRequest) => boolean | "own" | Promise<boolean | "own">;

/** How much the caller may see. */
export type Scope = "all" | "own";

/**
 * The default view of an endpoint with authentication: `own` shows a caller its own data, and nothing without a token;
 * `outline` does the same, but shows the outline of all data to a caller without a token.
 */
export type Reveals = "own" | "outline";

/** Refuses a caller limited to its own data when the execution in the path belongs to another user, or to none. */
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
