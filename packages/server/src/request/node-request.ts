// Node's own request and response, which Node's listener passes along with a Request.
//
// `node:http` is not imported: it loads `fetch` and takes a tenth of a start, so `serve` loads it while the database
// thread starts.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HonoRequest } from "hono";

let nodeHttp: typeof import("node:http") | undefined;

function http(): typeof import("node:http") {
  nodeHttp ??= process.getBuiltinModule("node:http");
  return nodeHttp;
}

/** Node's request; undefined behind another listener. */
export function incomingOf(env: unknown): IncomingMessage | undefined {
  const incoming: unknown = Reflect.get(Object(env), "incoming");
  return incoming !== undefined && incoming instanceof http().IncomingMessage ? incoming : undefined;
}

/** Node's response; undefined behind another listener. */
export function outgoingOf(env: unknown): ServerResponse | undefined {
  const outgoing: unknown = Reflect.get(Object(env), "outgoing");
  return outgoing !== undefined && outgoing instanceof http().ServerResponse ? outgoing : undefined;
}

const direct = Symbol("the request as Node has it");

interface DirectRequest extends Request {
  [direct]?: IncomingMessage | undefined;
}

/** Binds Node's request: the listener calls the routes directly, so the request is unchanged and its body unread. */
export function bindIncoming(request: DirectRequest, env: unknown): void {
  const incoming = incomingOf(env);
  if (incoming !== undefined) request[direct] = incoming;
}

/** The request without Node's, for custom routes, which may change it and forward it to another service. */
export function unbound(request: DirectRequest): Request {
  if (request[direct] !== undefined) request[direct] = undefined;
  return request;
}

/** Node's request, where it is still identical. */
export function boundIncoming(request: DirectRequest): IncomingMessage | undefined {
  return request[direct];
}

/** A header of a request, by lower-case name, without creating a `Headers` object. */
export function headerOf({ raw }: Pick<HonoRequest, "raw">, name: string): string | undefined {
  const incoming = boundIncoming(raw);
  if (incoming === undefined) return raw.headers.get(name) ?? undefined;
  // Of two content types Node keeps the first; a proxy may have used the second.
  if (name === "content-type" && isRepeated(incoming, name)) return raw.headers.get(name) ?? undefined;
  const value = incoming.headers[name];
  return typeof value === "string" ? value : value?.join(", ");
}

function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] ?? "";
    if (header.length === name.length && header.toLowerCase() === name) found++;
  }
  return found > 1;
}

/**
 * A body of this many bytes that arrived together with the headers, as short ones do; undefined where it has not
 * arrived. It cannot be read from the request afterwards.
 */
export async function bodyAtHand(request: Request, length: number): Promise<string | undefined> {
  const incoming = boundIncoming(request);
  if (incoming === undefined) return undefined;
  // Node emits a request after the headers, and the received part of the body right after that.
  await undefined;
  if (incoming.readableLength !== length || incoming.readableFlowing !== null) return undefined;
  const body: unknown = length === 0 ? Buffer.alloc(0) : incoming.read();
  if (!Buffer.isBuffer(body)) return undefined;
  // Only the end follows, and the connection waits until it is consumed.
  incoming.resume();
  const text = body.toString("utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}
