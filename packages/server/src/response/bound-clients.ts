// Finds the connections of requests, so that what waits to be sent on them is bounded, whoever listens.
import type { Socket } from "node:net";
import type { Logger } from "@andante/core";
import { incomingOf } from "../request/node-request.ts";
import { boundConnections } from "./bound-connections.ts";

/** Call what it returns with what the listener hands on beside a request; only one of Node's has a connection there. */
export function boundClients(logger: Logger): (env: unknown) => void {
  const connections = new Set<Socket>();
  const bound = boundConnections(connections, logger);
  return (env) => {
    const socket = incomingOf(env)?.socket;
    if (socket === undefined || connections.has(socket)) return;
    connections.add(socket);
    bound.watch();
    socket.once("close", () => connections.delete(socket));
  };
}
