// A server with a tool that asks in place of a result, without tasks.
import { serve as listen } from "@hono/node-server";
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { cleanup } from "../support/cleanup.ts";

export const requestedSchema = {
  type: "object" as const,
  properties: { approved: { type: "boolean" as const } },
  required: ["approved"],
};

/** `calls` has the answer of each call, undefined where it had none. */
export async function startDesk() {
  const calls: unknown[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "desk", version: "1" });
    server.registerTool(
      "publish",
      { inputSchema: z.object({ text: z.string() }) },
      async (given, { mcpReq }) => {
        const answer = acceptedContent(mcpReq.inputResponses, "sure");
        calls.push(answer);
        if (answer !== undefined) return { content: [{ type: "text", text: `published ${given.text}` }] };
        const sure = inputRequired.elicit({ message: "Sure?", requestedSchema });
        return inputRequired({ inputRequests: { sure }, requestState: "s-1" });
      },
    );
    return server;
  });
  return { url: await listenFor((request) => handler.fetch(request)), calls };
}

/** Listens on any free port until the test is over. */
export async function listenFor(fetch: (request: Request) => Response | Promise<Response>): Promise<string> {
  const listening = Promise.withResolvers<number>();
  const server = listen({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => listening.resolve(port));
  cleanup(() => void server.close());
  return `http://127.0.0.1:${await listening.promise}`;
}
