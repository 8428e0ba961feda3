// Between Restate and the endpoint of a store: passes connections on to a port, and cuts them.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export async function startProxy(port: number, first: number) {
  let target: number | undefined = first;
  const sockets = new Set<Socket>();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  /** Bytes of the endpoint that still pass. */
  let left = Number.POSITIVE_INFINITY;
  let passed = Promise.withResolvers<void>();
  const pass = (chunk: Buffer, to: Socket) => {
    if (target === undefined) return;
    to.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left > 0) return;
    left = Number.POSITIVE_INFINITY;
    target = undefined;
    // Restate reads everything that has passed, finds the end and closes: destroyed at once, bytes on their way would be lost.
    to.end();
    to.once("close", () => {
      cut();
      passed.resolve();
    });
  };
  const proxy = createServer((from) => {
    if (target === undefined) return void from.destroy();
    const to = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
    }
    from.pipe(to);
    to.on("data", (chunk) => pass(chunk, from));
  }).listen(port);
  await once(proxy, "listening");
  return {
    /** Cuts all connections; new ones go to this port. */
    pointTo: (other: number) => {
      target = other;
      cut();
    },
    /** Lets the endpoint send so many bytes more; then no connection lasts, until another call of `pointTo`. */
    cutAfter: async (bytes: number) => {
      left = bytes;
      passed = Promise.withResolvers<void>();
      await passed.promise;
    },
    close: () => {
      cut();
      proxy.close();
    },
  };
}
