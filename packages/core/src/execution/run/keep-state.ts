// Records the values that a body has set with `setState`, in the order of outcomes.
import { toFailure } from "../../journal/failure.ts";
import type { Journal } from "../../journal/journal.ts";
import type { DoneBody, FailedBody } from "../body/run-body.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import type { StateGauge } from "../limits/limits.ts";
import type { CommitBatch } from "./commit-batch.ts";
import { stateEvent } from "./step-events.ts";

interface StateKeeping {
  readonly journal: Journal;
  readonly gauge: StateGauge;
  readonly batch: CommitBatch;
}

/** The body's result without its changes; its failure when they cannot be made. */
export function keepState(
  { journal, gauge, batch }: StateKeeping,
  command: RunCommand,
  result: DoneBody,
  now: number,
): DoneBody | FailedBody {
  const { changes, ...outcome } = result;
  if (changes === undefined) return outcome;
  try {
    const patch = changes.text();
    gauge.check(journal.state, patch, command.path);
    journal.stateChanged(command.place.scope.stepIndex, patch);
    batch.events.push(stateEvent(command, patch, now));
    return outcome;
  } catch (thrown) {
    return { kind: "error", error: toFailure(thrown, command.path, command.attempt), permanent: true };
  }
}
