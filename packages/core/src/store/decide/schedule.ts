// Whether a schedule may be written: only from the version that its writer has read.
import type { ChangeSchedule } from "../schedule-store.ts";

/** `before`: the version that the store holds; undefined without a row. */
export function decideSchedule(
  { expected, row }: Pick<ChangeSchedule<unknown>, "expected" | "row">,
  before: string | undefined,
): "write" | "written" | "changed" {
  // The same call again, because its result was lost. Without a row on either side it is removed, by any call.
  if (before === row?.version) return "written";
  return before === (expected ?? undefined) ? "write" : "changed";
}
