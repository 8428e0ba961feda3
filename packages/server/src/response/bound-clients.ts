// The connections of requests, of any listener: the bytes that wait to be sent are bounded, and each connection
// is served one request at a time.
//
// A client may send thousands of requests without waiting for a response (pipelining). Node hands all of them on at once,
// keeps their responses in memory until those before are written, and reports a client that is gone only to the response
// that is being written. So the next request of a connection begins when the response before it is written, and until then
// nothing more is read from the connection.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "@andante/core";
import { incomingOf, outgoingOf } from "../request/node-request.ts";
import { boundConnections } from "./bound-connections.ts";

/**
 * Requests that may wait on all connections together. A connection has those of one read of 64 KiB at most, which are up to
 * 2500 of about 5 KB each.
 */
const defaultMaxWaiting = 10_000;

/**
 * Call the returned function with what the listener hands on beside a request; only one of Node's has a connection there.
 * It returns undefined when the request may begin at once, else a promise of whether it may begin: false when its client
 * is gone.
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
  /** Requests that wait on all connections. */
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
    // Node starts to read again with each request that was parsed, and with each response that was written.
    socket.on("resume", () => {
      if (this.#waiting.length > 0) socket.pause();
    });
  }

  turn(outgoing: ServerResponse): Promise<boolean> | undefined {
    const current = this.#current;
    // A host may pass several requests of its own to the app for one that it has received.
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

  /** Disconnects the client. Its requests leave the line at once, so that no other connection is cut for them. */
  cut(): void {
    this.drop();
    this.#socket.destroy();
  }

  /** The client is gone: waiting requests are dropped. */
  drop(): void {
    this.#line.waiting -= this.#waiting.length;
    for (const { begin } of this.#waiting) begin(false);
    this.#waiting = [];
  }

  /** The connection on which most requests wait; this one, where no other has more. */
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
