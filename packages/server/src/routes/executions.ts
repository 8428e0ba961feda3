// Executions: lists, their state, their events, and commands.
import type { ExecutionState, ListOptions } from "@andante/core";
import { ExecutionNotFoundError } from "@andante/core/errors";
import { entryIds } from "../auth/entry-ids.ts";
import { BadRequestError } from "../errors/request-errors.ts";
import { executionIdHeader, headerText } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type RouteContext, route } from "../route.ts";
import type { Value } from "../schemas/component.ts";
import {
  attachQuery,
  countsQuery,
  eventsQuery,
  executionCounts,
  executionEvent,
  executionEvents,
  executionPage,
  executionResult,
  executionState,
  explanation,
  listQuery,
  replayBody,
  resumeBody,
  searchPage,
  searchQuery,
  suspendBody,
  suspendResult,
  workflowListQuery,
} from "../schemas/execution-schemas.ts";
import { eventResponse } from "../sse/event-response.ts";
import { about, accepted, deliver } from "./delivery.ts";
import { executionInPath, replayedExecution } from "./execution-ids.ts";
import { startOptions } from "./start-options.ts";
import { knownWorkflow } from "./workflows.ts";

const tag = "Executions";
const execution = "/workflows/:id/executions/:executionId";
const anyExecution = "/api/executions/:executionId";
/** Rows about one execution. */
const ofExecution = {
  resource: ["workflowId", "executionId", "conversationId", "userId"],
  ids: executionInPath,
  tag,
} as const;
/** The same below its workflow, which must be registered. */
const ofWorkflow = { ...ofExecution, check: knownWorkflow } as const;
/** Rows that change an execution; the body may hold a reason. */
const byReason = {
  method: "POST",
  body: suspendBody,
  bodyOptional: true,
  errors: [400, 404, 413, 415, 503],
} as const;

/** Lists of executions. */
const list = {
  method: "GET",
  access: "protected",
  action: "executions.list",
  resource: ["workflowId", "userId", "conversationId"],
  reveals: "own",
  costs: "read",
  tag,
  response: { kind: "json", description: "A page of executions", data: executionPage },
} as const;

/** Maximum executions of a status that are counted: a page of the list, a few milliseconds of a reader thread. */
const mostCounted = 500;
/** Milliseconds for which the counted executions are kept. */
const countsKept = 2000;

type Visible = Pick<RouteContext, "andante" | "params" | "caller" | "scope">;

function ids(params: Readonly<Record<string, string>>): [workflowId: string, executionId: string] {
  return [params.id ?? "", params.executionId ?? ""];
}

