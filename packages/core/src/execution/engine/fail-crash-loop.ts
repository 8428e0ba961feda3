// Ends an execution that was recovered again and again without progress: it may be the one that crashes the process.

import type { Outbox } from "../../delivery/outbox.ts";
import { CrashLoopError } from "../../errors/index.ts";
import { type JournalEvent, numberEvents } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { ClaimedExecution, Commit, ExecutionRow, Store, StoredExecution } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { buildEnding } from "../run/build-commit.ts";
import { type Ending, endingOf } from "../run/settlement.ts";

interface EndingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly outbox: Outbox | undefined;
}

interface EndedExecution {
  readonly row: ExecutionRow;
  readonly events: readonly JournalEvent[];
  readonly settlement: Ending["settlement"];
}

/** Undefined when it has ended or was taken over meanwhile. */
export async function failCrashLoop(
  parts: EndingParts,
  { executionId }: ClaimedExecution,
  token: string,
  recoveries: number,
): Promise<EndedExecution | undefined> {
  const { store } = parts;
  const state = await store.state(executionId);
  if (state === undefined) return undefined;
  const error = new CrashLoopError({ recoveries });
  const { commit, ending } = await endingInError(parts, state, token, error);
  const { kind, sequence } = await store.commit(commit);
  if (kind !== "ok") return undefined;
  const events = numberEvents([ending.event], sequence);
  return { row: state.execution, events, settlement: ending.settlement };
}

/** The end of an execution that this process has claimed and does not run. */
export async function endingInError(
  { store, clock, outbox }: EndingParts,
  { execution, timers }: StoredExecution,
  token: string,
  error: Error,
): Promise<{ readonly commit: Commit; readonly ending: Ending }> {
  const { executionId, stepIndex, sequence: after, startAt } = execution;
  const { userId, workflowId } = execution;
  const [event] = await store.events({ executionId, after: after - 1, limit: 1 });
  const lastAt = event?.timestamp ?? startAt;
  const ending = endingOf({ kind: "error", error: toFailure(error) }, Math.max(clock.now(), lastAt));
  const clear = timers.map(({ path }) => path);
  const values = new KeptValues(null);
  const target = {
    executionId,
    token,
    number: 1,
    stepIndex,
    after,
    lastAt,
    values,
    spender: { userId, workflowId },
    outbox: workflowId === "" ? undefined : outbox?.of(execution, undefined),
  };
  const { commit } = buildEnding(target, ending, clear);
  return { commit, ending };
}
