// The parts of a bar: failed executions, and the rest of the started ones.
import type { ActivityPoint } from "@andante/client";

/**
 * Executions that failed in a minute may have started before it, so there may be more failed than started ones. Those that
 * wait are no part: a bar counts starts, and an execution that has waited in that minute may have continued since.
 */
export function barParts({ started, failed }: ActivityPoint) {
  const whole = Math.max(started, failed);
  return { whole, fine: whole - failed, bad: failed };
}
