// The connections of all listeners: unsent bytes are bounded, and each connection is served one request at a time.
//
// A client may send thousands of requests without waiting for a response (pipelining). Node emits all of them at once,
// keeps their responses in memory until the previous ones are written, and reports a disconnect only to the response
// that is being written. So the next request of a connection starts when the previous response is written, and until
// then nothing more is read from the connection.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "@andante/core";
import { incomingOf, outgoingOf } from "../request/node-request.ts";
import { boundConnections } from "./bound-connections.ts";

/**
 * Maximum requests that wait on all connections together. A connection has at most those of one read of 64 KiB, which
 * are up to 2500 of about 5 KB each.
 */
const defaultMaxWaiting = 10_000;

/**
 * Call the returned function with the `env` of a request; only Node's listener has a connection there. It returns
 * undefined when the request may start at once, else a promise that is false when the client has disconnected.
 */
export function boundClients(
  logger: Logger,
  maxWaiting = defaultMaxWaiting,
): (env: unknown) => Promise<boolean> | undefined {
  const connections = new Map<Socket, Connection>();
  const bound = boundConnections(connections, logger);
  const line = { waiting: 0, maxWaiting, connections };
  const add = (socket: Socket) => {
    const connection = new Connection(socket, line);
    connections.set(socket, connection);
    bound.watch();
    socket.once("close", () => {
      connections.delete(socket);
      connection.drop();
    });
    return connection;
  };
  return (env) => {
    const socket = incomingOf(env)?.socket;
    if (socket === undefined) return undefined;
    if (socket.destroyed) return Promise.resolve(false);
    const connection = connections.get(socket) ?? add(socket);
    const outgoing = outgoingOf(env);
    return outgoing === undefined ? undefined : connection.turn(outgoing);
  };
}

interface Line {
  /** The number of waiting requests on all connections. */
  waiting: number;
  readonly maxWaiting: number;
  readonly connections: ReadonlyMap<Socket, Connection>;
}

interface Waiting {
  readonly outgoing: ServerResponse;
  begin(isThere: boolean): void;
}

class Connection {
  readonly #socket: Socket;
  readonly #line: Line;
  #current: ServerResponse | undefined;
  #waiting: Waiting[] = [];

  constructor(socket: Socket, line: Line) {
    this.#socket = socket;
    this.#line = line;
    // Node resumes reading after each parsed request and after each written response.
    socket.on("resume", () => {
      if (this.#waiting.length > 0) socket.pause();
    });
  }

  turn(outgoing: ServerResponse): Promise<boolean> | undefined {
    const current = this.#current;
    // A host may send several requests to the app for one that it received.
    if (current === undefined || current === outgoing || current.writableFinished) {
      this.#current = outgoing;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ outgoing, begin: resolve });
    this.#line.waiting += 1;
    if (this.#waiting.length === 1) {
      this.#socket.pause();
      current.once("close", () => this.#next());
    }
    if (this.#line.waiting > this.#line.maxWaiting) this.#largest().cut();
    return promise;
  }

  /** Disconnects the client. Its requests leave the queue at once, so that no other connection is cut for them. */
  cut(): void {
    this.drop();
    this.#socket.destroy();
  }

  /** Drops the waiting requests of a disconnected client. */
  drop(): void {
    this.#line.waiting -= this.#waiting.length;
    for (const { begin } of this.#waiting) begin(false);
    this.#waiting = [];
  }

  /** The connection with the most waiting requests; this one in a tie. */
  #largest(): Connection {
    let largest: Connection = this;
    for (const each of this.#line.connections.values())
      if (each.#waiting.length > largest.#waiting.length) largest = each;
    return largest;
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#line.waiting -= 1;
    this.#current = next.outgoing;
    if (this.#waiting.length === 0) this.#socket.resume();
    else next.outgoing.once("close", () => this.#next());
    next.begin(true);
  }
}
