// Opens the stream of a request: how long it may last, and how its client is disconnected.
import { ServerResponse } from "node:http";
import type { Context } from "hono";
import type { Gate } from "../auth/gate.ts";
import type { User } from "../auth/provider.ts";
import type { OpenStream, OpenStreams } from "./open-streams.ts";

interface Opener {
  readonly gate: Gate;
  readonly streams: OpenStreams;
}

/** A stream that only follows ends with its token, and can be attached again with another; one that does work does not. */
export async function openStream(
  { gate, streams }: Opener,
  http: Context,
  user: User | undefined,
): Promise<OpenStream> {
  const until = http.req.method === "GET" ? await gate.expiresAt(http.req.raw, user) : undefined;
  return streams.open(() => disconnect(http), until);
}

/** Ends the connection to a client. A listener of the host's own that has no Node response ends it by its own means. */
function disconnect(http: Context): void {
  const outgoing: unknown = Reflect.get(Object(http.env), "outgoing");
  if (outgoing instanceof ServerResponse) outgoing.destroy();
}
