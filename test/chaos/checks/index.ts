// All checks of one execution after one life.
import { checkAcknowledged } from "./acknowledged.ts";
import { checkBodies } from "./bodies.ts";
import { checkEnding, type Ending } from "./ending.ts";
import type { Check, Evidence } from "./evidence.ts";
import { checkJournal } from "./journal.ts";
import { checkOutcomes } from "./outcomes.ts";
import { checkStream, checkWholeStream } from "./stream.ts";
import { checkSuspensions } from "./suspensions.ts";
import { checkTimes } from "./times.ts";

const always: readonly Check[] = [
  checkJournal,
  checkSuspensions,
  checkAcknowledged,
  checkBodies,
  checkOutcomes,
  checkStream,
  checkTimes,
];

/** Rules that hold after every life, however it ended. */
export function checkLife(evidence: Evidence): string[] {
  return always.flatMap((check) => check(evidence));
}

/** Rules that hold once the execution has ended; `expected` is absent for the undisturbed run itself. */
export function checkEnd(evidence: Evidence, expected: Ending | undefined): string[] {
  const ending = expected === undefined ? [] : checkEnding(expected)(evidence);
  return [...checkWholeStream(evidence), ...ending];
}
