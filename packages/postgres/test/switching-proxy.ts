// A proxy before a database, as one that knows which server is the primary: passes bytes on, can be pointed elsewhere, and
// has the faults of a network.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface SwitchingProxy {
  readonly port: number;
  /** Breaks the connections that there are; those that come go to this port. */
  switchTo(port: number): void;
  /**
   * Drops the bytes of open connections from now on, both ways, without closing them, as a firewall does that has
   * forgotten them. Connections that come later work. The database's ends are closed after so many milliseconds; without
   * a number, with the proxy.
   */
  silence(closeAfter?: number): void;
  /** Holds the replies to the next `count` commits back for so many milliseconds, then breaks their connections. */
  slowCommits(count: number, delay: number): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly database: Socket;
  isSilent: boolean;
  /** Replies are held back, because the connection is about to break. */
  isHeld: boolean;
}

/** A query of the simple protocol that is nothing but this word. */
const commitMessage = Buffer.from("Q\0\0\0\x0bcommit\0");

/** `delay`: milliseconds that every piece of data takes on its way, there and back. `host`: of the database. */
export async function startProxy(port: number, delay = 0, host = "127.0.0.1"): Promise<SwitchingProxy> {
  let target = port;
  let slow = { count: 0, delay: 0 };
  const open = new Set<Pair>();
  const write = (to: Socket, data: Buffer) => {
    if (delay === 0) to.write(data);
    else setTimeout(() => to.writable && to.write(data), delay);
  };
  const breakOff = ({ client, database }: Pair) => {
    client.destroy();
    database.destroy();
  };
  const server = createServer((client) => {
    const database = connect(target, host);
    const pair: Pair = { client, database, isSilent: false, isHeld: false };
    open.add(pair);
    client.on("data", (data) => {
      if (pair.isSilent) return;
      if (slow.count > 0 && !pair.isHeld && data.includes(commitMessage)) {
        slow.count--;
        pair.isHeld = true;
        setTimeout(() => breakOff(pair), slow.delay);
      }
      write(database, data);
    });
    database.on("data", (data) => {
      if (!pair.isSilent && !pair.isHeld) write(client, data);
    });
    for (const socket of [client, database]) {
      socket.on("error", () => {});
      socket.once("close", () => {
        // The other end of a silent connection does not learn of it.
        if (pair.isSilent) return;
        open.delete(pair);
        breakOff(pair);
      });
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const breakAll = () => {
    for (const pair of open) breakOff(pair);
  };
  return {
    port: address.port,
    switchTo(next) {
      target = next;
      breakAll();
    },
    silence(closeAfter) {
      const silenced = [...open];
      for (const pair of silenced) pair.isSilent = true;
      if (closeAfter === undefined) return;
      setTimeout(() => {
        for (const pair of silenced) {
          open.delete(pair);
          pair.database.destroy();
        }
      }, closeAfter).unref();
    },
    slowCommits(count, milliseconds) {
      slow = { count, delay: milliseconds };
    },
    async close() {
      breakAll();
      server.close();
      await once(server, "close");
    },
  };
}
