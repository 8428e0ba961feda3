// The base path: where in the addresses of a site the service is, and what of an address comes after it.
import { OptionError } from "@andante/core/errors";
import { getPath } from "hono/utils/url";

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

/**
 * How the router reads a path. Some hosts take the base path off before they hand a request on and some do not, so both
 * are understood. Who needs a token is judged on what this returns.
 */
export function pathReader(basePath: string): (request: Request) => string {
  return (request) => {
    const path = getPath(request);
    return pathBehind(basePath, path) ?? path;
  };
}

/** Whether a request is for this service, where nobody before it takes the base path off. */
export function isBehind(basePath: string, request: Request): boolean {
  return pathBehind(basePath, getPath(request)) !== undefined;
}

/** The request with an address without the base path. */
export function requestBehind(basePath: string, request: Request): Request {
  const url = new URL(request.url);
  const path = pathBehind(basePath, url.pathname);
  if (path === undefined || path === url.pathname) return request;
  url.pathname = path;
  return new Request(url, request);
}

function refusal(option: unknown, problem: string): OptionError {
  return new OptionError({ option: "basePath", problem: `${JSON.stringify(option)}: ${problem}` });
}
