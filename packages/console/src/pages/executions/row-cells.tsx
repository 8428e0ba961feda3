// The cells of a row that need the workflow: where the execution stands, and how far it has come.
import { useQuery } from "@tanstack/react-query";
import { workflowQuery, workflowsQuery } from "../../api/queries.ts";
import type { ExecutionSummary } from "../../api/types.ts";
import { StepsBar } from "../../parts/steps-bar.tsx";

/** Where an execution stands, in the words of its workflow. */
export function StepAt({ row }: { readonly row: ExecutionSummary }) {
  const needsName = row.status !== "completed" && row.stepPath === undefined;
  const { data } = useQuery({ ...workflowQuery(row.workflowId), enabled: needsName });
  if (row.parked !== undefined) return <>{row.parked.reason}</>;
  if (row.status === "completed") return <>–</>;
  if (row.error !== undefined) return <>{[row.error.step, row.error.message].filter(Boolean).join(" · ")}</>;
  return <>{row.stepPath ?? data?.steps[row.stepIndex]?.id ?? ""}</>;
}

export function Progress({ row }: { readonly row: ExecutionSummary }) {
  const { data: workflows } = useQuery(workflowsQuery);
  const stepsCount = workflows?.find(({ id }) => id === row.workflowId)?.stepsCount ?? row.stepIndex + 1;
  return <StepsBar status={row.status} stepIndex={row.stepIndex} stepsCount={stepsCount} />;
}
