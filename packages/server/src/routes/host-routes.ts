// The host's own routes beside the built-in ones: which of them come first, and which can never be reached.
import type { Env, Hono } from "hono";
import { findTargetHandler, isMiddleware } from "hono/utils/handler";
import type { Route } from "../route.ts";

export interface HostRoute {
  /** `ALL` for every method. */
  readonly method: string;
  /** With `:name` for parameters. */
  readonly path: string;
}

type Named = Pick<Route, "method" | "path" | "contract">;

/**
 * The routes that a host has added by name. Middleware is not among them, nor is what catches everything, such as the
 * files of a page under `*`: that is for whatever nothing else handles.
 */
export function hostRoutesOf<E extends Env>(app: Hono<E>): HostRoute[] {
  const routes = app.routes
    .filter(({ method, handler }) => method !== "ALL" || !isMiddleware(findTargetHandler(handler)))
    .flatMap(({ method, path }) => variantsOf(path).map((variant) => ({ method, path: variant })))
    .filter(({ path }) => !path.includes("*"));
  // A handler behind a middleware of its own is there twice.
  return [...new Map(routes.map((route) => [nameOf(route), route])).values()];
}

/** The host's routes that stand in the place of a built-in one that the contract does not name. */
export function winningRoutes(host: readonly HostRoute[], builtIn: readonly Named[]): HostRoute[] {
  return host.flatMap((route) =>
    builtIn
      .filter((row) => row.contract !== true && covers(row, route))
      .map(({ method }) => ({ method, path: route.path })),
  );
}

/** The host's routes that no request reaches, because a route of the contract comes first. */
export function shadowedRoutes(host: readonly HostRoute[], builtIn: readonly Named[]): HostRoute[] {
  return host.flatMap((route) =>
    builtIn
      .filter((row) => row.contract === true && covers(row, route))
      .map(({ method }) => ({ method, path: route.path })),
  );
}

/** Whether a route of the host has taken the whole place of a built-in one. */
export function isReplaced(row: Named, host: readonly HostRoute[]): boolean {
  return row.contract !== true && host.some((route) => covers(row, route) && covers(route, row));
}

export function nameOf({ method, path }: HostRoute): string {
  return `${method} ${path}`;
}

/** Whether the first route takes every request of the second: the same words, or parameters in their place. */
function covers(wide: HostRoute, narrow: HostRoute): boolean {
  const methods = [wide.method, narrow.method];
  if (wide.method !== narrow.method && !methods.includes("ALL")) return false;
  const [parts, others] = [wide.path.split("/"), narrow.path.split("/")];
  // A parameter is never empty.
  const takes = (part: string, other = "") => part === other || (part.startsWith(":") && other !== "");
  return parts.length === others.length && parts.every((part, at) => takes(part, others[at]));
}

/** The paths that a path with optional parameters stands for. */
function variantsOf(path: string): string[] {
  const optional = /\/:[^/]+\?(?=\/|$)/.exec(path)?.[0];
  if (optional === undefined) return [path];
  return [path.replace(optional, "") || "/", path.replace(optional, optional.slice(0, -1))].flatMap(
    variantsOf,
  );
}
