// The cells of a row that need the workflow: the current step, and the progress.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { workflowQuery, workflowsQuery } from "../../api/queries.ts";
import type { ExecutionSummary } from "../../api/types.ts";
import { StepsBar } from "../../components/steps-bar.tsx";

/** The current step of an execution, by its name in the workflow. */
export function StepAt({ row }: { readonly row: ExecutionSummary }) {
  if (row.parked !== undefined) return row.parked.reason;
  if (row.status === "completed") return "–";
  if (row.error !== undefined) return [row.error.step, row.error.message].filter(Boolean).join(" · ");
  return row.stepPath ?? <NamedStep row={row} />;
}

function NamedStep({ row }: { readonly row: ExecutionSummary }) {
  const { data } = useQuery(workflowQuery(row.workflowId));
  return data?.steps[row.stepIndex]?.id ?? "";
}

/** The number of steps of each workflow, read once for a whole list. */
export function useStepsCounts(): ReadonlyMap<string, number> {
  const { data } = useQuery(workflowsQuery);
  return useMemo(() => new Map(data?.map(({ id, stepsCount }) => [id, stepsCount])), [data]);
}

export function Progress({
  row,
  counts,
}: {
  readonly row: ExecutionSummary;
  readonly counts: ReadonlyMap<string, number>;
}) {
  const stepsCount = counts.get(row.workflowId) ?? row.stepIndex + 1;
  return <StepsBar status={row.status} stepIndex={row.stepIndex} stepsCount={stepsCount} />;
}
