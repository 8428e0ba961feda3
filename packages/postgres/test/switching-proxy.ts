// A proxy before a database, as one that knows which server is the primary: passes bytes on, and can be pointed elsewhere.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface SwitchingProxy {
  readonly port: number;
  /** Breaks the connections that there are; those that come go to this port. */
  switchTo(port: number): void;
  close(): Promise<void>;
}

/** `delay`: milliseconds that every piece of data takes on its way, there and back. */
export async function startProxy(port: number, delay = 0): Promise<SwitchingProxy> {
  let target = port;
  const open = new Set<Socket>();
  const pass = (from: Socket, to: Socket) => {
    open.add(from);
    from.on("data", (data) => {
      if (delay === 0) to.write(data);
      else setTimeout(() => to.writable && to.write(data), delay);
    });
    from.on("error", () => {});
    from.once("close", () => {
      open.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    const database = connect(target, "127.0.0.1");
    pass(client, database);
    pass(database, client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: address.port,
    switchTo(next) {
      target = next;
      breakAll();
    },
    async close() {
      breakAll();
      server.close();
      await once(server, "close");
    },
  };
}
