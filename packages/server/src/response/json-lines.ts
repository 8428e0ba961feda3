// A response of one JSON value per line, written as fast as the client reads it.
import type { Logger } from "@andante/core";
import type { Context } from "hono";
import type { Reads } from "../request/reads.ts";
import { disconnect } from "./disconnect.ts";
import { RouteResponse } from "./route-response.ts";

export const jsonLinesType = "application/x-ndjson";

export interface JsonLinesContext {
  readonly http: Context;
  readonly logger: Logger;
  readonly bounds: { readonly exportPages: Reads };
  /** The place of the response, which is freed at its end. Default: none. */
  readonly stream?: { waits(bytes: number): void; end(): void } | undefined;
}

/** Milliseconds without a read after which a client is disconnected: others may wait for its place. */
const defaultPatience = 120_000;

/** Responds with the values. When reading them fails the client is disconnected. */
export function jsonLines(
  values: AsyncIterable<unknown>,
  { http, logger, bounds, stream }: JsonLinesContext,
  patience = defaultPatience,
): RouteResponse {
  const source = values[Symbol.asyncIterator]();
  const { signal } = http.req.raw;
  let unread: NodeJS.Timeout | undefined;
  const leave = async () => {
    clearTimeout(unread);
    signal.removeEventListener("abort", leave);
    stream?.end();
    await source
      .return?.()
      .catch((err: unknown) => logger.warn({ err }, "closing the source of a response failed"));
  };
  // When a client disconnects before anything was sent, the body is neither read nor cancelled.
  if (signal.aborted) void leave();
  else signal.addEventListener("abort", leave);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(unread);
        stream?.waits(0);
        try {
          const { done, value } = await bounds.exportPages.run("exports", signal, () => source.next());
          if (done === true) {
            await leave();
            return controller.close();
          }
          const line = Buffer.from(`${JSON.stringify(value)}\n`);
          stream?.waits(line.length);
          unread = setTimeout(() => disconnect(http), patience);
          controller.enqueue(line);
        } catch (err) {
          await leave();
          if (signal.aborted) return;
          logger.warn({ err }, "a response was cut off because its data could not be read");
          // The listener would print the error to the console and send its message to the client.
          if (!disconnect(http)) throw err;
          controller.close();
        }
      },
      cancel: leave,
    },
    // The next page is read when the client has read the last one.
    { highWaterMark: 0 },
  );
  return new RouteResponse(body, { headers: { "content-type": jsonLinesType } });
}
