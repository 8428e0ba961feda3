// WebSockets on the server's own port: who may connect, how many, and which path does what.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Andante, Logger } from "@andante/core";
import { internalsOf } from "@andante/core/internal";
import { type WebSocket, WebSocketServer } from "ws";
import type { Gate } from "../auth/gate.ts";
import { BadRequestError, RouteNotFoundError, SocketLimitError } from "../errors/request-errors.ts";
import { failure } from "../response/envelope.ts";
import { withoutStacks } from "../response/without-stacks.ts";
import { boundBuffers } from "./bound-buffers.ts";
import { echo } from "./echo.ts";
import { LogSockets } from "./log-sockets.ts";
import { ObservabilitySockets } from "./observability-sockets.ts";
import { type ClientHandler, serveClient } from "./serve-client.ts";

/** Handles a request to upgrade, as `http.Server` emits it in its event `upgrade`. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface Sockets {
  readonly upgrade: UpgradeHandler;
  /** Notifies every client that the server is shutting down. */
  close(): void;
}

export interface SocketsOptions {
  readonly andante: Andante;
  readonly gate: Gate;
  readonly logger: Logger;
  /** Who connects is not known: lines are sent without stacks. */
  readonly anonymous: boolean;
  /** Clients at once. */
  readonly limit: number;
}

const maxMessageBytes = 1024 * 1024;
const pingPeriod = 30_000;
const closePeriod = 1000;
const goingAway = 1001;

/** What each path does: reads the query, or throws before the client is connected. */
function pathsOf(
  andante: Andante,
  anonymous: boolean,
): ReadonlyMap<string, (query: URLSearchParams) => ClientHandler> {
  const shown = anonymous ? withoutStacks : (record: string) => record;
  const logs = new LogSockets(andante, shown);
  const observability = new ObservabilitySockets(andante, shown);
  return new Map<string, (query: URLSearchParams) => ClientHandler>([
    ["/ws", () => echo],
    ["/ws/logs", (query) => logs.prepare(query)],
    ["/ws/observability", (query) => observability.prepare(query)],
  ]);
}

export function createSockets({ andante, gate, logger, anonymous, limit }: SocketsOptions): Sockets {
  const paths = pathsOf(andante, anonymous);
  const server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes });
  server.on("connection", keepAlive);
  const buffers = boundBuffers(server.clients);
  server.on("connection", () => buffers.watch());
  internalsOf(andante).metrics.gauge("socket_clients", "WebSocket clients", () => server.clients.size);
  // What is wrong with the handshake itself is found by `ws`.
  server.on("wsClientError", ({ message }: Error, socket: Duplex) =>
    refuse(socket, new BadRequestError({ problem: message }), logger),
  );
  const admit = async (incoming: IncomingMessage): Promise<ClientHandler> => {
    const request = readRequest(incoming);
    const url = new URL(request.url);
    await gate.admitSocket(request);
    const prepare = paths.get(url.pathname);
    if (prepare === undefined) throw new RouteNotFoundError({ method: "GET", path: url.pathname });
    const handler = prepare(url.searchParams);
    if (server.clients.size >= limit) throw new SocketLimitError({ limit });
    return handler;
  };
  return {
    upgrade(request, socket, head) {
      // A connection that breaks before the response concerns only the client.
      socket.on("error", () => socket.destroy());
      admit(request)
        .then((handler) =>
          server.handleUpgrade(request, socket, head, (client) => {
            server.emit("connection", client, request);
            serveClient(client, handler, logger);
          }),
        )
        .catch((error) => refuse(socket, error, logger));
    },
    close() {
      for (const client of server.clients) {
        client.close(goingAway, "The server is shutting down");
        // One that does not close by itself is not waited for.
        setTimeout(() => client.terminate(), closePeriod).unref();
      }
    },
  };
}

/** The request as providers read it. Node accepts some that no web API can hold. */
function readRequest({ url: target = "/", headersDistinct }: IncomingMessage): Request {
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  try {
    return new Request(new URL(target, "http://socket"), { headers });
  } catch {
    throw new BadRequestError({ problem: "The request's address or headers cannot be read" });
  }
}

/** Pings a client; one that has sent no pong by the next ping is gone. */
function keepAlive(client: WebSocket): void {
  let alive = true;
  client.on("pong", () => {
    alive = true;
  });
  const timer = setInterval(() => {
    if (!alive) return client.terminate();
    alive = false;
    client.ping();
  }, pingPeriod).unref();
  client.on("close", () => clearInterval(timer));
}

/** Responds to a refused upgrade like to any other request: with the envelope. */
function refuse(socket: Duplex, error: unknown, logger: Logger): void {
  const { status, headers, body } = failure(error, logger);
  const text = String(body);
  const lines = Object.entries({
    ...headers,
    "content-length": Buffer.byteLength(text),
    connection: "close",
  });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join("\r\n");
  // Node leaves the other half of an upgrade's connection open, for as long as the client likes.
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} Refused\r\n${head}\r\n\r\n${text}`);
}
