// Lists of executions: of one workflow, and of all.
import type { ListOptions } from "@andante/core";
import type { z } from "zod";
import { entryIds } from "../auth/entry-ids.ts";
import { type RouteContext, route } from "../route.ts";
import { executionPage, listQuery, workflowListQuery } from "../schemas/execution-schemas.ts";
import { knownWorkflow } from "./workflows.ts";

const tag = "Executions";

export const executionListRoutes = [
  route({
    method: "GET",
    path: "/workflows/:id/executions",
    access: "protected",
    action: "executions.list",
    resource: ["workflowId", "userId", "conversationId"],
    reveals: "own",
    costs: "read",
    operationId: "listWorkflowExecutions",
    summary: "List the executions of a workflow, newest first",
    tag,
    query: workflowListQuery,
    response: { kind: "json", description: "A page of executions", data: executionPage },
    errors: [400, 404],
    check: knownWorkflow,
    handle: (context) => listVisible(context, { ...context.query, workflowId: context.params.id ?? "" }),
  }),
  route({
    method: "GET",
    path: "/api/executions",
    access: "protected",
    action: "executions.list",
    resource: ["workflowId", "userId", "conversationId"],
    reveals: "own",
    costs: "read",
    operationId: "listExecutions",
    summary: "List executions, newest first",
    tag,
    query: listQuery,
    response: { kind: "json", description: "A page of executions", data: executionPage },
    errors: [400],
    handle: (context) => listVisible(context, context.query),
  }),
];

/** A page of executions visible to the caller. A caller without an id owns none. */
async function listVisible(context: RouteContext, { id, ...query }: z.output<ReturnType<typeof listQuery>>) {
  const { caller, scope } = context;
  if (scope === "all") return listPermitted(context, { ...query, idPrefix: id });
  const { userId } = caller;
  if (userId === undefined || (query.userId !== undefined && query.userId !== userId)) {
    return { executions: [], nextCursor: null };
  }
  return listPermitted(context, { ...query, idPrefix: id, userId });
}

/** A page without the executions that the host's `authorize` refuses: a short page may not be the last. */
async function listPermitted({ andante, permission }: RouteContext, query: ListOptions) {
  const page = await andante.list(query);
  return { ...page, executions: await permission.visible(page.executions, entryIds) };
}
