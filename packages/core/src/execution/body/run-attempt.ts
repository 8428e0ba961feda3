// One attempt of a body within its step's timeout.
import { StepTimeoutError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import { AbortScope } from "./abort-scope.ts";
import type { BodyRun } from "./body-run.ts";
import { type BodyResult, runBody } from "./run-body.ts";
import { withinLimit } from "./time-limit.ts";

/** Runs a body; one that takes longer than its step allows has failed, and its later outcome is ignored. */
export function runAttempt(run: BodyRun): BodyResult | Promise<BodyResult> {
  const { facts, command } = run;
  const { timeout } = command.place.step;
  if (timeout === undefined) return runBody(run);
  const scope = new AbortScope(run.scope);
  const running = runBody({ ...run, scope, branch: run.scope });
  if (!(running instanceof Promise)) {
    scope.leave();
    return running;
  }
  const error = new StepTimeoutError({ path: command.path, timeout });
  const late: BodyResult = {
    kind: "error",
    error: toFailure(error, command.path, command.attempt),
    permanent: false,
  };
  return withinLimit(running, { clock: facts.clock, timeout, scope, error, late });
}