export const executionRoutes = [
  route({
    ...ofWorkflow,
    method: "GET",
    path: `${execution}/state`,
    contract: true,
    access: "public",
    action: "executions.read",
    costs: "read",
    operationId: "getExecutionState",
    summary: "Show how an execution stands",
    response: { kind: "json", description: "The execution", data: executionState },
    errors: [404],
    handle: ({ andante, params }) => andante.state(...ids(params)),
  }),
  route({
    ...ofWorkflow,
    ...byReason,
    path: `${execution}/suspend`,
    contract: true,
    access: "public",
    action: "executions.suspend",
    operationId: "suspendExecution",
    summary: "Suspend a running execution",
    response: { kind: "json", description: "The suspension", data: suspendResult },
    handle: ({ andante, params, body, caller }) =>
      andante.suspend(...ids(params), { reason: body.reason, userId: caller.userId }),
  }),
  route({
    ...ofWorkflow,
    method: "POST",
    path: `${execution}/resume`,
    contract: true,
    access: "public",
    action: "executions.resume",
    operationId: "resumeExecution",
    summary: "Resume a suspended execution and run it until it ends or is suspended again",
    body: resumeBody,
    bodyOptional: true,
    headers: ["prefer"],
    response: {
      kind: "json",
      description: "The execution, completed or suspended again",
      data: executionResult,
      accepted,
      headers: about,
    },
    errors: [400, 404, 409, 413, 415, 503],
    handle: async (context) => {
      const { andante, params, body, caller } = context;
      const [workflowId, executionId] = ids(params);
      const options = { ...body.options, userId: caller.userId };
      const resumed = await andante.startResume(workflowId, executionId, body.resumeData, options);
      return deliver(context, workflowId, resumed);
    },
  }),
  route({
    ...ofWorkflow,
    ...byReason,
    path: `${execution}/cancel`,
    access: "protected",
    action: "executions.cancel",
    operationId: "cancelExecution",
    summary: "Cancel an execution that has not ended",
    response: { kind: "json", description: "The cancelled execution", data: executionResult },
    handle: ({ andante, params, body, caller }) =>
      andante.cancel(...ids(params), { reason: body.reason, userId: caller.userId }),
  }),
  route({
    ...ofWorkflow,
    method: "POST",
    path: `${execution}/replay`,
    access: "protected",
    action: "executions.replay",
    ids: (known) => replayedExecution(known),
    reveals: "own",
    operationId: "replayExecution",
    summary: "Start a new execution from a step of one that is suspended or has ended",
    body: replayBody,
    headers: ["prefer", "idempotency-key", "traceparent"],
    response: {
      kind: "json",
      description: "The new execution, completed or suspended",
      data: executionResult,
      accepted,
      headers: about,
    },
    errors: [400, 404, 409, 413, 415, 429, 503],
    handle: async (context) => {
      const { andante, params, body } = context;
      const [workflowId, executionId] = ids(params);
      const options = { ...startOptions(context, body.options ?? {}), stepId: body.stepId };
      const started = await andante.startReplay(workflowId, executionId, options);
      return deliver(context, workflowId, started);
    },
  }),
  route({
    ...ofWorkflow,
    method: "GET",
    path: `${execution}/events`,
    access: "protected",
    action: "executions.events",
    requires: ["executions.read"],
    reveals: "own",
    costs: "read",
    operationId: "listExecutionEvents",
    summary: "Read the journal of an execution",
    query: eventsQuery,
    response: { kind: "json", description: "The events in order", data: executionEvents },
    errors: [400, 404],
    handle: ({ andante, params, query }) => andante.events(...ids(params), defined(query)),
  }),
  route({
    ...ofWorkflow,
    method: "GET",
    path: `${execution}/stream`,
    access: "protected",
    action: "executions.attach",
    requires: ["executions.events", "executions.read"],
    reveals: "own",
    operationId: "followExecution",
    summary: "Follow an execution from any event to its end; 204 when there is nothing more to come",
    query: attachQuery,
    headers: ["last-event-id"],
    response: {
      kind: "events",
      description: "The events; `workflow-result` is the last",
      event: executionEvent,
      empty: "The execution has ended and nothing is left to send",
      headers: ["x-execution-id"],
    },
    errors: [400, 404, 503],
    handle: async (context) => {
      const { andante, params, query, http } = context;
      const [workflowId, executionId] = ids(params);
      const after = query.after ?? lastEventId(http.req.header("last-event-id"));
      const headers = { [executionIdHeader]: headerText(executionId) };
      const attached = await andante.attach(workflowId, executionId, after);
      if (attached === undefined) return new RouteResponse(null, { status: 204, headers });
      return eventResponse(attached.events, context, { headers, withIds: true });
    },
  }),
  route({
    ...ofExecution,
    method: "GET",
    path: anyExecution,
    access: "protected",
    reveals: "own",
    action: "executions.read",
    costs: "read",
    operationId: "findExecution",
    summary: "Show how an execution stands, also one whose workflow is not registered any more",
    response: { kind: "json", description: "The execution", data: executionState },
    errors: [404],
    handle: (context) => findVisible(context),
  }),
  route({
    ...ofExecution,
    method: "GET",
    path: `${anyExecution}/events`,
    access: "protected",
    reveals: "own",
    action: "executions.events",
    costs: "read",
    requires: ["executions.read"],
    operationId: "findExecutionEvents",
    summary: "Read the journal of an execution, also one whose workflow is not registered any more",
    query: eventsQuery,
    response: { kind: "json", description: "The events in order", data: executionEvents },
    errors: [400, 404],
    handle: async (context) => {
      const { workflowId, executionId } = await findVisible(context);
      return context.andante.events(workflowId, executionId, defined(context.query));
    },
  }),
  route({
    ...ofExecution,
    method: "GET",
    path: `${anyExecution}/explain`,
    access: "protected",
    reveals: "own",
    action: "executions.read",
    // The errors of attempts are in full, as in the journal.
    requires: ["executions.events"],
    costs: "read",
    operationId: "explainExecution",
    summary: "Explain what an execution waits for, or how it ended",
    response: { kind: "json", description: "A sentence and the facts behind it", data: explanation },
    errors: [404],
    handle: async (context) => {
      const { executionId } = await findVisible(context);
      const explained = await context.andante.explain(executionId);
      if (context.scope === "all" || explained.budgets === undefined) return explained;
      // Those of tags and of all calls are the use of other users, too.
      return { ...explained, budgets: explained.budgets.filter(({ per }) => per === "user") };
    },
  }),
  route({
    ...ofExecution,
    ...byReason,
    path: `${anyExecution}/cancel`,
    access: "protected",
    action: "executions.cancel",
    operationId: "cancelFoundExecution",
    summary: "Cancel an execution, also one whose workflow is not registered any more",
    response: { kind: "json", description: "The cancelled execution", data: executionResult },
    handle: async (context) => {
      const { workflowId, executionId } = await findVisible(context);
      const { body, caller } = context;
      return context.andante.cancel(workflowId, executionId, { reason: body.reason, userId: caller.userId });
    },
  }),
  route({
    ...list,
    path: "/workflows/:id/executions",
    operationId: "listWorkflowExecutions",
    summary: "List the executions of a workflow, newest first",
    query: workflowListQuery,
    errors: [400, 404],
    check: knownWorkflow,
    handle: (context) => listVisible(context, { ...context.query, workflowId: context.params.id ?? "" }),
  }),
  route({
    ...list,
    path: "/api/executions",
    operationId: "listExecutions",
    summary: "List executions, newest first",
    query: listQuery,
    errors: [400],
    handle: (context) => listVisible(context, context.query),
  }),
  route({
    ...list,
    path: "/api/search",
    // It shows values, as an execution itself does.
    requires: ["executions.read"],
    operationId: "searchExecutions",
    summary: "Find executions by a string or a number in their values, newest first",
    query: searchQuery,
    response: {
      kind: "json",
      description: "A page of executions with the places of the text",
      data: searchPage,
    },
    errors: [400, 501],
    handle: searchVisible,
  }),
  route({
    ...list,
    path: "/api/execution-counts",
    operationId: "countExecutions",
    summary: `Count executions by status, the newest ${mostCounted} of each`,
    query: countsQuery,
    response: { kind: "json", description: "The counts", data: executionCounts },
    errors: [400, 503],
    handle: countVisible,
  }),
];

