// Ends the connection to a client in the middle of a response, so that it does not take what it has for the whole.
import type { Context } from "hono";
import { outgoingOf } from "../request/node-request.ts";

/** False behind a listener of the host's own that has no Node response, which ends it by its own means. */
export function disconnect(http: Context): boolean {
  const outgoing = outgoingOf(http.env);
  outgoing?.destroy();
  return outgoing !== undefined;
}
