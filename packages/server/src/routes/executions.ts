// Executions: their state, their events, and commands.
import type { ExecutionState } from "@andante/core";
import { ExecutionNotFoundError } from "@andante/core/errors";
import { startOptionsOf } from "../auth/inject-user.ts";
import { BadRequestError } from "../errors/request-errors.ts";
import { headerOf } from "../request/node-request.ts";
import { executionIdHeader, headerText, traceparentHeader } from "../response/envelope.ts";
import { RouteResponse } from "../response/route-response.ts";
import { type ResourceId, type RouteContext, route } from "../route.ts";
import {
  attachQuery,
  eventsQuery,
  executionEvent,
  executionEvents,
  executionResult,
  executionState,
  replayBody,
  resumeBody,
  suspendBody,
  suspendResult,
} from "../schemas/execution-schemas.ts";
import { eventResponse } from "../sse/event-response.ts";
import { about, accepted, deliver } from "./delivery.ts";
import { executionInPath, replayedExecution } from "./execution-ids.ts";
import { knownWorkflow } from "./workflows.ts";

const tag = "Executions";
const execution = "/workflows/:id/executions/:executionId";
const anyExecution = "/api/executions/:executionId";
const resource: readonly ResourceId[] = ["workflowId", "executionId", "conversationId", "userId"];

type Visible = Pick<RouteContext, "andante" | "params" | "caller" | "scope">;

function ids(params: Readonly<Record<string, string>>): [workflowId: string, executionId: string] {
  return [params.id ?? "", params.executionId ?? ""];
}

