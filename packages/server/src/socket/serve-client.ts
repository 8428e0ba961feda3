// One interface for the socket clients of every path: events, and sending. A failure closes only that client.
import type { Logger } from "@andante/core";
import type { RawData, WebSocket } from "ws";
import { maxSequences, shapeOf } from "../request/json-shape.ts";

/** The handler of one connected client. */
export interface ClientHandler {
  open(client: WebSocket): void;
  message(client: WebSocket, text: string): void;
  /** Default: no cleanup. */
  close?(client: WebSocket): void;
}

/** The longest message of a client. */
export const maxMessageBytes = 1024 * 1024;
const maxMessageSequences = maxSequences(maxMessageBytes);

/** RFC 6455's code for a message that is too big to process. */
const tooBig = 1009;
/** RFC 6455's code for a server that cannot continue. */
const internalError = 1011;
/** The close code of RFC 6455's registry for "try again later". */
export const tryAgainLater = 1013;

/** Passes a client's events to its handler. */
export function serveClient(client: WebSocket, handler: ClientHandler, logger: Logger): void {
  const guarded = (work: () => void) => guardClient(client, logger, work);
  client.on("error", (err) => logger.debug({ err }, "a WebSocket was closed after a client error"));
  client.on("message", (raw: RawData) => {
    // Messages that a client sends while it is being closed are ignored.
    if (client.readyState !== client.OPEN) return;
    const text = raw.toString();
    const { problem } = shapeOf(Buffer.from(text), maxMessageSequences);
    if (problem !== undefined) client.close(tooBig, "The message is too complex");
    else guarded(() => handler.message(client, text));
  });
  client.on("close", () => guarded(() => handler.close?.(client)));
  guarded(() => handler.open(client));
}

/**
 * Does work for a client. When it throws the client is closed: in a listener, a timer or a promise no code would catch
 * the error, and the process would end.
 */
export function guardClient(client: WebSocket, logger: Logger, work: () => void): void {
  try {
    work();
  } catch (err) {
    failClient(client, logger, err);
  }
}

export function failClient(client: WebSocket, logger: Logger, err: unknown): void {
  // Close before logging: the log line itself may be the message that could not be sent.
  client.close(internalError, "The server could not serve this socket");
  logger.error({ err }, "a WebSocket was closed because serving it failed");
}

/** Maximum unsent bytes of one client. */
const maxBufferedBytes = 4 * 1024 * 1024;

/** Sends an object, or encoded JSON text that several clients share. Closes a client that does not read. */
export function sendBounded(client: WebSocket, message: object | Buffer): void {
  if (client.readyState !== client.OPEN) return;
  // The close frame follows earlier messages: a client that reads again receives the reason.
  if (client.bufferedAmount > maxBufferedBytes) return client.close(tryAgainLater, "Reading too slowly");
  if (Buffer.isBuffer(message)) client.send(message, { binary: false });
  else client.send(JSON.stringify(message));
}
