// The request and the response of Node's listener, for facts that the web-standard request lacks or makes slowly.
import { IncomingMessage, ServerResponse } from "node:http";
import type { HonoRequest } from "hono";
import { isObject } from "../is-object.ts";

/** Node's request; undefined behind another listener. */
export function incomingOf(env: unknown): IncomingMessage | undefined {
  return isObject(env) && env.incoming instanceof IncomingMessage ? env.incoming : undefined;
}

/** Node's response; undefined behind another listener. */
export function outgoingOf(env: unknown): ServerResponse | undefined {
  return isObject(env) && env.outgoing instanceof ServerResponse ? env.outgoing : undefined;
}

// Headers and short bodies are read from Node's request where nothing has changed it: 5 % more requests of a one-step
// workflow, because no `Headers` and no stream are made.
const direct = Symbol("the request as Node has it");

interface DirectRequest extends Request {
  [direct]?: IncomingMessage | undefined;
}

/** For a request that reaches the routes as it came: no middleware has changed it or read its body. */
export function bindIncoming(request: DirectRequest, env: unknown): void {
  const incoming = incomingOf(env);
  if (incoming !== undefined) request[direct] = incoming;
}

/** The same request for routes of the host, which may change it and pass it on to another service. */
export function unbound(request: DirectRequest): Request {
  if (request[direct] !== undefined) request[direct] = undefined;
  return request;
}

function boundIncoming(request: DirectRequest): IncomingMessage | undefined {
  return request[direct];
}

/** A header of a request, by lower-case name. */
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
 * A body of this many bytes that arrived together with the headers, as short ones do; undefined when it has not arrived
 * yet. It cannot be read from the request afterwards.
 */
export async function bodyAtHand(request: Request, length: number): Promise<string | undefined> {
  const incoming = boundIncoming(request);
  if (incoming === undefined) return undefined;
  // Node emits a request once it has read the headers, and the first bytes of the body right after that.
  await undefined;
  if (incoming.readableLength !== length || incoming.readableFlowing !== null) return undefined;
  const body: unknown = length === 0 ? Buffer.alloc(0) : incoming.read();
  if (!Buffer.isBuffer(body)) return undefined;
  // Only the end of the body follows, and the connection waits for it.
  incoming.resume();
  const text = body.toString("utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}
