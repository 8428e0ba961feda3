// /ws: a connection test. Greets, then sends back each message.
import { sendBounded } from "./send-bounded.ts";
import type { ClientHandler } from "./serve-client.ts";

export const echo: ClientHandler = {
  open: (client) =>
    sendBounded(client, { type: "CONNECTION_TEST", success: true, data: { message: "connected" } }),
  message: (client, text) =>
    sendBounded(client, Buffer.from(`{"type":"ECHO","success":true,"data":${asJson(text)}}`)),
};

/** JSON as it came, any other text as a string. JSON nested deeper than the stack can be parsed but not written again. */
function asJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}
