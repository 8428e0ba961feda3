// How long the steps of a workflow take, and how often each fails.
import type { Andante } from "@andante/core";
import { stepTotalsOfRuns } from "@andante/core/internal";
import type { Value } from "../schemas/component.ts";
import type { stepActivity } from "../schemas/overview-schemas.ts";
import { countOf, durationsOf, wholeMinutes } from "./activity.ts";

export interface StepActivityQuery {
  readonly workflowId: string;
  readonly userId?: string | undefined;
  readonly from: Date;
  readonly to: Date;
}

/** Runs whose journals are read where no counts exist: enough to find slow steps, few enough for one request. */
const runs = 20;

/** Throws when `signal` is aborted. */
export async function readStepActivity(
  andante: Andante,
  query: StepActivityQuery,
  signal: AbortSignal,
): Promise<Value<typeof stepActivity>> {
  await andante.ready();
  const { from, to, workflowId, userId } = query;
  const { rollups } = andante.live;
  const kept = userId === undefined ? rollups : undefined;
  const range = { workflowId, userId, from: from.getTime(), to: to.getTime(), limit: runs };
  const totals =
    kept === undefined
      ? await stepTotalsOfRuns(andante.store, range, signal)
      : await kept.totals({ workflowId, ...wholeMinutes(query), of: "steps" });
  const steps = [...Map.groupBy(totals, ({ step }) => step)].map(([stepPath, some]) => ({
    stepPath,
    completed: countOf(some, "completed"),
    failed: countOf(some, "failed"),
    retried: countOf(some, "retried"),
    tokens: countOf(some, "tokens"),
    ...durationsOf(some),
  }));
  steps.sort((one, other) => (one.stepPath < other.stepPath ? -1 : 1));
  const span = { from: from.toISOString(), to: to.toISOString() };
  return { ...span, runs: kept === undefined ? runs : null, steps };
}