export const executionRoutes = [
  route({
    method: "GET",
    path: `${execution}/state`,
    contract: true,
    access: "public",
    action: "executions.read",
    costs: "read",
    resource,
    ids: executionInPath,
    operationId: "getExecutionState",
    summary: "Show how an execution stands",
    tag,
    response: { kind: "json", description: "The execution", data: executionState },
    errors: [404],
    check: knownWorkflow,
    handle: ({ andante, params }) => andante.state(...ids(params)),
  }),
  route({
    method: "POST",
    path: `${execution}/suspend`,
    contract: true,
    access: "public",
    action: "executions.suspend",
    resource,
    ids: executionInPath,
    operationId: "suspendExecution",
    summary: "Suspend a running execution",
    tag,
    body: suspendBody,
    bodyOptional: true,
    response: { kind: "json", description: "The suspension", data: suspendResult },
    errors: [400, 404, 413, 415, 503],
    check: knownWorkflow,
    handle: ({ andante, params, body, caller }) =>
      andante.suspend(...ids(params), { reason: body.reason, userId: caller.userId }),
  }),
  route({
    method: "POST",
    path: `${execution}/resume`,
    contract: true,
    access: "public",
    action: "executions.resume",
    resource,
    ids: executionInPath,
    operationId: "resumeExecution",
    summary: "Resume a suspended execution and run it until it ends or is suspended again",
    tag,
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
    check: knownWorkflow,
    handle: async ({ andante, params, body, http, caller, basePath }) => {
      const [workflowId, executionId] = ids(params);
      const options = { ...body.options, userId: caller.userId };
      const resumed = await andante.startResume(workflowId, executionId, body.resumeData, options);
      return deliver({ http, basePath }, workflowId, resumed);
    },
  }),
  route({
    method: "POST",
    path: `${execution}/cancel`,
    access: "protected",
    action: "executions.cancel",
    resource,
    ids: executionInPath,
    operationId: "cancelExecution",
    summary: "Cancel an execution that has not ended",
    tag,
    body: suspendBody,
    bodyOptional: true,
    response: { kind: "json", description: "The cancelled execution", data: executionResult },
    errors: [400, 404, 413, 415, 503],
    check: knownWorkflow,
    handle: ({ andante, params, body, caller }) =>
      andante.cancel(...ids(params), { reason: body.reason, userId: caller.userId }),
  }),
  route({
    method: "POST",
    path: `${execution}/replay`,
    access: "protected",
    action: "executions.replay",
    resource,
    ids: (known) => replayedExecution(known),
    reveals: "own",
    operationId: "replayExecution",
    summary: "Start a new execution from a step of one that is suspended or has ended",
    tag,
    body: replayBody,
    headers: ["prefer", "traceparent"],
    response: {
      kind: "json",
      description: "The new execution, completed or suspended",
      data: executionResult,
      accepted,
      headers: about,
    },
    errors: [400, 404, 409, 413, 415, 429, 503],
    check: knownWorkflow,
    handle: async ({ andante, params, body, http, caller, gate, basePath }) => {
      const [workflowId, executionId] = ids(params);
      const options = startOptionsOf(body.options ?? {}, caller, gate.enabled);
      const traceparent = headerOf(http.req, traceparentHeader);
      const how = { ...options, traceparent, stepId: body.stepId };
      const started = await andante.startReplay(workflowId, executionId, how);
      return deliver({ http, basePath }, workflowId, started);
    },
  }),
  route({
    method: "GET",
    path: `${execution}/events`,
    access: "protected",
    action: "executions.events",
    requires: ["executions.read"],
    resource,
    ids: executionInPath,
    reveals: "own",
    costs: "read",
    operationId: "listExecutionEvents",
    summary: "Read the journal of an execution",
    tag,
    query: eventsQuery,
    response: { kind: "json", description: "The events in order", data: executionEvents },
    errors: [400, 404],
    check: knownWorkflow,
    handle: ({ andante, params, query }) => andante.events(...ids(params), defined(query)),
  }),
  route({
    method: "GET",
    path: `${execution}/stream`,
    access: "protected",
    action: "executions.attach",
    requires: ["executions.events", "executions.read"],
    resource,
    ids: executionInPath,
    reveals: "own",
    operationId: "followExecution",
    summary: "Follow an execution from any event to its end; 204 when there is nothing more to come",
    tag,
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
    check: knownWorkflow,
    handle: async ({ andante, logger, params, query, http, stream }) => {
      const [workflowId, executionId] = ids(params);
      const after = query.after ?? lastEventId(http.req.header("last-event-id"));
      const headers = { [executionIdHeader]: headerText(executionId) };
      const attached = await andante.attach(workflowId, executionId, after);
      if (attached === undefined) return new RouteResponse(null, { status: 204, headers });
      const how = { headers, withIds: true, logger, stream, signal: http.req.raw.signal };
      return eventResponse(attached.events, how);
    },
  }),
  route({
    method: "GET",
    path: anyExecution,
    access: "protected",
    reveals: "own",
    action: "executions.read",
    costs: "read",
    resource,
    ids: executionInPath,
    operationId: "findExecution",
    summary: "Show how an execution stands, also one whose workflow is not registered any more",
    tag,
    response: { kind: "json", description: "The execution", data: executionState },
    errors: [404],
    handle: (context) => findVisible(context),
  }),
  route({
    method: "GET",
    path: `${anyExecution}/events`,
    access: "protected",
    reveals: "own",
    action: "executions.events",
    costs: "read",
    requires: ["executions.read"],
    resource,
    ids: executionInPath,
    operationId: "findExecutionEvents",
    summary: "Read the journal of an execution, also one whose workflow is not registered any more",
    tag,
    query: eventsQuery,
    response: { kind: "json", description: "The events in order", data: executionEvents },
    errors: [400, 404],
    handle: async (context) => {
      const { workflowId, executionId } = await findVisible(context);
      return context.andante.events(workflowId, executionId, defined(context.query));
    },
  }),
  route({
    method: "POST",
    path: `${anyExecution}/cancel`,
    access: "protected",
    action: "executions.cancel",
    resource,
    ids: executionInPath,
    operationId: "cancelFoundExecution",
    summary: "Cancel an execution, also one whose workflow is not registered any more",
    tag,
    body: suspendBody,
    bodyOptional: true,
    response: { kind: "json", description: "The cancelled execution", data: executionResult },
    errors: [400, 404, 413, 415, 503],
    handle: async (context) => {
      const { workflowId, executionId } = await findVisible(context);
      const { body, caller } = context;
      return context.andante.cancel(workflowId, executionId, { reason: body.reason, userId: caller.userId });
    },
  }),
];

/** The execution in the path. A caller limited to its own gets a 404 for another's. */
async function findVisible({ andante, params, caller, scope }: Visible): Promise<ExecutionState> {
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
