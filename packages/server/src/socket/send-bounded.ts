// Sends to a client, and closes a client that does not read before its buffer grows without bound.
import type { WebSocket } from "ws";

/** Maximum unsent bytes of one client. */
const maxBufferedBytes = 4 * 1024 * 1024;
/** The close code of RFC 6455's registry for "try again later". */
const tryAgainLater = 1013;

/** Sends an object, or encoded JSON text that several clients share. */
export function sendBounded(client: WebSocket, message: object | Buffer): void {
  if (client.readyState !== client.OPEN) return;
  // The close frame follows earlier messages: a client that reads again receives the reason.
  if (client.bufferedAmount > maxBufferedBytes) return client.close(tryAgainLater, "Reading too slowly");
  if (Buffer.isBuffer(message)) client.send(message, { binary: false });
  else client.send(JSON.stringify(message));
}
