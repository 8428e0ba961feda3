// Sends to a client that reads; one that does not is dropped before its buffer grows without bound.
import type { WebSocket } from "ws";

/** Bytes that may wait for one client. */
const maxBufferedBytes = 4 * 1024 * 1024;
/** The close code of RFC 6455's registry for "try again later". */
const tryAgainLater = 1013;

/** Sends an object, or JSON text that several clients share and that is encoded once. */
export function sendBounded(client: WebSocket, message: object | Buffer): void {
  if (client.readyState !== client.OPEN) return;
  // The close frame waits behind earlier messages: a client that reads again learns the reason.
  if (client.bufferedAmount > maxBufferedBytes) return client.close(tryAgainLater, "Reading too slowly");
  if (Buffer.isBuffer(message)) client.send(message, { binary: false });
  else client.send(JSON.stringify(message));
}
