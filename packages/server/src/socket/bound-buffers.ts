// Bounds the unsent bytes of all socket clients together: the largest buffers are cut first.
import type { WebSocket } from "ws";
import { tryAgainLater } from "./serve-client.ts";

export interface BufferBound {
  /** Maximum unsent bytes of all clients together. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds between two checks. Default: 100. */
  readonly period?: number;
}

/** One client may have 4 MiB; a thousand of them would be 4 GiB. */
const defaultMaxBytes = 64 * 1024 * 1024;
const defaultPeriod = 100;

/** Watches the clients of a server; call `watch` for each new one. */
export function boundBuffers(clients: ReadonlySet<WebSocket>, bound: BufferBound = {}): { watch(): void } {
  const { maxBytes = defaultMaxBytes, period = defaultPeriod } = bound;
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    if (clients.size === 0) {
      clearInterval(timer);
      timer = undefined;
    } else cutLargest(clients, maxBytes);
  };
  return {
    watch() {
      timer ??= setInterval(check, period).unref();
    },
  };
}

/**
 * A client that is cut receives the reason if it reads again. A client that was cut before and still does not read is
 * terminated, which frees its buffer.
 */
function cutLargest(clients: ReadonlySet<WebSocket>, maxBytes: number): void {
  let total = 0;
  for (const { bufferedAmount } of clients) total += bufferedAmount;
  if (total <= maxBytes) return;
  const largestFirst = [...clients].sort((one, other) => other.bufferedAmount - one.bufferedAmount);
  const closing = largestFirst.filter(({ readyState, OPEN }) => readyState !== OPEN);
  const open = largestFirst.filter(({ readyState, OPEN }) => readyState === OPEN);
  for (const client of closing) {
    if (total <= maxBytes) return;
    total -= client.bufferedAmount;
    client.terminate();
  }
  for (const client of open) {
    if (total <= maxBytes) return;
    total -= client.bufferedAmount;
    client.close(tryAgainLater, "Reading too slowly");
  }
}
