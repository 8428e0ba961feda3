// Closes a client's connection in the middle of a response, so that the client does not take the part for the whole.
import type { Context } from "hono";
import { outgoingOf } from "../request/node-request.ts";

/** Returns false behind a listener without a Node response: that listener must end the response itself. */
export function disconnect(http: Context): boolean {
  const outgoing = outgoingOf(http.env);
  outgoing?.destroy();
  return outgoing !== undefined;
}
