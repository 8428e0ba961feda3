// Server-sent events: one `data:` line and a blank line per event, pulled as fast as the client reads.
import type { Logger } from "@andante/core";
import { type HeaderFields, RouteResponse } from "../response/route-response.ts";
import { FrameReader, type SentEvent } from "./frames.ts";
import type { OpenStream } from "./open-streams.ts";

/** The request that the events respond to. */
export interface EventResponseContext {
  /** The signal is aborted when the client disconnects, also before anything was sent. */
  readonly http: { readonly req: { readonly raw: { readonly signal: AbortSignal } } };
  /** Receives the error of a failed stream. */
  readonly logger: Logger;
  /** Its place among the open streams, freed at its end. Default: none. */
  readonly stream?: OpenStream | undefined;
}

export interface EventResponseOptions {
  readonly headers?: HeaderFields;
  /** Adds an `id:` line with the event's number, so that a browser reconnects automatically. Default: false. */
  readonly withIds?: boolean;
  /** A line of data after the last event, such as `[DONE]`. Default: none. */
  readonly last?: string;
}

/** Milliseconds of silence after which a comment is sent. */
const heartbeat = 15_000;
const heartbeatComment = Buffer.from(": heartbeat\n\n");

/** Responds with the events of an iterator. A disconnect ends it; for a client that stalls nothing is read from it. */
export function eventResponse(
  events: AsyncIterableIterator<SentEvent>,
  { http, logger, stream }: EventResponseContext,
  { headers, withIds = false, last }: EventResponseOptions = {},
): RouteResponse {
  const { signal } = http.req.raw;
  // Called by event listeners and by the stream's cleanup: no caller could catch a rejection.
  const leave = async () => {
    stream?.end();
    try {
      await events.return?.();
    } catch (err) {
      logger.warn({ err }, "closing the source of a stream failed");
    }
  };
  if (signal.aborted) void leave();
  else signal.addEventListener("abort", () => void leave(), { once: true });
  const frames = new FrameReader(events, withIds);
  let silence: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // One timer for the whole stream, reset by every event. Heartbeats do not accumulate for a client that stalls.
        silence ??= setInterval(() => {
          if (controller.desiredSize === 0) controller.enqueue(heartbeatComment);
        }, heartbeat);
        // The listener pulls again once the client has read the sent bytes.
        stream?.waits(0);
        const { text, over, error } = await frames.next();
        if (error !== undefined) {
          // A failed stream ends without its last event, so the client knows that it must reconnect.
          logger.warn({ err: error }, "a stream was closed because its events could not be read");
          await leave();
        }
        silence.refresh();
        if (text !== "") {
          const bytes = Buffer.from(text);
          stream?.waits(bytes.length);
          controller.enqueue(bytes);
        }
        if (!over) return;
        clearInterval(silence);
        stream?.end();
        if (last !== undefined) controller.enqueue(Buffer.from(`data: ${last}\n\n`));
        controller.close();
      },
      async cancel() {
        clearInterval(silence);
        await leave();
      },
    },
    // No event is read before the client has read the sent bytes.
    { highWaterMark: 0 },
  );
  return new RouteResponse(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      // Keeps buffering proxies from delaying events.
      "x-accel-buffering": "no",
      ...headers,
    },
  });
}
