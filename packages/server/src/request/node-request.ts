// What a listener of Node's hands on beside a request: the request and the response as that has them.
//
// `node:http` is not imported: with the whole of `fetch`, which it brings, that takes a tenth of a start, and `serve` loads
// it while the database thread starts.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HonoRequest } from "hono";

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

const direct = Symbol("the request as Node has it");

interface DirectRequest extends Request {
  [direct]?: IncomingMessage | undefined;
}

/** Nothing stands between the listener and the routes, so nobody has changed the request or read its body. */
export function bindIncoming(request: DirectRequest, env: unknown): void {
  const incoming = incomingOf(env);
  if (incoming !== undefined) request[direct] = incoming;
}

/** The same request for routes of the host's own, which may change it and pass it on to another service. */
export function unbound(request: DirectRequest): Request {
  if (request[direct] !== undefined) request[direct] = undefined;
  return request;
}

/** The request as Node has it, where it is still the same. */
export function boundIncoming(request: DirectRequest): IncomingMessage | undefined {
  return request[direct];
}

/** A header of a request, by its name in small letters. The others are not made into `Headers` for it. */
export function headerOf({ raw }: Pick<HonoRequest, "raw">, name: string): string | undefined {
  const incoming = boundIncoming(raw);
  if (incoming === undefined) return raw.headers.get(name) ?? undefined;
  // Of two types of a body Node keeps the first; a proxy may have gone by the second.
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
 * A body of this many bytes where it came together with the headers, as short ones do; undefined where it has to be waited
 * for. It cannot be read from the request afterwards.
 */
export async function bodyAtHand(request: Request, length: number): Promise<string | undefined> {
  const incoming = boundIncoming(request);
  if (incoming === undefined) return undefined;
  // Node hands a request on when it has read the headers, and what it has of the body right after that.
  await undefined;
  if (incoming.readableLength !== length || incoming.readableFlowing !== null) return undefined;
  const body: unknown = length === 0 ? Buffer.alloc(0) : incoming.read();
  if (!Buffer.isBuffer(body)) return undefined;
  // Nothing follows but its end, which the connection waits for.
  incoming.resume();
  const text = body.toString("utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}
