// The paths of sockets: what each is to the host's `authorize`, whom it shows what, and what serves its clients.
import type { Andante } from "@andante/core";
import type { Reveals } from "../auth/authorize.ts";
import { echo } from "./echo.ts";
import { LogSockets } from "./log-sockets.ts";
import { ObservabilitySockets } from "./observability-sockets.ts";
import type { ClientHandler, Look } from "./serve-client.ts";

export interface SocketPath {
  readonly path: string;
  readonly action: string;
  /** As in the route table. */
  readonly reveals?: Reveals;
  /** Reads the query and asks what the client may see, or rejects before the client is connected. */
  prepare(query: URLSearchParams, look: Look): Promise<ClientHandler>;
}

export function socketPaths(andante: Andante): readonly SocketPath[] {
  const logs = new LogSockets(andante);
  const observability = new ObservabilitySockets(andante);
  return [
    {
      path: "/ws",
      action: "sockets.echo",
      prepare: async (_, look) => {
        await look({});
        return echo;
      },
    },
    {
      path: "/ws/logs",
      action: "logs.follow",
      reveals: "outline",
      prepare: (query, look) => logs.prepare(query, look),
    },
    {
      path: "/ws/observability",
      action: "observability.follow",
      reveals: "outline",
      prepare: (query, look) => observability.prepare(query, look),
    },
  ];
}
