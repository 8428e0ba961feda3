// The tools that clients of MCP see, as this user: one message of the protocol.
import { AndanteApiError } from "@andante/client";
import { queryOptions } from "@tanstack/react-query";
import { address, headers } from "../../api/andante.ts";
import { isObject } from "../../form/as-schema.ts";

export interface ExposedTool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly outputSchema: unknown;
  /** The workflow or the agent behind it; none for a tool for operators. */
  readonly workflowId: string | undefined;
  readonly agentId: string | undefined;
}

const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };

async function listTools(signal: AbortSignal): Promise<readonly ExposedTool[]> {
  const response = await fetch(address("/mcp"), {
    method: "POST",
    headers: {
      ...headers(),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(message),
    signal,
  });
  const { result, error } = fieldsOf(readMessage(await response.text()));
  const tools = fieldsOf(result).tools;
  if (!Array.isArray(tools)) {
    const problem = textOf(fieldsOf(error).message) ?? `the response has the status ${response.status}`;
    throw new AndanteApiError(problem, { status: response.status });
  }
  return tools.map(toolOf);
}

/** The message of a response: JSON, or the last event of a stream. */
function readMessage(text: string): unknown {
  const events = text.split("\n").filter((line) => line.startsWith("data:"));
  try {
    return JSON.parse(events.at(-1)?.slice("data:".length) ?? text);
  } catch {
    return undefined;
  }
}

function toolOf(given: unknown): ExposedTool {
  const { name, title, description, inputSchema, outputSchema, _meta } = fieldsOf(given);
  const behind = fieldsOf(_meta);
  return {
    ...{ name: textOf(name) ?? "", title: textOf(title), description: textOf(description) ?? "" },
    ...{ inputSchema, outputSchema },
    workflowId: textOf(behind["andante/workflowId"]),
    agentId: textOf(behind["andante/agentId"]),
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export const toolsQuery = queryOptions({
  queryKey: ["mcp-tools"],
  queryFn: ({ signal }) => listTools(signal),
  retry: false,
});
