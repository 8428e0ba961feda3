// A response of one JSON value on each line, written as fast as it is read.
import type { Logger } from "@andante/core";
import type { Context } from "hono";
import { disconnect } from "./disconnect.ts";
import { RouteResponse } from "./route-response.ts";

export const jsonLinesType = "application/x-ndjson";

/** When the values cannot be read to their end the client is disconnected. */
export function jsonLines(
  values: AsyncIterable<unknown>,
  { http, logger }: { readonly http: Context; readonly logger: Logger },
): RouteResponse {
  const failed = (err: unknown) => {
    logger.warn({ err }, "a response was cut off because what it tells could not be read");
    // The listener would write the error to the console, and its words to the client.
    if (!disconnect(http)) throw err;
  };
  return new RouteResponse(ReadableStream.from(encoded(values, failed)), {
    headers: { "content-type": jsonLinesType },
  });
}

async function* encoded(
  values: AsyncIterable<unknown>,
  failed: (error: unknown) => void,
): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  try {
    for await (const value of values) yield encoder.encode(`${JSON.stringify(value)}\n`);
  } catch (error) {
    failed(error);
  }
}
