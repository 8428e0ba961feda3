// The base path: the path prefix of the service on a site, and the remaining path after it.
import { OptionError } from "@andante/core/errors";
import { getPath } from "hono/utils/url";
import { incomingOf } from "./node-request.ts";

/** The option `basePath` with a leading and no trailing slash: "/ai", or "" for the root. */
export function basePathOf(option: unknown): string {
  if (option === undefined) return "";
  if (typeof option !== "string") throw refusal(option, "expected a string");
  const parts = option.replace(/^\//, "").replace(/\/$/, "").split("/");
  if (parts.length === 1 && parts[0] === "") return "";
  // Characters that clients encode, and dot segments that they remove, would never match a request.
  const wrong = parts.find((part) => !/^[\w.~-]+$/.test(part) || part === "." || part === "..");
  if (wrong !== undefined)
    throw refusal(option, 'expected a path of letters, digits, - . _ ~, such as "/ai"');
  return `/${parts.join("/")}`;
}

/** The path after the base path, "/" for the base path itself; undefined for a path outside it. */
export function pathBehind(basePath: string, path: string): string | undefined {
  if (basePath === "") return path;
  if (!path.startsWith(basePath)) return undefined;
  const rest = path.slice(basePath.length);
  if (rest === "") return "/";
  return rest.startsWith("/") ? rest : undefined;
}

/** The options that Hono passes with a request: under Node's listener, `env` has Node's request. */
interface Surroundings {
  readonly env?: unknown;
}

/**
 * The router's path of a request. Some hosts strip the base path before they forward a request and some do not, so both
 * forms are accepted. The token requirement is decided by the returned path.
 */
export function pathReader(basePath: string): (request: Request, around?: Surroundings) => string {
  return (request, { env } = {}) => {
    const path = getPath(request);
    const rest = pathBehind(basePath, path);
    return rest === undefined || isTakenOff(basePath, request, env) ? path : rest;
  };
}

/** Whether a request is for this service, where the host does not strip the base path. */
export function isBehind(basePath: string, request: Request): boolean {
  return pathBehind(basePath, getPath(request)) !== undefined;
}

/** The request with the base path removed from its URL, otherwise encoded as sent. */
export function requestBehind(basePath: string, request: Request, env: unknown): Request {
  if (basePath === "" || !isBehind(basePath, request) || isTakenOff(basePath, request, env)) return request;
  // Node accepts these methods, but a Request cannot have them; no route uses them.
  if (/^(CONNECT|TRACE|TRACK)$/.test(request.method)) return request;
  const url = new URL(request.url);
  // `%2F` is not a separator, so an encoded base path has as many segments as the option.
  const rest = url.pathname.split("/").slice(basePath.split("/").length);
  url.pathname = `/${rest.join("/")}`;
  return new Request(url, request);
}

/**
 * Whether the host has stripped the base path already. Only the URL at the host's listener shows it: with base path
 * "/api", "/api/logs" is either the host's "/api/logs" or the rest of "/api/api/logs".
 */
function isTakenOff(basePath: string, request: Request, env: unknown): boolean {
  const incoming = incomingOf(env);
  if (incoming === undefined) return false;
  // Express puts the rest into `url` and the original URL here.
  const whole: unknown = ("originalUrl" in incoming ? incoming.originalUrl : undefined) ?? incoming.url;
  if (typeof whole !== "string" || !whole.startsWith("/") || request.url.endsWith(whole)) return false;
  const path = getPath(request);
  const asked = getPath(new Request(`http://host${whole}`));
  return asked !== path && pathBehind(basePath, asked) === path;
}

function refusal(option: unknown, problem: string): OptionError {
  return new OptionError({ option: "basePath", problem: `${JSON.stringify(option)}: ${problem}` });
}
