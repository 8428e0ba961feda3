// A WebSocket client that hands out messages one by one, for the tests of sockets.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { z } from "zod";
import { inTime } from "../../packages/core/test/support/in-time.ts";
import type { Fields } from "./responses.ts";

const fields = z.record(z.string(), z.unknown());
/** Where a server listens. */
type Listening = { readonly url: string };

const address = (server: Listening, path: string) => `${server.url.replace("http", "ws")}${path}`;

export class SocketClient {
  readonly socket: WebSocket;
  readonly #arrived: Fields[] = [];
  readonly #waiting: ((message: Fields) => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (raw) => {
      const message = fields.parse(JSON.parse(raw.toString()));
      const next = this.#waiting.shift();
      if (next === undefined) this.#arrived.push(message);
      else next(message);
    });
  }

  static async connect(
    server: Listening,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<SocketClient> {
    const client = new SocketClient(new WebSocket(address(server, path), { headers }));
    await inTime(once(client.socket, "open"), "the open socket");
    return client;
  }

  /** Messages that arrived and were not requested yet. */
  get arrived(): readonly Fields[] {
    return this.#arrived;
  }

  next(): Promise<Fields> {
    const message = this.#arrived.shift();
    if (message !== undefined) return Promise.resolve(message);
    return inTime(new Promise<Fields>((resolve) => this.#waiting.push(resolve)), "a message");
  }

  /** Reads to the first message that the test likes. */
  async until(likes: (message: Fields) => boolean): Promise<Fields[]> {
    const read: Fields[] = [];
    for (;;) {
      const message = await this.next();
      read.push(message);
      if (likes(message)) return read;
    }
  }

  send(message: unknown): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }
}

/** The response to a connection that is refused. */
export async function refusal(server: Listening, path: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(address(server, path), { headers });
  const refused = new Promise<IncomingMessage>((resolve, reject) => {
    socket.on("unexpected-response", (_, response) => resolve(response));
    socket.on("open", () => reject(new Error(`${path} was not refused`)));
  });
  const response = await inTime(refused, "the refusal");
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, headers: response.headers, body: fields.parse(JSON.parse(text)) };
}
