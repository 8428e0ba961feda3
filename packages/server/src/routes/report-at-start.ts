// The log lines at start: public routes, and unreachable custom routes.
import type { Logger } from "@andante/core";
import type { Gate } from "../auth/gate.ts";
import { openRoutesWarning } from "../auth/open-routes.ts";
import type { AuthProvider } from "../auth/provider.ts";
import { type HostRoute, isReplaced, nameOf, shadowedRoutes } from "./host-routes.ts";
import { routes } from "./index.ts";

/** Warns of likely mistakes: custom routes that are never reached, and public routes. */
export function warnAtStart(
  auth: AuthProvider | undefined,
  host: readonly HostRoute[],
  logger: Logger,
): void {
  const shadowed = shadowedRoutes(host, routes).map(nameOf);
  if (shadowed.length > 0) {
    const which = shadowed.join(", ");
    logger.warn(
      { shadowed },
      `configureApp has routes that are never reached, built-in ones come first: ${which}`,
    );
  }
  if (auth === undefined) return;
  const builtIn = routes.filter((row) => !isReplaced(row, host));
  const reached = host.filter((route) => !shadowed.includes(nameOf(route)));
  const warning = openRoutesWarning(auth, builtIn, reached);
  if (warning !== undefined) logger.warn({}, warning);
}

/** The built-in routes that need no token, for the log. */
export function publicRows(gate: Gate): string[] {
  return routes
    .filter(({ method, path, access }) => access !== "signed" && !gate.requiresAuth(method, path, access))
    .map((row) => `${row.method} ${row.path}`);
}
