// The place of a streamed response: its maximum duration, and how its client is disconnected.
import type { Andante } from "@andante/core";
import { ShuttingDownError } from "@andante/core/errors";
import type { Context } from "hono";
import type { Gate } from "../auth/gate.ts";
import type { User } from "../auth/provider.ts";
import { disconnect } from "../response/disconnect.ts";
import type { OpenStream, OpenStreams } from "./open-streams.ts";

/** The limit that a request counts against. */
export type Cost = "read" | "export" | "stream";

interface Opener {
  readonly andante: Andante;
  readonly gate: Gate;
  readonly bounds: { readonly streams: OpenStreams; readonly exports: OpenStreams };
}

interface Reader {
  /** The client for shares. */
  readonly client: string;
  readonly user: User | undefined;
}

/** The place for a stream or an export; undefined, synchronously, for other requests. */
export function placeOf(
  opener: Opener,
  cost: Cost | undefined,
  http: Context,
  reader: Reader,
): OpenStream | undefined | Promise<OpenStream> {
  if (cost === "stream") return openStream(opener, http, reader);
  return cost === "export" ? opener.bounds.exports.open(reader.client, () => disconnect(http)) : undefined;
}

/**
 * Refused while the service stops: the stream would end at once, and its events are stored. A stream that only follows
 * ends when its token expires, and the client can reconnect with another; a stream that does work continues.
 */
async function openStream(
  { andante, gate, bounds }: Opener,
  http: Context,
  reader: Reader,
): Promise<OpenStream> {
  const until = http.req.method === "GET" ? await gate.expiresAt(http.req.raw, reader.user) : undefined;
  if (andante.closing) throw new ShuttingDownError();
  return bounds.streams.open(reader.client, () => disconnect(http), until);
}
