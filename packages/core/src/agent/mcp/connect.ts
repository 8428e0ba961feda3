// Connects to an MCP server with the AI SDK's client, which is loaded when the first server is needed.
import type { MCPClient } from "@ai-sdk/mcp";
import type { ToolSet } from "ai";
import { DefinitionError } from "../../errors/index.ts";
import type { CheckedServer, McpAddress, McpCommand } from "./mcp-server.ts";
import { type Ask, boundedBytes, modernVersion, remoteCalls } from "./remote-calls.ts";

/** Pages of tools that a server may have. */
const maxPages = 100;

/** A server that is connected. */
export interface Connected {
  /** By the server's own names. */
  readonly tools: ToolSet;
  /** Aborted when the connection has ended by itself, or a response of the server was cut off. */
  readonly lost: AbortSignal;
  /** True when the server does not know this connection any more: it has not performed the refused call. */
  readonly isForgotten: boolean;
  /** Whether the server speaks the protocol of 2026-07-28. */
  readonly isModern?: boolean;
  /** Ends the connection, and the process of a server that was started. */
  close(): Promise<void>;
}

export async function connect({ server, connectTimeout }: CheckedServer): Promise<Connected> {
  const { createMCPClient } = await load(() => import("@ai-sdk/mcp"));
  const signal = AbortSignal.timeout(connectTimeout);
  const lost = new AbortController();
  const watched = "command" in server ? undefined : new WatchedFetch(lost, withToken(server.token));
  const transport = "command" in server ? await stdio(server) : http(server, watched?.fetch);
  const client = await createMCPClient({
    transport,
    clientName: "andante",
    initializationOptions: { signal },
    // Notifications, and failures that the call concerned throws as well.
    onUncaughtError: () => undefined,
  });
  if (!("type" in transport)) {
    const ofClient = transport.onclose;
    transport.onclose = () => {
      ofClient?.();
      lost.abort();
    };
  }
  try {
    return {
      tools: await toolsOf(client, signal),
      isModern: client.initializeResult.protocolVersion === modernVersion,
      lost: lost.signal,
      get isForgotten() {
        return watched?.isForgotten === true;
      },
      close: () => client.close(),
    };
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

async function toolsOf(client: MCPClient, signal: AbortSignal): Promise<ToolSet> {
  const tools: ToolSet = {};
  let cursor: string | undefined;
  for (let pages = 0; pages === 0 || cursor !== undefined; pages++) {
    if (pages === maxPages) throw new Error(`the server has more than ${maxPages} pages of tools`);
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.listTools({ params, options: { signal } });
    Object.assign(tools, client.toolsFromDefinitions(page));
    cursor = page.nextCursor;
  }
  return tools;
}

function http({ url, headers = {} }: McpAddress, fetch: typeof globalThis.fetch = globalThis.fetch) {
  return { type: "http" as const, url, headers: { ...headers }, fetch };
}

async function stdio({ command, args = [], env, cwd }: McpCommand) {
  const { StdioMCPTransport } = await load(() => import("@ai-sdk/mcp/mcp-stdio"));
  const given = { ...(env && { env: { ...env } }), ...(cwd !== undefined && { cwd }) };
  return new StdioMCPTransport({ command, args: [...args], ...given });
}

/** Messages without a connection: the protocol of 2026-07-28 has none. Undefined for a command. */
export function callsOf({ server }: CheckedServer): Ask | undefined {
  if ("command" in server) return undefined;
  const { url, headers = {}, token } = server;
  return remoteCalls(url, headers, withToken(token));
}

/** A fetch that sends the host's token, and another one after a 401. */
function withToken(token: McpAddress["token"]): typeof globalThis.fetch {
  if (token === undefined) return (input, init) => globalThis.fetch(input, init);
  const send = async (isRefused: boolean, ...[input, init]: Parameters<typeof globalThis.fetch>) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${await token(isRefused)}`);
    return globalThis.fetch(input, { ...init, headers });
  };
  return async (input, init) => {
    const response = await send(false, input, init);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    return send(true, input, init);
  };
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Detects failures that the AI SDK's client hides: a response that was cut off, and an unknown session. */
class WatchedFetch {
  readonly #lost: AbortController;
  readonly #fetch: typeof globalThis.fetch;
  isForgotten = false;

  constructor(lost: AbortController, fetch: typeof globalThis.fetch) {
    this.#lost = lost;
    this.#fetch = fetch;
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await this.#fetch(input, init);
    if (init?.method !== "POST") return response;
    const hasSession = new Headers(init.headers).has("mcp-session-id");
    // The protocol demands 404; many servers respond with 400.
    if (hasSession && (response.status === 404 || response.status === 400)) this.isForgotten = true;
    if (!response.ok || response.body === null) return response;
    return new Response(this.#watch(response.body, init.signal), response);
  };

  #watch(body: Body, signal: AbortSignal | null | undefined): Body {
    const reader = body.pipeThrough(boundedBytes()).getReader();
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
          // Not by us: a call that was stopped ends here too.
          if (signal?.aborted !== true) this.#lost.abort(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }
}

/** It is an optional peer: a host without MCP servers does not install it. */
async function load<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new DefinitionError({ where: "mcpTools", problem: "install the package @ai-sdk/mcp" });
  }
}