/** Counts with the filters of the list, so that both have the same executions. */
async function countVisible(context: RouteContext & { readonly query: Value<typeof countsQuery> }) {
  const { andante, caller, cachedReads, http, permission, query, scope } = context;
  const { id, parked, userId = scope === "all" ? undefined : caller.userId, ...rest } = query;
  const isRefused = scope !== "all" && (userId === undefined || userId !== caller.userId);
  const asked = { ...rest, idPrefix: id, parked: parked === "true", userId, limit: mostCounted };
  const count = async (status: ExecutionState["status"]) => {
    if (isRefused) return { count: 0, more: false };
    const page = await cachedReads.get({
      key: `count ${JSON.stringify({ ...asked, status })}`,
      milliseconds: countsKept,
      signal: http.req.raw.signal,
      // Only the ids are kept.
      read: async () => {
        const { executions, nextCursor } = await andante.list({ ...asked, status });
        return { ids: executions.map(entryIds), more: nextCursor !== null };
      },
    });
    return { count: (await permission.visible(page.ids, (ids) => ids)).length, more: page.more };
  };
  const [running, suspended, completed, error, cancelled] = await Promise.all([
    count("running"),
    count("suspended"),
    count("completed"),
    count("error"),
    count("cancelled"),
  ]);
  return { running, suspended, completed, error, cancelled };
}

/** A page of executions visible to the caller. A caller without an id owns none. */
async function listVisible(context: RouteContext, { id, ...given }: Value<typeof listQuery>) {
  const { userId } = context.caller;
  const flags = { parked: given.parked === "true", explain: given.explain === "true" };
  const query = { ...given, idPrefix: id, ...flags };
  if (context.scope === "all") return listPermitted(context, query);
  if (userId === undefined || (query.userId ?? userId) !== userId)
    return { executions: [], nextCursor: null };
  return listPermitted(context, { ...query, userId });
}

/** A page without the executions that the host's `authorize` refuses: a short page may not be the last. */
async function listPermitted({ andante, permission }: RouteContext, query: ListOptions) {
  const page = await andante.list(query);
  return { ...page, executions: await permission.visible(page.executions, entryIds) };
}

/** A page of found executions visible to the caller, as in a list. */
async function searchVisible({
  andante,
  caller,
  scope,
  permission,
  query,
}: RouteContext<unknown, Value<typeof searchQuery>>) {
  const userId = scope === "all" ? query.userId : caller.userId;
  if (scope !== "all" && (userId === undefined || (query.userId ?? userId) !== userId))
    return { executions: [], nextCursor: null, complete: true };
  const page = await andante.search({ ...query, userId });
  return { ...page, executions: await permission.visible(page.executions, entryIds) };
}

/** The execution in the path. A caller limited to its own gets a 404 for another's. */
export async function findVisible({ andante, params, caller, scope }: Visible): Promise<ExecutionState> {
  const executionId = params.executionId ?? "";
  const found = await andante.find(executionId);
  if (scope === "all") return found;
  const owner = (await andante.idsOf(executionId))?.userId;
  if (caller.userId === undefined || owner !== caller.userId)
    throw new ExecutionNotFoundError({ executionId });
  return found;
}

function defined(query: { after?: number | undefined; limit?: number | undefined }) {
  return {
    ...(query.after !== undefined && { after: query.after }),
    ...(query.limit !== undefined && { limit: query.limit }),
  };
}

/** `Last-Event-ID`: the event number after which a reconnecting browser continues; 0 for the beginning. */
function lastEventId(header: string | undefined): number {
  if (header === undefined || header === "") return 0;
  if (!/^\d{1,15}$/.test(header)) {
    throw new BadRequestError({ problem: "Invalid request: Last-Event-ID: expected the number of an event" });
  }
  return Number(header);
}
