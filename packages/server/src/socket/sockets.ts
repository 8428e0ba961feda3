// WebSockets on the server's own port: admission, limits, and the handlers of the paths.
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Andante, Logger } from "@andante/core";
import { ShuttingDownError } from "@andante/core/errors";
import { systemClock } from "@andante/core/internal";
import { getPath } from "hono/utils/url";
import type { WebSocket, WebSocketServer } from "ws";
import type { Authorize } from "../auth/authorize.ts";
import type { Gate, SocketCaller } from "../auth/gate.ts";
import { Permission } from "../auth/permission.ts";
import type { HostCheck } from "../cors/allowed-hosts.ts";
import type { Cors } from "../cors/cors.ts";
import { BadRequestError, RouteNotFoundError } from "../errors/request-errors.ts";
import { pathBehind } from "../request/base-path.ts";
import type { ClientOf } from "../request/client.ts";
import type { Held, HeldBytes } from "../request/held-bytes.ts";
import type { Places } from "../request/places.ts";
import { failure } from "../response/envelope.ts";
import { boundBuffers } from "./bound-buffers.ts";
import { type ClientHandler, maxMessageBytes, serveClient, tryAgainLater } from "./serve-client.ts";
import { socketPaths } from "./socket-paths.ts";

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
  readonly cors: Cors;
  /** Undefined where every host is allowed. */
  readonly checkHost: HostCheck | undefined;
  readonly logger: Logger;
  readonly authorize: Authorize | undefined;
  readonly basePath: string;
  readonly places: Places;
  /** Counts the bytes of unfinished messages. */
  readonly unfinished: HeldBytes;
  readonly clientOf: ClientOf;
}

/** Frames of one message, and pieces in which it arrives: each takes a hundred bytes beside its own. */
const maxPieces = 10_000;
/** Bytes of a control frame beside its data. */
const controlFrameBytes = 6;
const pingPeriod = 30_000;
const closePeriod = 1000;
const goingAway = 1001;
/** An application-defined close code, by analogy with status 401. */
const tokenExpired = 4401;

export function createSockets(options: SocketsOptions): Sockets {
  const { andante, gate, cors, checkHost, logger, authorize, basePath, places, unfinished, clientOf } =
    options;
  const paths = socketPaths(andante);
  const clients = new Set<WebSocket>();
  const buffers = boundBuffers(clients);
  let opening: Promise<WebSocketServer> | undefined;
  andante.metrics.gauge("socket_clients", "WebSocket clients", () => clients.size);
  // Hosts forward upgrades unchanged: unlike requests, they never strip the base path.
  const pathOf = (request: Request) => {
    const behind = pathBehind(basePath, getPath(request));
    return paths.find((each) => each.path === behind);
  };
  const admit = async (incoming: IncomingMessage): Promise<Admission> => {
    const request = readRequest(incoming);
    const url = new URL(request.url);
    checkHost?.(request.headers.get("host"));
    cors.checkSocket(request.headers);
    const caller = await gate.admitSocket(request);
    const path = pathOf(request);
    if (path === undefined) throw new RouteNotFoundError({ method: "GET", path: url.pathname });
    const { user, userId } = caller;
    const handler = await path.prepare(
      url.searchParams,
      new Permission(authorize, gate.enabled, { user, userId }, path),
    );
    return { handler, caller };
  };
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const { handler, caller } = await admit(request);
    await andante.ready();
    opening ??= openServer(logger);
    const server = await opening;
    if (andante.closing) throw new ShuttingDownError();
    // A connection that has closed already emits no further `close`: its place would stay taken.
    if (socket.destroyed) return;
    const forwarded = request.headersDistinct["x-forwarded-for"]?.join();
    const { remoteAddress: address } = request.socket;
    const owner = clientOf(caller.userId, { address, forwarded });
    const place = places.take(owner, () => socket.destroy());
    socket.once("close", () => place.end());
    server.handleUpgrade(request, socket, head, (client) => {
      place.cut = () => end(client, tryAgainLater, "Others need this place");
      clients.add(client);
      client.on("close", () => clients.delete(client));
      keepAlive(client);
      buffers.watch();
      countUnfinished(client, socket, (cut) => unfinished.hold(owner, cut));
      endWithToken(client, caller);
      serveClient(client, handler, logger);
    });
  };
  const isOurs = (incoming: IncomingMessage) => {
    try {
      return pathOf(readRequest(incoming)) !== undefined;
    } catch {
      return false;
    }
  };
  return {
    upgrade(request, socket, head) {
      if (hasOtherListeners(socket) && !isOurs(request)) return;
      // A connection that breaks before the response affects only its client.
      socket.on("error", () => socket.destroy());
      accept(request, socket, head).catch((error) => refuse(socket, error, logger));
    },
    close() {
      for (const client of clients) end(client, goingAway, "The server is shutting down");
    },
  };
}

