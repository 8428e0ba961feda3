// /ws: a connection test. Greets, then sends back whatever comes.
import type { RawData, WebSocket } from "ws";
import { sendBounded } from "./send-bounded.ts";

export function echo(client: WebSocket): void {
  sendBounded(client, { type: "CONNECTION_TEST", success: true, data: { message: "connected" } });
  client.on("message", (raw: RawData) => {
    sendBounded(client, { type: "ECHO", success: true, data: parsed(raw.toString()) });
  });
}

/** JSON as what it says, any other text as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
