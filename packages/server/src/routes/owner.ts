// Whose conversations a caller may touch.
import type { OwnerOption } from "@andante/core/internal";
import type { RouteContext } from "../route.ts";

/** Undefined where the caller may touch only its own and has no id: then there are none. */
export function ownerFor({ scope, caller }: RouteContext): OwnerOption | undefined {
  if (scope === "all") return {};
  return caller.userId === undefined ? undefined : { userId: caller.userId };
}
