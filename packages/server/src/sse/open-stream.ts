// The place of a response that is written while it is read: how long it may last, and how its client is disconnected.
import type { Andante } from "@andante/core";
import { ShuttingDownError } from "@andante/core/errors";
import { internalsOf } from "@andante/core/internal";
import type { Context } from "hono";
import type { Gate } from "../auth/gate.ts";
import type { User } from "../auth/provider.ts";
import { disconnect } from "../response/disconnect.ts";
import type { OpenStream, OpenStreams } from "./open-streams.ts";

/** The cost of a request beside its handler. */
export type Cost = "read" | "export" | "stream";

interface Opener {
  readonly andante: Andante;
  readonly gate: Gate;
  readonly bounds: { readonly streams: OpenStreams; readonly exports: OpenStreams };
}

interface Reader {
  /** Who shares with others. */
  readonly client: string;
  readonly user: User | undefined;
}

/** The place for a stream or an export; undefined for other requests, and nothing is waited for. */
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
 * While the service stops there is none: it would end at once, and its events are kept. A stream that only follows ends
 * with its token, and can be attached again with another; one that does work does not.
 */
async function openStream(
  { andante, gate, bounds }: Opener,
  http: Context,
  reader: Reader,
): Promise<OpenStream> {
  const until = http.req.method === "GET" ? await gate.expiresAt(http.req.raw, reader.user) : undefined;
  if (internalsOf(andante).closing) throw new ShuttingDownError();
  return bounds.streams.open(reader.client, () => disconnect(http), until);
}
