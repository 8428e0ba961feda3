// Opens the stream of a request: how long it may last, and how its client is disconnected.
import type { Andante } from "@andante/core";
import { ShuttingDownError } from "@andante/core/errors";
import { internalsOf } from "@andante/core/internal";
import type { Context } from "hono";
import type { Gate } from "../auth/gate.ts";
import type { User } from "../auth/provider.ts";
import { disconnect } from "../response/disconnect.ts";
import type { OpenStream, OpenStreams } from "./open-streams.ts";

interface Opener {
  readonly andante: Andante;
  readonly gate: Gate;
  readonly streams: OpenStreams;
}

/**
 * While the service stops there is none: it would end at once, and what it shows is kept. A stream that only follows ends
 * with its token, and can be attached again with another; one that does work does not.
 */
export async function openStream(
  { andante, gate, streams }: Opener,
  http: Context,
  user: User | undefined,
): Promise<OpenStream> {
  const until = http.req.method === "GET" ? await gate.expiresAt(http.req.raw, user) : undefined;
  if (internalsOf(andante).closing) throw new ShuttingDownError();
  return streams.open(() => disconnect(http), until);
}