/** Loads `ws` for the first client: many servers never have one. */
async function openServer(logger: Logger): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    maxFragments: maxPieces,
    maxBufferedChunks: maxPieces,
  });
  // `ws` reports a failed handshake with this event.
  server.on("wsClientError", ({ message }: Error, socket: Duplex) =>
    refuse(socket, new BadRequestError({ problem: message }), logger),
  );
  return server;
}

/** The caller that connects, and its handler. */
interface Admission {
  readonly handler: ClientHandler;
  readonly caller: SocketCaller;
}

/**
 * Counts the bytes since the client's last whole message. A client that is cut is disconnected at once: it would have to
 * finish its message before it reads a close code.
 */
function countUnfinished(client: WebSocket, socket: Duplex, hold: (cut: () => void) => Held): void {
  const { now, end } = hold(() => client.terminate());
  let bytes = 0;
  const ofControl = (data: Buffer) => {
    bytes = Math.max(0, bytes - data.length - controlFrameBytes);
    now(bytes);
  };
  // Before the listener of `ws`, which emits the messages in these bytes.
  socket.prependListener("data", (chunk: Buffer) => {
    bytes += chunk.length;
    now(bytes);
  });
  client.on("message", () => {
    bytes = 0;
    now(0);
  });
  client.on("ping", ofControl);
  client.on("pong", ofControl);
  client.on("close", end);
}

/** Closes a client when its token expires, since requests with that token are refused from then on. */
function endWithToken(client: WebSocket, { expiresAt }: SocketCaller): void {
  if (expiresAt === undefined) return;
  const cancel = systemClock.at(expiresAt, "limit", () => end(client, tokenExpired, "Token expired"));
  client.on("close", cancel);
}

function end(client: WebSocket, code: number, reason: string): void {
  client.close(code, reason);
  // Terminate a client that does not complete the close handshake.
  setTimeout(() => client.terminate(), closePeriod).unref();
}

/** Whether the host has another `upgrade` listener: then unknown paths are left to it, otherwise refused. */
function hasOtherListeners(socket: Duplex): boolean {
  const server: unknown = "server" in socket ? socket.server : undefined;
  return server instanceof EventEmitter && server.listenerCount("upgrade") > 1;
}

/** The upgrade as a Request for providers. Node accepts some requests that a Request cannot represent. */
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

/** Pings a client; terminates a client without a pong by the next ping. */
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

/** Responds to a refused upgrade with the envelope. */
function refuse(socket: Duplex, error: unknown, logger: Logger): void {
  const { status, headers, body } = failure(error, logger);
  const text = String(body);
  const lines = Object.entries({
    ...headers,
    "content-length": Buffer.byteLength(text),
    connection: "close",
  });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join("\r\n");
  // Node leaves the other half of an upgrade's connection open until the client closes it.
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} Refused\r\n${head}\r\n\r\n${text}`);
}
