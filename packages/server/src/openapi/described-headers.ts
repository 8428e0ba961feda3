// The headers of requests and responses, as objects of the API description.
import type { RequestHeader, ResponseHeader } from "../route.ts";
import type { JsonObject } from "./json-object.ts";

const requestHeaders: Readonly<Record<RequestHeader, readonly [name: string, description: string]>> = {
  prefer: [
    "Prefer",
    "`respond-async` to get a 202 at once, `wait=10` to get it after ten seconds, when the execution still runs",
  ],
  "last-event-id": ["Last-Event-ID", "The `id` of the last event that was seen; `after` comes before it"],
  "idempotency-key": [
    "Idempotency-Key",
    "Another name of `options.executionId`: a repeated start with the same key is the same execution",
  ],
  "if-match": [
    "If-Match",
    'The revision that was read, as `"3"`: refused with 412 when there is another one',
  ],
  traceparent: ["traceparent", "The place in the caller's trace (W3C Trace Context)"],
};

const responseHeaders: Readonly<Record<ResponseHeader, string>> = {
  "x-execution-id": "The execution, percent-encoded",
  traceparent: "The place in the trace of the execution",
};

const text: JsonObject = { type: "string" };

export function requestHeaderParameters(headers: readonly RequestHeader[] = []): JsonObject[] {
  return headers.map((header) => {
    const [name, description] = requestHeaders[header];
    return { name, in: "header", required: false, description, schema: text };
  });
}

export function successHeaders(headers: readonly ResponseHeader[] = []): JsonObject {
  return Object.fromEntries(
    headers.map((name) => [name, { description: responseHeaders[name], schema: text }]),
  );
}

export const locationHeader: JsonObject = {
  location: { description: "Where to read how the execution stands", schema: text },
};

/** The headers of an error with this status. */
export function failureHeaders(status: number, headers: readonly ResponseHeader[] = []): JsonObject {
  const ofExecution = headers.filter((name) => name === "x-execution-id");
  return {
    "x-error-code": { description: "The code of the error, for programs", schema: text },
    ...successHeaders(ofExecution),
    ...(status === 401 && { "www-authenticate": { description: "`Bearer`", schema: text } }),
    ...(status === 503 && {
      "retry-after": { description: "Seconds after which to try again", schema: { type: "integer" } },
    }),
  };
}
