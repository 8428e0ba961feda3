// The base path: where in the addresses of a site the service is, and what of an address comes after it.
import { OptionError } from "@andante/core/errors";
import { getPath } from "hono/utils/url";
import { incomingOf } from "./node-request.ts";

/** The option `basePath` without slashes around it but the first: "/ai", or "" for the root. */
export function basePathOf(option: unknown): string {
  if (option === undefined) return "";
  if (typeof option !== "string") throw refusal(option, "expected a string");
  const parts = option.replace(/^\//, "").replace(/\/$/, "").split("/");
  if (parts.length === 1 && parts[0] === "") return "";
  // What would have to be encoded, or is removed by whoever resolves an address, would not be found again in a request.
  const wrong = parts.find((part) => !/^[\w.~-]+$/.test(part) || part === "." || part === "..");
  if (wrong !== undefined)
    throw refusal(option, 'expected a path of letters, digits, - . _ ~, such as "/ai"');
  return `/${parts.join("/")}`;
}

/** The path after the base path, "/" for the base path itself; undefined for a path that is elsewhere. */
export function pathBehind(basePath: string, path: string): string | undefined {
  if (basePath === "") return path;
  if (!path.startsWith(basePath)) return undefined;
  const rest = path.slice(basePath.length);
  if (rest === "") return "/";
  return rest.startsWith("/") ? rest : undefined;
}

/** What Hono hands on beside a request: under a listener of Node's, the request as that has it. */
interface Surroundings {
  readonly env?: unknown;
}

/**
 * How the router reads a path. Some hosts take the base path off before they hand a request on and some do not, so both
 * are understood. Who needs a token is judged on what this returns.
 */
export function pathReader(basePath: string): (request: Request, around?: Surroundings) => string {
  return (request, { env } = {}) => {
    const path = getPath(request);
    const rest = pathBehind(basePath, path);
    return rest === undefined || isTakenOff(basePath, request, env) ? path : rest;
  };
}

/** Whether a request is for this service, where nobody before it takes the base path off. */
export function isBehind(basePath: string, request: Request): boolean {
  return pathBehind(basePath, getPath(request)) !== undefined;
}

/** The request with an address without the base path: what the router reads of it, encoded as it came. */
export function requestBehind(basePath: string, request: Request, env: unknown): Request {
  if (basePath === "" || !isBehind(basePath, request) || isTakenOff(basePath, request, env)) return request;
  // Node hands these on, but none can be made; no route has them.
  if (/^(CONNECT|TRACE|TRACK)$/.test(request.method)) return request;
  const url = new URL(request.url);
  // A slash is never read from a code, so that an encoded base path has as many parts as the option.
  const rest = url.pathname.split("/").slice(basePath.split("/").length);
  url.pathname = `/${rest.join("/")}`;
  return new Request(url, request);
}

/**
 * Whether the host has taken the base path off already. It can only be seen by what its own listener was asked for:
 * behind "/api", "/api/logs" is the host's "/api/logs" or what it left of "/api/api/logs".
 */
function isTakenOff(basePath: string, request: Request, env: unknown): boolean {
  const incoming = incomingOf(env);
  if (incoming === undefined) return false;
  // Express writes the rest into `url` and keeps the whole here.
  const whole: unknown = ("originalUrl" in incoming ? incoming.originalUrl : undefined) ?? incoming.url;
  if (typeof whole !== "string" || !whole.startsWith("/") || request.url.endsWith(whole)) return false;
  const path = getPath(request);
  const asked = getPath(new Request(`http://host${whole}`));
  return asked !== path && pathBehind(basePath, asked) === path;
}

function refusal(option: unknown, problem: string): OptionError {
  return new OptionError({ option: "basePath", problem: `${JSON.stringify(option)}: ${problem}` });
}
