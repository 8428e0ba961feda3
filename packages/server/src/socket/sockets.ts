// WebSockets on the server's own port: who may connect, how many, and which path does what.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "@andante/core";
import { type WebSocket, WebSocketServer } from "ws";
import type { Gate } from "../auth/gate.ts";
import { failure } from "../envelope.ts";
import { RouteNotFoundError, SocketLimitError } from "../errors/request-errors.ts";
import { echo } from "./echo.ts";

/** Takes a request to upgrade, as `http.Server` hands it out in its event `upgrade`. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface Sockets {
  readonly upgrade: UpgradeHandler;
  /** Tells every client that the server goes away. */
  close(): void;
}

export interface SocketsOptions {
  readonly gate: Gate;
  readonly logger: Logger;
  /** Clients at once. */
  readonly limit: number;
}

const largestMessage = 1024 * 1024;
const pingPeriod = 30_000;
const closePeriod = 1000;
const goingAway = 1001;

/** What each path does with a client that has connected. */
const paths: ReadonlyMap<string, (socket: WebSocket) => void> = new Map([["/ws", echo]]);

export function createSockets({ gate, logger, limit }: SocketsOptions): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: largestMessage });
  server.on("connection", keepAlive);
  const admit = async (request: IncomingMessage): Promise<(socket: WebSocket) => void> => {
    const url = new URL(request.url ?? "/", "http://socket");
    const headers = Object.entries(request.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    await gate.admitSocket(new Request(url, { headers }));
    const serve = paths.get(url.pathname);
    if (serve === undefined) throw new RouteNotFoundError({ method: "GET", path: url.pathname });
    if (server.clients.size >= limit) throw new SocketLimitError({ limit });
    return serve;
  };
  return {
    upgrade(request, socket, head) {
      // A connection that breaks before it is answered is nobody's trouble but the client's.
      socket.on("error", () => socket.destroy());
      admit(request).then(
        (serve) =>
          server.handleUpgrade(request, socket, head, (client) => {
            client.on("error", (err) =>
              logger.debug({ err }, "a socket was closed for an error of its client"),
            );
            server.emit("connection", client, request);
            serve(client);
          }),
        (error) => refuse(socket, error, logger),
      );
    },
    close() {
      for (const client of server.clients) {
        client.close(goingAway, "The server is shutting down");
        // One that does not answer is not waited for.
        setTimeout(() => client.terminate(), closePeriod).unref();
      }
    },
  };
}

/** Pings a client; one that has not answered by the next ping is gone. */
function keepAlive(client: WebSocket): void {
  let answered = true;
  client.on("pong", () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) return client.terminate();
    answered = false;
    client.ping();
  }, pingPeriod).unref();
  client.on("close", () => clearInterval(timer));
}

/** Answers a refused upgrade like any other request: with the envelope. */
function refuse(socket: Duplex, error: unknown, logger: Logger): void {
  const { status, headers, body } = failure(error, logger);
  const text = String(body);
  const lines = Object.entries({
    ...headers,
    "content-length": Buffer.byteLength(text),
    connection: "close",
  });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join("\r\n");
  socket.end(`HTTP/1.1 ${status} Refused\r\n${head}\r\n\r\n${text}`);
}
