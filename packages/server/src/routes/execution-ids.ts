// The ids of an execution for calls of `authorize`, from its row.
import type { Andante } from "@andante/core";
import { entryIds } from "../auth/entry-ids.ts";
import { givenIds, type Ids } from "../auth/permission.ts";
import type { RouteContext } from "../route.ts";

type PathOf = Pick<RouteContext, "andante" | "params">;

interface StartOf extends PathOf {
  readonly body: {
    readonly options?: { executionId?: string | undefined; conversationId?: string | undefined } | undefined;
  };
}

/** For routes of one execution. None for an execution of another workflow than the path's, which is a 404. */
export function executionInPath({ andante, params }: PathOf): Promise<readonly Ids[]> {
  return idsOf(andante, params.executionId, params.id);
}

/** For a start: the conversation in the body, and the existing execution with the given id, which is returned. */
export async function executionInBody({ andante, params, body }: StartOf): Promise<readonly Ids[]> {
  const { executionId, conversationId } = body.options ?? {};
  const existing = await idsOf(andante, executionId, params.id);
  return conversationId === undefined ? existing : [{ conversationId }, ...existing];
}

/** For a replay: both the source and the execution that has the given id. */
export async function replayedExecution(known: StartOf): Promise<readonly Ids[]> {
  return [...(await executionInPath(known)), ...(await executionInBody(known))];
}

async function idsOf(andante: Andante, executionId = "", workflowId?: string): Promise<readonly Ids[]> {
  const found = executionId === "" ? undefined : await andante.idsOf(executionId);
  if (found === undefined || (workflowId !== undefined && found.workflowId !== workflowId)) return [];
  return [givenIds(entryIds(found))];
}
