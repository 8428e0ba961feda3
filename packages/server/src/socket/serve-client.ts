// The handler of a socket client: one interface for every path. A failure closes only that client.
import type { Logger } from "@andante/core";
import type { RawData, WebSocket } from "ws";

/** The handler of one connected client. */
export interface ClientHandler {
  open(client: WebSocket): void;
  message(client: WebSocket, text: string): void;
  /** Default: no cleanup. */
  close?(client: WebSocket): void;
}

/** RFC 6455's code for a server that cannot continue. */
const internalError = 1011;

/** Passes a client's events to its handler. */
export function serveClient(client: WebSocket, handler: ClientHandler, logger: Logger): void {
  const guarded = (work: () => void) => guardClients([client], logger, work);
  client.on("error", (err) => logger.debug({ err }, "a WebSocket was closed after a client error"));
  client.on("message", (raw: RawData) => {
    // Messages that a client sends while it is being closed are ignored.
    if (client.readyState === client.OPEN) guarded(() => handler.message(client, raw.toString()));
  });
  client.on("close", () => guarded(() => handler.close?.(client)));
  guarded(() => handler.open(client));
}

/**
 * Does work for these clients. When it throws they are closed: in a listener, a timer or a promise no code would catch
 * the error, and the process would end.
 */
export function guardClients(clients: Iterable<WebSocket>, logger: Logger, work: () => void): void {
  try {
    work();
  } catch (err) {
    // Close before logging: the log line itself may be the message that could not be sent.
    for (const client of clients) client.close(internalError, "The server could not serve this socket");
    logger.error({ err }, "a WebSocket was closed because serving it failed");
  }
}
