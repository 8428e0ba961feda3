// The parts of a bar: failed, waiting, and the rest of the started executions.
import type { ActivityPoint } from "../../api/types.ts";

/**
 * An execution counted in a minute may have started before it: more may have failed than have started. A bar is then as tall as
 * the failed and waiting ones, and no part of it is less than nothing.
 */
export function barParts({ started, failed, suspended }: ActivityPoint) {
  const whole = Math.max(started, failed + suspended);
  return { whole, fine: whole - failed - suspended, waiting: suspended, bad: failed };
}
