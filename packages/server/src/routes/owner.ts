// The owner filter for a caller's conversations.
import type { OwnerOption } from "@andante/core/internal";
import type { RouteContext } from "../route.ts";

/** Undefined where the caller is limited to its own conversations and has no id: then there are none. */
export function ownerFor({ scope, caller }: RouteContext): OwnerOption | undefined {
  if (scope === "all") return {};
  return caller.userId === undefined ? undefined : { userId: caller.userId };
}
