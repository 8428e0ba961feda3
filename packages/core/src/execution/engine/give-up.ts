// Ends an execution that was recovered again and again without getting on: it may be what crashes the process.
import { CrashLoopError } from "../../errors/index.ts";
import { numberEvents } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { ClaimedExecution } from "../../store/store.ts";
import { buildEnding } from "../run/build-commit.ts";
import { endingOf } from "../run/settlement.ts";
import type { Engine } from "./engine.ts";

export async function giveUp(
  engine: Engine,
  { executionId, stepIndex }: ClaimedExecution,
  token: string,
  recoveries: number,
): Promise<void> {
  const state = await engine.store.state(executionId);
  if (state === undefined) return;
  const failure = toFailure(new CrashLoopError({ recoveries }));
  const { sequence: last, startAt } = state.execution;
  const [event] = await engine.store.events({ executionId, after: last - 1, limit: 1 });
  const lastAt = event?.timestamp ?? startAt;
  const ending = endingOf({ kind: "error", error: failure }, Math.max(engine.clock.now(), lastAt));
  const clear = state.timers.map(({ path }) => path);
  const values = new KeptValues(null);
  const { commit } = buildEnding({ executionId, token, number: 1, stepIndex, lastAt, values }, ending, clear);
  const { kind, sequence } = await engine.store.commit(commit);
  if (kind !== "ok") return;
  engine.publish(state.execution, numberEvents([ending.event], sequence), stepIndex);
  engine.waiters.settle(executionId, ending.settlement);
}
