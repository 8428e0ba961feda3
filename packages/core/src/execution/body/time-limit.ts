// Work with a time limit: then its signals are aborted, it has failed, and its later outcome is ignored.
import type { Clock } from "../../values/clock.ts";
import type { AbortScope } from "./abort-scope.ts";

/** Milliseconds that work gets to settle after its signal was aborted; then it is abandoned. */
const settling = 5000;

export interface TimeLimit<Result> {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly timeout: number;
  /** The scope of the work; closed and aborted with `error` when it takes longer. */
  readonly scope: AbortScope;
  readonly error: Error;
  /** The result of work that took longer. */
  readonly late: Result;
}

/** The result of the work, in time; the work must not reject. */
export function withinLimit<Result>(work: Promise<Result>, limit: TimeLimit<Result>): Promise<Result> {
  const { clock, timeout, scope, error, late } = limit;
  return new Promise((resolve) => {
    let timedOut = false;
    let cancel = clock.at(clock.now() + timeout, "limit", () => {
      timedOut = true;
      scope.close();
      scope.abort(error);
      cancel = clock.at(clock.now() + settling, "limit", () => resolve(late));
    });
    void work.then((result) => {
      cancel();
      scope.leave();
      resolve(timedOut ? late : result);
    });
  });
}
