// The limits of a server: the size of requests, and the resources that clients may hold at once.
import type { AndanteOptions } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import { limitOf } from "@andante/core/internal";
import type { AppLimits } from "./app-options.ts";
import { ExportLimitError, SocketLimitError, StreamLimitError } from "./errors/request-errors.ts";
import { BodyMemory } from "./request/body-memory.ts";
import { BodyQueue } from "./request/body-queue.ts";
import { type ClientOf, clientReader } from "./request/client.ts";
import { HeldBytes } from "./request/held-bytes.ts";
import { Places } from "./request/places.ts";
import { Reads } from "./request/reads.ts";
import { OpenStreams } from "./sse/open-streams.ts";

export interface Bounds {
  readonly maxBody: number;
  /** Undefined when the host has its own limit. */
  readonly maxCustomBody: number | undefined;
  readonly bodies: HeldBytes;
  readonly complete: BodyQueue;
  readonly parsed: BodyMemory;
  readonly streams: OpenStreams;
  readonly exports: OpenStreams;
  /** Queue for the next pages of exports, one at a time: a page of long messages occupies the store's reader. */
  readonly exportPages: Reads;
  readonly reads: Reads;
  readonly sockets: Places;
  /** Unfinished messages to sockets. */
  readonly unfinished: HeldBytes;
  readonly clientOf: ClientOf;
}

const defaultBodyLimit = 4 * 1024 * 1024;
/** Bytes of all request bodies in memory, and of their parsed values: many routes accept callers without a token. */
const maxHeldBodies = 256 * 1024 * 1024;
/** Bytes of complete bodies that wait to be parsed: some 16 of 4 MiB, which take two to five seconds. */
const maxCompleteBodies = 64 * 1024 * 1024;
/** Bytes of the unfinished messages of all sockets: a thousand clients could send a megabyte each. */
const maxUnfinishedMessages = 64 * 1024 * 1024;
/** This many of the largest bodies that custom routes accept fit at once: a route may stream them. */
const largestAtOnce = 16;
const defaultPlaces = 1000;
/** Each holds a page of up to 4 million characters. Ten unread exports, among other attacks, took 1 067 MiB. */
const defaultExports = 5;
const defaultShare = 0.1;

/** The server's limits, and the remaining ones for the core. */
export function boundsOf(
  limits: AppLimits,
  trustProxy: number | undefined,
): { readonly bounds: Bounds; readonly ofAndante: NonNullable<AndanteOptions["limits"]> } {
  const { body, customBody, sockets, streams, exports, reads, clientShare, ...ofAndante } = limits;
  const maxBody = limitOf("body", body, defaultBodyLimit);
  const maxCustomBody = customBody === false ? undefined : limitOf("customBody", customBody, maxBody);
  const share = shareOf(clientShare);
  const bounds: Bounds = {
    maxBody,
    maxCustomBody,
    bodies: new HeldBytes(Math.max(maxHeldBodies, largestAtOnce * (maxCustomBody ?? 0)), share),
    complete: new BodyQueue(maxCompleteBodies),
    parsed: new BodyMemory(maxHeldBodies, share),
    streams: new OpenStreams({
      limit: limitOf("streams", streams, defaultPlaces, 0),
      share,
      refusal: (limit) => new StreamLimitError({ limit }),
    }),
    exports: new OpenStreams({
      limit: limitOf("exports", exports, defaultExports, 0),
      share,
      refusal: (limit) => new ExportLimitError({ limit }),
    }),
    // Refuses none: an export reads at most one page at a time.
    exportPages: new Reads({ limit: Number.POSITIVE_INFINITY, share: 1, atOnce: 1 }),
    reads: new Reads({ limit: limitOf("reads", reads, defaultPlaces), share }),
    sockets: new Places({
      limit: limitOf("sockets", sockets, defaultPlaces, 0),
      share,
      refusal: (limit) => new SocketLimitError({ limit }),
    }),
    unfinished: new HeldBytes(maxUnfinishedMessages),
    clientOf: clientReader(trustProxy),
  };
  return { bounds, ofAndante };
}

function shareOf(clientShare: number = defaultShare): number {
  if (typeof clientShare === "number" && clientShare > 0 && clientShare <= 1) return clientShare;
  throw new OptionError({ option: "limits.clientShare", problem: "expected a number above 0 and up to 1" });
}
