// The ids that a request names, for the questions to the host's `authorize`.
import type { Context } from "hono";
import type { Scope } from "../auth/authorize.ts";
import type { Ids, Permission } from "../auth/permission.ts";
import type { Route } from "../route.ts";

/** Those in the path, and those that a list is filtered by. */
export function namedIds({ query, resource }: Route, http: Context, params: Ids): Ids {
  if (query === undefined) return params;
  const filters = Object.entries(http.req.query()).filter(([name]) => resource.some((id) => id === name));
  return { ...Object.fromEntries(filters), ...params };
}

/** Asks again where the body or the store names more. The narrower of both decisions counts. */
export async function askAgain(
  permission: Permission,
  { ids }: Route,
  named: Ids,
  known: Parameters<NonNullable<Route["ids"]>>[0],
  scope: Scope,
): Promise<Scope> {
  const further = (await ids?.(known)) ?? {};
  if (Object.keys(further).length === 0) return scope;
  const again = await permission.scopeOf({ ...named, ...further });
  return again === "own" ? again : scope;
}
