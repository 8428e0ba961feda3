// Ends the connection to a client.
import { ServerResponse } from "node:http";
import type { Context } from "hono";

/** A listener of the host's own that has no Node response ends the connection by its own means. */
export function disconnect(http: Context): void {
  const outgoing: unknown = Reflect.get(Object(http.env), "outgoing");
  if (outgoing instanceof ServerResponse) outgoing.destroy();
}
