// The host decides who may do what.
import { ForbiddenError } from "../errors/auth-errors.ts";
import type { Caller } from "./gate.ts";

/** What the host is asked. `user` is undefined when the caller is not authenticated. */
export interface AuthorizationRequest extends Caller {
  /** Such as `workflows.execute`, `executions.resume` or `executions.list`. */
  readonly action: string;
  /** The parameters of the path: `id` of the workflow or agent, `executionId`. */
  readonly resource: Readonly<Record<string, string>>;
}

/** True allows it, false is a 403, `own` allows it for what is the caller's: a list shows no more than that. */
export type Authorize = (request: AuthorizationRequest) => boolean | "own" | Promise<boolean | "own">;

/** How much a list may show. */
export type Scope = "all" | "own";

/** Asks the host; throws when it refuses. */
export async function decide(
  authorize: Authorize,
  request: AuthorizationRequest,
  ownerOf: (workflowId: string, executionId: string) => Promise<unknown>,
): Promise<Scope> {
  const decision = await authorize(request);
  const { action, userId } = request;
  const { id, executionId } = request.resource;
  // Only a clear yes is one: a host in plain JavaScript may have forgotten to return anything.
  if (decision !== true && decision !== "own") throw new ForbiddenError({ action });
  if (decision === true) return "all";
  if (id !== undefined && executionId !== undefined) {
    const mine = userId !== undefined && (await ownerOf(id, executionId)) === userId;
    if (!mine) throw new ForbiddenError({ action });
  }
  return "own";
}
