// What waits to be sent on all connections together is bounded: clients that do not read are cut, the largest first.
//
// A response is in memory until its client has taken it. One of 16 MiB is nothing, a thousand that nobody reads are all
// the memory there is, and some of them anyone may ask for. Sockets and streams have bounds of their own below this one.
import type { Socket } from "node:net";
import type { Logger } from "@andante/core";

type Connection = Pick<Socket, "writableLength" | "destroy">;

export interface ConnectionBound {
  /** Bytes that may wait for all clients together. Default: 256 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds between two checks. Default: 250. */
  readonly period?: number;
}

const defaultMaxBytes = 256 * 1024 * 1024;
const defaultPeriod = 250;
/** Milliseconds after which a client counts as slow: one that is just reading a large response is not cut for it. */
const slowAfter = 1000;

/** Watches the connections of a server; call `watch` when there is a new one. */
export function boundConnections(
  connections: Pick<ReadonlySet<Connection>, "size" | "keys">,
  logger: Logger,
  { maxBytes = defaultMaxBytes, period = defaultPeriod }: ConnectionBound = {},
): { watch(): void } {
  let timer: NodeJS.Timeout | undefined;
  /** Those for which something waits, and since when. */
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

/** Cuts as many as hold `excess` bytes: the largest first, those that are slow before others. */
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
    "connections were cut: their clients did not read what waits for them",
  );
}
