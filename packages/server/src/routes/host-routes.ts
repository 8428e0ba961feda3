// The precedence of custom and built-in routes: which of them win, and which can never be reached.
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
 * The custom routes with a specific path. Excludes middleware and catch-all routes, such as static files under `*`,
 * which handle only requests without another route.
 */
export function hostRoutesOf<E extends Env>(app: Hono<E>): HostRoute[] {
  const routes = app.routes
    .filter(({ method, handler }) => method !== "ALL" || !isMiddleware(findTargetHandler(handler)))
    .flatMap(({ method, path }) => variantsOf(path).map((variant) => ({ method, path: variant })))
    .filter(({ path }) => !path.includes("*"));
  // A handler with its own middleware is listed twice.
  return [...new Map(routes.map((route) => [nameOf(route), route])).values()];
}

/** The custom routes that replace a built-in route outside the contract. */
export function winningRoutes(host: readonly HostRoute[], builtIn: readonly Named[]): HostRoute[] {
  return host.flatMap((route) =>
    builtIn
      .filter((row) => row.contract !== true && covers(row, route))
      .map(({ method }) => ({ method, path: route.path })),
  );
}

/** The custom routes that no request reaches, because a route of the contract takes precedence. */
export function shadowedRoutes(host: readonly HostRoute[], builtIn: readonly Named[]): HostRoute[] {
  return host.flatMap((route) =>
    builtIn
      .filter((row) => row.contract === true && covers(row, route))
      .map(({ method }) => ({ method, path: route.path })),
  );
}

/** Whether a custom route replaces a built-in one completely. */
export function isReplaced(row: Named, host: readonly HostRoute[]): boolean {
  return row.contract !== true && host.some((route) => covers(row, route) && covers(route, row));
}

export function nameOf({ method, path }: HostRoute): string {
  return `${method} ${path}`;
}

/** Whether the first route matches every request of the second: equal segments, or parameters in their place. */
function covers(wide: HostRoute, narrow: HostRoute): boolean {
  const methods = [wide.method, narrow.method];
  if (wide.method !== narrow.method && !methods.includes("ALL")) return false;
  const [parts, others] = [wide.path.split("/"), narrow.path.split("/")];
  // A parameter is never empty.
  const takes = (part: string, other = "") => part === other || (part.startsWith(":") && other !== "");
  return parts.length === others.length && parts.every((part, at) => takes(part, others[at]));
}

/** The paths that a path with optional parameters matches. */
function variantsOf(path: string): string[] {
  const optional = /\/:[^/]+\?(?=\/|$)/.exec(path)?.[0];
  if (optional === undefined) return [path];
  return [path.replace(optional, "") || "/", path.replace(optional, optional.slice(0, -1))].flatMap(
    variantsOf,
  );
}
