// The socket paths: the action of each for the host's `authorize`, the view of its clients, and their handler.
import type { Andante } from "@andante/core";
import type { Guarded, Permission } from "../auth/permission.ts";
import type { ResourceId } from "../route.ts";
import { LogSockets } from "./log-sockets.ts";
import { ObservabilitySockets } from "./observability-sockets.ts";
import { type ClientHandler, sendBounded } from "./serve-client.ts";

/** The columns have the same meaning as in the route table. */
export interface SocketPath extends Guarded {
  readonly path: string;
  readonly resource: readonly ResourceId[];
  /** Checks the query and the client's permission; rejects before the client is connected. */
  prepare(query: URLSearchParams, permission: Permission): Promise<ClientHandler>;
}

export function socketPaths(andante: Andante): readonly SocketPath[] {
  const logs = new LogSockets(andante);
  const observability = new ObservabilitySockets(andante);
  return [
    {
      path: "/ws",
      action: "sockets.echo",
      resource: [],
      prepare: async (_, permission) => {
        await permission.scopeOf({});
        return echo;
      },
    },
    {
      path: "/ws/logs",
      action: "logs.follow",
      requires: ["logs.read"],
      resource: ["workflowId", "agentId", "executionId", "conversationId", "userId"],
      reveals: "outline",
      prepare: (query, permission) => logs.prepare(query, permission),
    },
    {
      path: "/ws/observability",
      action: "observability.follow",
      requires: ["logs.read", "traces.list", "traces.read"],
      resource: ["workflowId", "agentId", "conversationId", "userId", "entityType", "entityId"],
      reveals: "outline",
      prepare: (query, permission) => observability.prepare(query, permission),
    },
  ];
}

/** A connection test: sends a greeting, then echoes each message. */
export const echo: ClientHandler = {
  open: (client) =>
    sendBounded(client, { type: "CONNECTION_TEST", success: true, data: { message: "connected" } }),
  message: (client, text) =>
    sendBounded(client, Buffer.from(`{"type":"ECHO","success":true,"data":${asJson(text)}}`)),
};

/** JSON unchanged, any other text as a JSON string. Deeply nested JSON can be parsed but not stringified again. */
function asJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}
