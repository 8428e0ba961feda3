// A real MCP server for tests, made with the protocol's own SDK: over standard input and output, or over HTTP.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

/** `heard` receives the name of each tool that is called. */
export function mcpServer(heard: (name: string) => void = () => undefined): McpServer {
  const server = new McpServer({ name: "for-tests", version: "1.0.0" });
  const say = (text: string) => ({ content: [{ type: "text" as const, text }] });
  const add = { description: "Adds two numbers", inputSchema: { one: z.number(), two: z.number() } };
  server.registerTool("add", add, ({ one, two }) => {
    heard("add");
    return say(String(one + two));
  });
  server.registerTool("pid", { description: "The id of the server's process" }, () =>
    say(String(process.pid)),
  );
  server.registerTool("surroundings", { description: "The server's folder and what it greets with" }, () =>
    say(`${process.env.GREETING} from ${process.cwd()}`),
  );
  server.registerTool("refuse", { description: "Always fails" }, () => {
    throw new Error("not today");
  });
  server.registerTool("die", { description: "Kills the server" }, () => {
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => undefined);
  });
  server.registerTool("wait", { description: "Never ends" }, () => {
    heard("wait");
    return new Promise(() => undefined);
  });
  return server;
}

/** A session for each client that connects, as servers usually have it. */
export async function startHttp(port: number, heard?: (name: string) => void): Promise<Server> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    const id = String(request.headers["mcp-session-id"] ?? "");
    const known = sessions.get(id);
    if (known === undefined && id !== "") {
      response.writeHead(404).end("no such session");
      return;
    }
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, transport),
      });
    if (known === undefined) await mcpServer(heard).connect(transport);
    await transport.handleRequest(request, response);
  });
  http.listen(port, "127.0.0.1");
  await once(http, "listening");
  return http;
}

if (process.argv[1] === import.meta.filename) {
  const [, , port] = process.argv;
  if (port === undefined) await mcpServer().connect(new StdioServerTransport());
  else {
    await startHttp(Number(port));
    process.stdout.write("listening\n");
  }
}
