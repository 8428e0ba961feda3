// Bounds the unsent bytes of all connections together: clients that do not read are cut, the largest first.
//
// A response stays in memory until its client has read it. One of 16 MiB is harmless, a thousand unread ones exhaust
// the memory, and some of them need no token. Sockets and streams have lower bounds besides this one.
import type { Socket } from "node:net";
import type { Logger } from "@andante/core";

type Connection = Pick<Socket, "writableLength" | "destroy">;

export interface ConnectionBound {
  /** Maximum unsent bytes of all clients together. Default: 256 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds between two checks. Default: 250. */
  readonly period?: number;
}

const defaultMaxBytes = 256 * 1024 * 1024;
const defaultPeriod = 250;
/** Milliseconds after which a client counts as slow: a client that is reading a large response is not cut. */
const slowAfter = 1000;

/** Watches the connections of a server; call `watch` for each new one. */
export function boundConnections(
  connections: Pick<ReadonlySet<Connection>, "size" | "keys">,
  logger: Logger,
  { maxBytes = defaultMaxBytes, period = defaultPeriod }: ConnectionBound = {},
): { watch(): void } {
  let timer: NodeJS.Timeout | undefined;
  /** Connections with unsent bytes, and since when. */
  let waiting = new Map<Connection, number>();
  const check = () => {
    if (connections.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    const now = performance.now();
    const still = new Map<Connection, number>();
    let total = 0;
    for (const connection of connections.keys()) {
      if (connection.writableLength === 0) continue;
      total += connection.writableLength;
      still.set(connection, waiting.get(connection) ?? now);
    }
    waiting = still;
    if (total > maxBytes) cut(waiting, total - maxBytes, now, logger);
  };
  return {
    watch() {
      timer ??= setInterval(check, period).unref();
    },
  };
}

/** Cuts connections until `excess` bytes are freed: slow ones first, then the largest. */
function cut(waiting: ReadonlyMap<Connection, number>, excess: number, now: number, logger: Logger): void {
  const isSlow = (connection: Connection) => now - (waiting.get(connection) ?? now) >= slowAfter;
  const order = [...waiting.keys()].sort(
    (one, other) => Number(isSlow(other)) - Number(isSlow(one)) || other.writableLength - one.writableLength,
  );
  let bytes = 0;
  let count = 0;
  for (const connection of order) {
    if (bytes >= excess) break;
    bytes += connection.writableLength;
    count += 1;
    connection.destroy();
  }
  logger.warn(
    { connections: count, bytes },
    "connections were closed: their clients did not read their responses",
  );
}
