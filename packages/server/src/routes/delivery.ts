// When execute and resume respond: once the execution has settled, or earlier if the caller prefers (RFC 7240).
import type { ExecutionHandle, ExecutionResult } from "@andante/core";
import { ExecutionFailedError } from "@andante/core/errors";
import { withTimeout } from "@andante/core/internal";
import { headerOf } from "../request/node-request.ts";
import { executionIdHeader, headerText, success, traceparentHeader } from "../response/envelope.ts";
import type { RouteResponse } from "../response/route-response.ts";
import type { RouteContext } from "../route.ts";

/** Describes the early response. */
export const accepted =
  "Still running (Prefer: respond-async, or wait=N and N seconds have passed); see Location";

/** The headers of `aboutExecution`, for the description. */
export const about = ["x-execution-id", "traceparent"] as const;

/** Responds to execute and resume. */
export async function deliver(
  { http, basePath }: Pick<RouteContext, "http" | "basePath">,
  workflowId: string,
  execution: ExecutionHandle,
): Promise<RouteResponse> {
  const { executionId, startAt } = execution;
  const headers = aboutExecution(execution);
  // An execution that has settled already needs no wait.
  const wait = execution.settled ? undefined : preferredWait(headerOf(http.req, "prefer"));
  const result = wait === undefined ? await execution.result() : await settlesWithin(execution, wait);
  if (result === undefined) {
    const running = { executionId, startAt, endAt: null, status: "running", result: null };
    const path = `/workflows/${encodeURIComponent(workflowId)}/executions/${encodeURIComponent(executionId)}/state`;
    return success(running, 202, { ...headers, location: basePath + path });
  }
  if (result.status === "error") throw new ExecutionFailedError({ executionId });
  return success(result, 200, headers);
}

/** The headers that name an execution and its trace. */
export function aboutExecution(handle: {
  readonly executionId: string;
  readonly traceparent?: string | undefined;
}): Record<string, string> {
  const { executionId, traceparent } = handle;
  const headers = { [executionIdHeader]: headerText(executionId) };
  return traceparent === undefined ? headers : { ...headers, [traceparentHeader]: traceparent };
}

/** The seconds to wait before a 202; undefined to wait until the execution has settled. */
export function preferredWait(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const preferences = readPreferences(header);
  const seconds = /^(\d{1,6}|"\d{1,6}")$/.exec(preferences.get("wait") ?? "")?.[0];
  if (seconds !== undefined) return Number(seconds.replaceAll('"', ""));
  return preferences.has("respond-async") ? 0 : undefined;
}

/** Whether the caller wants a 202 at once. */
export function prefersAsync(header: string | undefined): boolean {
  return header !== undefined && readPreferences(header).has("respond-async");
}

/**
 * The preferences by name. The first of a repeated preference counts; parameters after a `;` are ignored.
 */
function readPreferences(header: string): Map<string, string> {
  const preferences = new Map<string, string>();
  for (const part of header.split(",")) {
    const [preference = ""] = part.split(";", 1);
    const [name = "", value = ""] = preference.split("=", 2).map((word) => word.trim());
    if (!preferences.has(name.toLowerCase())) preferences.set(name.toLowerCase(), value);
  }
  return preferences;
}

/** The result, or undefined after the timeout. The execution continues. */
async function settlesWithin(
  execution: ExecutionHandle,
  seconds: number,
): Promise<ExecutionResult | undefined> {
  if (seconds === 0) return undefined;
  const { value } = await withTimeout(execution.result(), seconds * 1000);
  return value;
}
