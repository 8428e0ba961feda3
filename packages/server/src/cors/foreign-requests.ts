// What a page of another site can make a browser do without asking first: connect a socket, and send a command that has
// no body. Whatever carries JSON is preceded by a preflight.
import { incomingOf } from "../request/node-request.ts";

const commands = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** A request that changes something and has no body. `env` is what the listener passed on beside it. */
export function isPlainCommand(request: Request, env: unknown): boolean {
  return commands.has(request.method) && isEmpty(request, env);
}

function isEmpty(request: Request, env: unknown): boolean {
  const length = request.headers.get("content-length");
  if (length !== null) return Number(length) === 0;
  if (request.headers.has("transfer-encoding")) return false;
  // In HTTP/1 a request that announces no body has none; Node's bridge makes a stream all the same.
  return incomingOf(env)?.httpVersionMajor === 1 || request.body === null;
}

/** Whether a page is this server's own: its origin is the address that the request was sent to. */
export function isSameOrigin(origin: string, host: string | null): boolean {
  const page = URL.parse(origin);
  // With the page's scheme, which a proxy in front may have changed, so that a default port is left out of both.
  const server = page === null || host === null ? null : URL.parse(`${page.protocol}//${host}`);
  return page !== null && server !== null && server.host !== "" && page.host === server.host;
}
