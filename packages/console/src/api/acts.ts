// What a person does to executions, as calls of the server.
import { curlCommand } from "../words/curl.ts";
import { address, call, part, serverRoot } from "./call.ts";
import { currentToken } from "./token.ts";
import type { ExecutionResult, Suspension } from "./types.ts";

/** Starts a workflow and returns as soon as it is accepted. */
export function startWorkflow(workflowId: string, input: unknown): Promise<ExecutionResult> {
  return call(`/workflows/${part(workflowId)}/execute`, {
    method: "POST",
    body: { input },
    headers: { prefer: "respond-async" },
  });
}

export function resume(
  workflowId: string,
  executionId: string,
  { suspensionId }: Pick<Suspension, "suspensionId">,
  resumeData: unknown,
): Promise<ExecutionResult> {
  const body = { ...(resumeData !== undefined && { resumeData }), options: { suspensionId } };
  return call(`/workflows/${part(workflowId)}/executions/${part(executionId)}/resume`, {
    method: "POST",
    body,
    headers: { prefer: "respond-async" },
  });
}

export function suspend(workflowId: string, executionId: string, reason: string): Promise<unknown> {
  const path = `/workflows/${part(workflowId)}/executions/${part(executionId)}/suspend`;
  return call(path, { method: "POST", body: { reason } });
}

export function cancel(executionId: string): Promise<ExecutionResult> {
  return call(`/api/executions/${part(executionId)}/cancel`, { method: "POST", body: {} });
}

export function replay(workflowId: string, executionId: string, stepId: string): Promise<ExecutionResult> {
  return call(`/workflows/${part(workflowId)}/executions/${part(executionId)}/replay`, {
    method: "POST",
    body: { stepId },
    headers: { prefer: "respond-async" },
  });
}

/** A command for a shell that makes the call. */
export function curl(path: string, body?: unknown): string {
  return curlCommand(address(path), { body, hasToken: currentToken() !== null });
}

/** The same start as code for a page or a program. */
export function clientCode(workflowId: string, input: unknown): string {
  const token = currentToken() === null ? "" : ", token";
  return [
    `import { createClient } from "@andante/client";`,
    "",
    `const andante = createClient({ baseUrl: ${JSON.stringify(serverRoot.replace(/\/$/, ""))}${token} });`,
    `const { executionId, status, result } = await andante`,
    `  .workflow(${JSON.stringify(workflowId)})`,
    `  .execute(${JSON.stringify(input ?? null, null, 2).replaceAll("\n", "\n  ")});`,
    `console.log(executionId, status, result);`,
    "",
  ].join("\n");
}
