// Workflows: list them and start executions.
import type { Andante } from "@andante/core";
import { InputValidationError } from "@andante/core/errors";
import { startOptionsOf } from "../auth/inject-user.ts";
import { headerOf } from "../request/node-request.ts";
import { traceparentHeader } from "../response/envelope.ts";
import { route } from "../route.ts";
import {
  executionEvent,
  executionResult,
  startBody,
  workflowDetail,
  workflowList,
} from "../schemas/execution-schemas.ts";
import { eventResponse } from "../sse/event-response.ts";
import { about, aboutExecution, accepted, deliver } from "./delivery.ts";
import { executionInBody } from "./execution-ids.ts";

const tag = "Workflows";

/** An unknown workflow is a 404, before any other check. */
export function knownWorkflow(andante: Andante, params: Readonly<Record<string, string>>): void {
  andante.checkWorkflow(params.id ?? "");
}

export const workflowRoutes = [
  route({
    method: "GET",
    path: "/workflows",
    contract: true,
    access: "public",
    action: "workflows.list",
    resource: ["workflowId"],
    operationId: "listWorkflows",
    summary: "List the registered workflows",
    tag,
    response: { kind: "json", description: "The workflows in order of registration", data: workflowList },
    errors: [],
    handle: ({ andante, permission }) =>
      permission.visible(andante.workflows(), ({ id }) => ({ workflowId: id })),
  }),
  route({
    method: "GET",
    path: "/workflows/:id",
    contract: true,
    access: "public",
    action: "workflows.read",
    resource: ["workflowId"],
    operationId: "getWorkflow",
    summary: "Show one workflow with its steps and schemas",
    tag,
    response: { kind: "json", description: "The workflow", data: workflowDetail },
    errors: [404],
    check: knownWorkflow,
    handle: ({ andante, params }) => andante.workflow(params.id ?? ""),
  }),
  route({
    method: "POST",
    path: "/workflows/:id/execute",
    contract: true,
    access: "protected",
    action: "workflows.execute",
    resource: ["workflowId", "conversationId", "userId"],
    ids: (known) => executionInBody(known),
    operationId: "executeWorkflow",
    summary: "Execute a workflow until it ends or is suspended",
    tag,
    body: startBody,
    headers: ["prefer", "traceparent"],
    response: {
      kind: "json",
      description: "The execution, completed or suspended",
      data: executionResult,
      accepted,
      headers: about,
    },
    errors: [400, 404, 409, 413, 415, 503],
    check: knownWorkflow,
    handle: async ({ andante, params, body, http, caller, gate, basePath }) => {
      const workflowId = params.id ?? "";
      const traceparent = headerOf(http.req, traceparentHeader);
      const options = { ...startOptionsOf(body.options ?? {}, caller, gate.enabled), traceparent };
      const execution = await andante.start(workflowId, givenInput(body), options);
      return deliver({ http, basePath }, workflowId, execution);
    },
  }),
  route({
    method: "POST",
    path: "/workflows/:id/stream",
    contract: true,
    access: "protected",
    action: "workflows.stream",
    requires: ["workflows.execute"],
    resource: ["workflowId", "conversationId", "userId"],
    ids: (known) => executionInBody(known),
    operationId: "streamWorkflow",
    summary: "Execute a workflow and stream its events until it ends or is suspended",
    tag,
    body: startBody,
    headers: ["traceparent"],
    response: {
      kind: "events",
      description: "The events; `workflow-result` is the last",
      event: executionEvent,
      headers: about,
    },
    errors: [400, 404, 409, 413, 415, 503],
    check: knownWorkflow,
    handle: async ({ andante, logger, params, body, http, caller, gate, stream }) => {
      const traceparent = headerOf(http.req, traceparentHeader);
      const options = { ...startOptionsOf(body.options ?? {}, caller, gate.enabled), traceparent };
      const execution = await andante.stream(params.id ?? "", givenInput(body), options);
      const headers = aboutExecution(execution);
      return eventResponse(execution.events, { headers, logger, stream, signal: http.req.raw.signal });
    },
  }),
];

/** The input. A missing input is an error; null is checked by the workflow's schema. */
function givenInput(body: { input?: unknown }): unknown {
  if (body.input === undefined) throw new InputValidationError({ detail: "input: required" });
  return body.input;
}
