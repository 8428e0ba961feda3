// The parts of a bar: what failed and what waits of what started, and the rest.
import type { ActivityPoint } from "../../api/types.ts";

/**
 * What is counted in a minute may have started before it: more may have failed than have started. A bar is then as tall as
 * what failed and waits, and no part of it is less than nothing.
 */
export function barParts({ started, failed, suspended }: ActivityPoint) {
  const whole = Math.max(started, failed + suspended);
  return { whole, fine: whole - failed - suspended, waiting: suspended, bad: failed };
}
