// A proxy on loopback that cuts connections, as a bad network does.
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { cleanup } from "../support/cleanup.ts";

export class CuttingProxy {
  readonly url: string;
  /** How many connections were cut. */
  cuts = 0;
  /** The bytes of responses that a new connection passes on before it is cut; undefined for all. */
  allowance: () => number | undefined = () => undefined;
  #target: URL;
  readonly #clients = new Set<Socket>();

  private constructor(server: Server, target: string) {
    const address = server.address();
    this.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    this.#target = new URL(target);
    server.on("connection", (client) => this.#pass(client));
  }

  static async to(target: string): Promise<CuttingProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const proxy = new CuttingProxy(server, target);
    cleanup(() => {
      server.close();
      proxy.cut();
    });
    return proxy;
  }

  /** New connections go there. */
  retarget(target: string): void {
    this.#target = new URL(target);
  }

  /** Cuts every connection. */
  cut(): void {
    for (const client of this.#clients) client.destroy();
  }

  #pass(client: Socket): void {
    const server = connect(Number(this.#target.port), "127.0.0.1");
    let left = this.allowance() ?? Number.POSITIVE_INFINITY;
    this.#clients.add(client);
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => {
      client.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left > 0) return;
      this.cuts += 1;
      server.pause();
      // Two turns later, when the client has read them: a `fetch` does not hand out bytes that arrive together with the
      // end of their connection, and no request would complete.
      setImmediate(() => setImmediate(() => client.resetAndDestroy()));
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#clients.delete(one);
        other.destroy();
      });
    }
  }
}
