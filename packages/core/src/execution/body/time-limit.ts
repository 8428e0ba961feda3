// Work that may take only so long: then its signals are aborted, and it has failed whatever comes of it later.
import type { Clock } from "../../values/clock.ts";
import type { AbortScope } from "./abort-scope.ts";

/** Milliseconds that work gets to settle after its signal was aborted; then nobody waits for it any more. */
const settling = 5000;

export interface TimeLimit<Result> {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly timeout: number;
  /** What the work runs in; closed and aborted with `error` when it takes longer. */
  readonly scope: AbortScope;
  readonly error: Error;
  /** What comes of work that took longer. */
  readonly late: Result;
}

/** What the work resolves to, in time; it must not reject. */
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
