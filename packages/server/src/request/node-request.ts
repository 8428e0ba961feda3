// What a listener of Node's hands on beside a request: the request and the response as that has them.
//
// `node:http` is not imported: with the whole of `fetch`, which it brings, that takes a tenth of a start, and `serve` loads
// it while the database thread starts.
import type { IncomingMessage, ServerResponse } from "node:http";

let nodeHttp: typeof import("node:http") | undefined;

function http(): typeof import("node:http") {
  nodeHttp ??= process.getBuiltinModule("node:http");
  return nodeHttp;
}

/** The request; undefined behind a listener of another kind. */
export function incomingOf(env: unknown): IncomingMessage | undefined {
  const incoming: unknown = Reflect.get(Object(env), "incoming");
  return incoming !== undefined && incoming instanceof http().IncomingMessage ? incoming : undefined;
}

/** The response; undefined behind a listener of another kind. */
export function outgoingOf(env: unknown): ServerResponse | undefined {
  const outgoing: unknown = Reflect.get(Object(env), "outgoing");
  return outgoing !== undefined && outgoing instanceof http().ServerResponse ? outgoing : undefined;
}
