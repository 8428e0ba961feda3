// The listener of `serve`: Node's HTTP server with the app behind it. `serve` loads this module, and with it
// `node:http`, `fetch` and Hono's bridge between them, while the database thread starts.
import { createServer, type Server, type ServerOptions } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { App } from "./app.ts";
import { BadRequestError, RouteNotFoundError } from "./errors/request-errors.ts";
import { isBehind } from "./request/base-path.ts";
import { bindIncoming } from "./request/node-request.ts";
import { failure } from "./response/envelope.ts";

export interface ListenerOptions {
  readonly connections: ServerOptions;
  /**
   * Whether requests reach the routes unchanged: the host has no middleware that could change them or read the body.
   */
  readonly isDirect: boolean;
  /** Whether the server is about to close. */
  isClosing(): boolean;
}

/** The server that hands requests to the app; it does not listen yet. */
export function createListener(service: App, { connections, isDirect, isClosing }: ListenerOptions): Server {
  const { basePath } = service;
  const { logger } = service.andante;
  // A request that no router can read, such as one with a malformed host name, never reaches the app: respond here.
  const errorHandler = (error: unknown) => {
    const unreadable = error instanceof RequestError;
    return failure(unreadable ? new BadRequestError({ problem: error.message }) : error, logger).toResponse();
  };
  const elsewhere = ({ method, url }: Request) =>
    failure(new RouteNotFoundError({ method, path: new URL(url).pathname }), logger).toResponse();
  const fetch: typeof service.fetch = (request, env) => {
    if (isDirect) bindIncoming(request, env);
    return basePath === "" || isBehind(basePath, request) ? service.fetch(request, env) : elsewhere(request);
  };
  const listener = getRequestListener(fetch, { errorHandler });
  const server = createServer(connections, (incoming, outgoing) => {
    // A load balancer that keeps connections open must choose another node for its next request.
    if (isClosing()) outgoing.shouldKeepAlive = false;
    return listener(incoming, outgoing);
  });
  return server.on("upgrade", service.websocket);
}
