// The parts of a bar: failed and waiting executions, and the rest of the started ones.
import type { ActivityPoint } from "@andante/client";

/**
 * Executions that failed in a minute may have started before it, so there may be more failed than started ones. The
 * bar's height is then the sum of failed and waiting executions, and no part is negative.
 */
export function barParts({ started, failed, suspended }: ActivityPoint) {
  const whole = Math.max(started, failed + suspended);
  return { whole, fine: whole - failed - suspended, waiting: suspended, bad: failed };
}
