// Workflows: list them and start executions.
import type { Andante } from "@andante/core";
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
import { givenInput, startOptions } from "./start-options.ts";

const tag = "Workflows";

/** An unknown workflow is a 404, before any other check. */
export function knownWorkflow(andante: Andante, params: Readonly<Record<string, string>>): void {
  andante.checkWorkflow(params.id ?? "");
}

const definition = {
  method: "GET",
  contract: true,
  access: "public",
  resource: ["workflowId"],
  tag,
} as const;
/** Rows that start an execution. */
const start = {
  method: "POST",
  contract: true,
  access: "protected",
  resource: ["workflowId", "conversationId", "userId"],
  tag,
  body: startBody,
  errors: [400, 404, 409, 413, 415, 503],
  check: knownWorkflow,
} as const;

export const workflowRoutes = [
  route({
    ...definition,
    path: "/workflows",
    action: "workflows.list",
    operationId: "listWorkflows",
    summary: "List the registered workflows",
    response: { kind: "json", description: "The workflows in order of registration", data: workflowList },
    errors: [],
    handle: ({ andante, permission }) =>
      permission.visible(andante.workflows(), ({ id }) => ({ workflowId: id })),
  }),
  route({
    ...definition,
    path: "/workflows/:id",
    action: "workflows.read",
    operationId: "getWorkflow",
    summary: "Show one workflow with its steps and schemas",
    response: { kind: "json", description: "The workflow", data: workflowDetail },
    errors: [404],
    check: knownWorkflow,
    handle: ({ andante, params }) => andante.workflow(params.id ?? ""),
  }),
  route({
    ...start,
    path: "/workflows/:id/execute",
    action: "workflows.execute",
    ids: (known) => executionInBody(known),
    operationId: "executeWorkflow",
    summary: "Execute a workflow until it ends or is suspended",
    headers: ["prefer", "idempotency-key", "traceparent"],
    response: {
      kind: "json",
      description: "The execution, completed or suspended",
      data: executionResult,
      accepted,
      headers: about,
    },
    handle: async (context) => {
      const { andante, params, body } = context;
      const workflowId = params.id ?? "";
      const options = startOptions(context, body.options ?? {});
      const execution = await andante.start(workflowId, givenInput(body), options);
      return deliver(context, workflowId, execution);
    },
  }),
  route({
    ...start,
    path: "/workflows/:id/stream",
    action: "workflows.stream",
    requires: ["workflows.execute"],
    ids: (known) => executionInBody(known),
    operationId: "streamWorkflow",
    summary: "Execute a workflow and stream its events until it ends or is suspended",
    headers: ["idempotency-key", "traceparent"],
    response: {
      kind: "events",
      description: "The events; `workflow-result` is the last",
      event: executionEvent,
      headers: about,
    },
    handle: async (context) => {
      const { andante, params, body } = context;
      const options = startOptions(context, body.options ?? {});
      const execution = await andante.stream(params.id ?? "", givenInput(body), options);
      return eventResponse(execution.events, context, { headers: aboutExecution(execution) });
    },
  }),
];
