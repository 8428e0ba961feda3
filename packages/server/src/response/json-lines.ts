// A response of one JSON value on each line, written as fast as it is read.
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
  /** Its place; given back when it is over. Default: none. */
  readonly stream?: { waits(bytes: number): void; end(): void } | undefined;
}

/** Milliseconds after which a client that reads nothing is disconnected: others may wait for its place. */
const defaultPatience = 120_000;

/** When the values cannot be read to their end the client is disconnected. */
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
      .catch((err: unknown) => logger.warn({ err }, "the source of a response could not be left"));
  };
  // The body of a response whose client is gone before anything was sent is not read, and not cancelled.
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
          logger.warn({ err }, "a response was cut off because what it tells could not be read");
          // The listener would write the error to the console, and its words to the client.
          if (!disconnect(http)) throw err;
          controller.close();
        }
      },
      cancel: leave,
    },
    // The next page is read when the client has taken the last one.
    { highWaterMark: 0 },
  );
  return new RouteResponse(body, { headers: { "content-type": jsonLinesType } });
}
