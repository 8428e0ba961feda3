// A client of the protocol of 2026 with support for tasks, written by hand: the official ones hide the messages.
import { z } from "zod";

type Fields = Record<string, unknown>;

const reply = z.object({
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});

export interface McpReply {
  readonly status: number;
  readonly headers: Headers;
  /** Empty for an error. */
  readonly result: Fields;
  readonly error: { readonly code: number; readonly message: string } | undefined;
  readonly notifications: readonly Fields[];
}

export interface McpClientOptions {
  readonly headers?: Record<string, string>;
  /** Default: tasks and forms. */
  readonly capabilities?: Fields;
}

const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
export const withForms = { elicitation: { form: {} } };
export const withTasks = { ...tasks, ...withForms };

let lastId = 0;

export function mcpClient(url: string, { headers = {}, capabilities = withTasks }: McpClientOptions = {}) {
  const send = async (method: string, params: Fields = {}, meta: Fields = {}): Promise<McpReply> => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": capabilities,
      ...meta,
    };
    const name = params.name ?? params.taskId ?? params.uri;
    lastId += 1;
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(typeof name === "string" && { "mcp-name": name }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params: { ...params, _meta } }),
    });
    return readReply(response);
  };
  const call = (name: string, given: Fields = {}, more: Fields = {}, meta: Fields = {}) =>
    send("tools/call", { name, arguments: given, ...more }, meta);
  const task = (taskId: unknown) => send("tasks/get", { taskId });
  return { send, call, task };
}

export async function readReply(response: Response): Promise<McpReply> {
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const messages: unknown[] = isStream
    ? text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []))
    : text === ""
      ? []
      : [JSON.parse(text)];
  const parsed = messages.map((message) => z.record(z.string(), z.unknown()).parse(message));
  const last = reply.safeParse(parsed.at(-1)).data;
  return {
    status: response.status,
    headers: response.headers,
    result: last?.result ?? {},
    error: last?.error,
    notifications: parsed.filter((message) => "method" in message),
  };
}

/** The text of a tool's result. */
export function textOf(result: Fields): string {
  return z.array(z.object({ text: z.string() })).parse(result.content)[0]?.text ?? "";
}
