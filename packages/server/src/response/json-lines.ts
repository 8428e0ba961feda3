// A response of one JSON value on each line, written as fast as it is read.
import { RouteResponse } from "./route-response.ts";

export const jsonLinesType = "application/x-ndjson";

export function jsonLines(values: AsyncIterable<unknown>): RouteResponse {
  return new RouteResponse(ReadableStream.from(encoded(values)), {
    headers: { "content-type": jsonLinesType },
  });
}

async function* encoded(values: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  for await (const value of values) yield encoder.encode(`${JSON.stringify(value)}\n`);
}
