// Ends an execution that was recovered again and again without getting on: it may be what crashes the process.
import { CrashLoopError } from "../../errors/index.ts";
import { numberEvents } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { ClaimedExecution, Commit, StoredExecution } from "../../store/store.ts";
import { buildEnding } from "../run/build-commit.ts";
import { type Ending, endingOf } from "../run/settlement.ts";
import type { Engine } from "./engine.ts";

export async function giveUp(
  engine: Pick<Engine, "store" | "clock" | "publish" | "waiters">,
  { executionId, stepIndex }: ClaimedExecution,
  token: string,
  recoveries: number,
): Promise<void> {
  const state = await engine.store.state(executionId);
  if (state === undefined) return;
  const { commit, ending } = await endingInError(engine, state, token, new CrashLoopError({ recoveries }));
  const { kind, sequence } = await engine.store.commit(commit);
  if (kind !== "ok") return;
  engine.publish(state.execution, numberEvents([ending.event], sequence), stepIndex);
  engine.waiters.settle(executionId, ending.settlement);
}

/** The end of an execution that this process has claimed and does not run. */
export async function endingInError(
  { store, clock }: Pick<Engine, "store" | "clock">,
  { execution, timers }: StoredExecution,
  token: string,
  error: Error,
): Promise<{ readonly commit: Commit; readonly ending: Ending }> {
  const { executionId, stepIndex, sequence: after, startAt } = execution;
  const [event] = await store.events({ executionId, after: after - 1, limit: 1 });
  const lastAt = event?.timestamp ?? startAt;
  const ending = endingOf({ kind: "error", error: toFailure(error) }, Math.max(clock.now(), lastAt));
  const clear = timers.map(({ path }) => path);
  const values = new KeptValues(null);
  const target = { executionId, token, number: 1, stepIndex, after, lastAt, values };
  const { commit } = buildEnding(target, ending, clear);
  return { commit, ending };
}
