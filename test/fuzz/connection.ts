// One client's connection: follows a manner, and returns the response, if one came.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type HttpResponse, type Progress, readResponse } from "./http-reader.ts";
import { type Deed, type Manner, mayStaySilent } from "./manners.ts";

/** How a request went: its response, an event stream that was left while it ran, or a connection without a response. */
export type Exchange =
  | { readonly kind: "response"; readonly response: HttpResponse }
  | { readonly kind: "stream"; readonly status: number; readonly headers: ReadonlyMap<string, string> }
  | { readonly kind: "silence" };

/** Milliseconds after which a request that should be answered counts as lost. */
const patience = 30_000;
/** Milliseconds for which a stream of events is followed. */
const following = 20;

export class Connection {
  readonly #port: number;
  #socket: Socket | undefined;
  #bytes: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** A server may close a connection that idles at the very moment of the next request: then it is sent once more. */
  async send(manner: Manner, method: string): Promise<Exchange> {
    const used = this.#socket !== undefined;
    const exchange = await this.#send(manner, method);
    const lost = used && exchange.kind === "silence" && !mayStaySilent(manner);
    return lost ? this.#send(manner, method) : exchange;
  }

  async #send(manner: Manner, method: string): Promise<Exchange> {
    const socket = await this.#open();
    for (const deed of manner.deeds) {
      await this.#do(socket, deed);
      if (deed.kind === "leave") return { kind: "silence" };
    }
    const exchange = await this.#read(socket, method);
    const stays = exchange.kind === "response" && exchange.response.reusable && !socket.writableEnded;
    if (!stays) this.close();
    this.#bytes = Buffer.alloc(0);
    return exchange;
  }

  /** Hands the connection over after an upgrade; undefined when there is none to hand over. */
  release(): Socket | undefined {
    const socket = this.#socket;
    this.#socket = undefined;
    return socket;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #open(): Promise<Socket> {
    if (this.#socket !== undefined && !this.#ended) return this.#socket;
    this.close();
    const socket = connect(this.#port, "127.0.0.1");
    this.#socket = socket;
    this.#bytes = Buffer.alloc(0);
    this.#ended = false;
    socket.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      socket.emit("progress");
    });
    // The server may cut it off at any time; its bytes until then count.
    socket.on("error", () => socket.destroy());
    socket.on("end", () => this.#end(socket)).on("close", () => this.#end(socket));
    await once(socket, "connect");
    return socket;
  }

  #end(socket: Socket): void {
    if (socket === this.#socket) this.#ended = true;
    socket.emit("progress");
  }

  async #do(socket: Socket, deed: Deed): Promise<void> {
    if (deed.kind === "wait") await delay(deed.milliseconds);
    if (deed.kind === "leave") this.close();
    if (!socket.writable) return;
    if (deed.kind === "write") socket.write(deed.bytes);
    if (deed.kind === "end") socket.end();
  }

  async #read(socket: Socket, method: string): Promise<Exchange> {
    const late = AbortSignal.timeout(patience);
    for (;;) {
      const progress = readResponse(this.#bytes, method, this.#ended);
      if (progress.kind === "response") return progress;
      if (progress.kind === "head" && isStream(progress)) return this.#follow(progress, method);
      if (this.#ended) return { kind: "silence" };
      // A connection that breaks is closed, which is progress too.
      await once(socket, "progress", { signal: late }).catch(() => undefined);
      if (late.aborted) {
        const heard = JSON.stringify(this.#bytes.toString("latin1", 0, 300));
        throw new Error(`no whole response within ${patience} ms, only ${heard}`);
      }
    }
  }

  /** A stream may wait for an event that never comes. */
  async #follow(head: Extract<Progress, { kind: "head" }>, method: string): Promise<Exchange> {
    await delay(following);
    const progress = readResponse(this.#bytes, method, this.#ended);
    return progress.kind === "response" ? progress : { ...head, kind: "stream" };
  }
}

function isStream({ headers }: { headers: ReadonlyMap<string, string> }): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") === true;
}
