// Server-sent events: one `data:` line and a blank line for each event, pulled as fast as the client reads.
import type { Logger } from "@andante/core";
import { RouteResponse } from "../response/route-response.ts";
import { FrameReader, type SentEvent } from "./frames.ts";
import type { OpenStream } from "./open-streams.ts";

export interface EventResponseOptions {
  readonly headers: Record<string, string>;
  /** Where a stream that breaks is reported. */
  readonly logger: Logger;
  /** The request's: aborted when the client is gone, also before anything was sent. */
  readonly signal: AbortSignal;
  /** Its place among the open streams; given back when it is over. Default: none. */
  readonly stream?: OpenStream | undefined;
  /** Adds an `id:` line with the event's number, so that a browser re-attaches by itself. Default: false. */
  readonly withIds?: boolean;
  /** A line of data after the last event, such as `[DONE]`. Default: none. */
  readonly last?: string;
  /** Milliseconds of silence after which a comment is sent. Default: 15 000. */
  readonly heartbeat?: number;
}

const heartbeatComment = Buffer.from(": heartbeat\n\n");

/** Responds with the events of an iterator. A client that goes away ends it; for one that stalls nothing is read from it. */
export function eventResponse(
  events: AsyncIterableIterator<SentEvent>,
  options: EventResponseOptions,
): RouteResponse {
  const { headers, logger, signal, stream, last, withIds = false, heartbeat = 15_000 } = options;
  // Called by listeners and by the listener's own clean-up: no caller there could catch a rejection.
  const leave = async () => {
    stream?.end();
    try {
      await events.return?.();
    } catch (err) {
      logger.warn({ err }, "a stream's source could not be left");
    }
  };
  if (signal.aborted) void leave();
  else signal.addEventListener("abort", () => void leave(), { once: true });
  const frames = new FrameReader(events, withIds);
  let silence: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // One timer for the whole stream, put off by every event. Nothing is piled up for a client that does not read.
        silence ??= setInterval(() => {
          if (controller.desiredSize === 0) controller.enqueue(heartbeatComment);
        }, heartbeat);
        // The listener asks again once the client has read the bytes that were sent.
        stream?.waits(0);
        const { text, over, error } = await frames.next();
        if (error !== undefined) {
          // A stream that breaks ends without its last event, so the client knows to attach again.
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
    // Nothing is fetched before the client has read the bytes that were sent.
    { highWaterMark: 0 },
  );
  return new RouteResponse(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      // Proxies that buffer would hold events back.
      "x-accel-buffering": "no",
      ...headers,
    },
  });
}
