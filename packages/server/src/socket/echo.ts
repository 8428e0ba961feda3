// /ws: a connection test. Sends a greeting, then echoes each message.
import { sendBounded } from "./send-bounded.ts";
import type { ClientHandler } from "./serve-client.ts";

export const echo: ClientHandler = {
  open: (client) =>
    sendBounded(client, { type: "CONNECTION_TEST", success: true, data: { message: "connected" } }),
  message: (client, text) =>
    sendBounded(client, Buffer.from(`{"type":"ECHO","success":true,"data":${asJson(text)}}`)),
};

/** JSON unchanged, any other text as a JSON string. Deeply nested JSON can be parsed but not stringified again. */
function asJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}
