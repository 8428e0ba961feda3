// Ends the connection to a client in the middle of a response, so that it does not take what it has for the whole.
import { ServerResponse } from "node:http";
import type { Context } from "hono";

/** False behind a listener of the host's own that has no Node response, which ends it by its own means. */
export function disconnect(http: Context): boolean {
  const outgoing: unknown = Reflect.get(Object(http.env), "outgoing");
  if (!(outgoing instanceof ServerResponse)) return false;
  outgoing.destroy();
  return true;
}
