// One attempt of a body within its step's timeout.
import { StepTimeoutError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import { AbortScope } from "./abort-scope.ts";
import { type BodyResult, type BodyRun, runBody } from "./run-body.ts";

/** Milliseconds that a body gets to settle after its signal was aborted; then the next attempt starts without it. */
const settling = 5000;

/** Runs a body; one that takes longer than its step allows has failed, whatever comes of it later. */
export function runAttempt(run: BodyRun): BodyResult | Promise<BodyResult> {
  const { facts, command } = run;
  const { timeout } = command.place.step;
  if (timeout === undefined) return runBody(run);
  const scope = new AbortScope(run.scope);
  const running = runBody({ ...run, scope });
  if (!(running instanceof Promise)) {
    scope.leave();
    return running;
  }
  const { clock } = facts;
  const error = new StepTimeoutError({ path: command.path, timeout });
  const failed: BodyResult = {
    kind: "error",
    error: toFailure(error, command.path, command.attempt),
    permanent: false,
  };
  return new Promise((resolve) => {
    let timedOut = false;
    let cancel = clock.at(clock.now() + timeout, "limit", () => {
      timedOut = true;
      scope.close();
      scope.abort(error);
      cancel = clock.at(clock.now() + settling, "limit", () => resolve(failed));
    });
    running.then((result) => {
      cancel();
      scope.leave();
      resolve(timedOut ? failed : result);
    });
  });
}
