// The ids in a request, for calls of the host's `authorize`.
import type { Scope } from "../auth/authorize.ts";
import type { Ids, Permission } from "../auth/permission.ts";
import type { Route } from "../route.ts";

/** The ids in the path, and those of the query's filters. */
export function namedIds(
  { query, resource }: Route,
  read: () => Readonly<Record<string, unknown>>,
  params: Ids,
): Ids {
  if (query === undefined) return params;
  const { shape } = query();
  const isFilter = (name: string) => Object.hasOwn(shape, name) && resource.some((id) => id === name);
  const filters = Object.entries(read()).flatMap(([name, value]) =>
    isFilter(name) && typeof value === "string" ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(filters), ...params };
}

/** Calls `authorize` again with ids from the body or the store. The narrowest decision counts. */
export async function askAgain(
  permission: Permission,
  { ids }: Route,
  named: Ids,
  known: Parameters<NonNullable<Route["ids"]>>[0],
  scope: Scope,
): Promise<Scope> {
  let narrowest = scope;
  for (const further of (await ids?.(known)) ?? []) {
    const again = await permission.scopeOf({ ...named, ...further });
    if (again === "own") narrowest = again;
  }
  return narrowest;
}
