// The cells of a row that need the workflow: the current step, and the progress.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { workflowQuery, workflowsQuery } from "../../api/queries.ts";
import type { ExecutionSummary } from "../../api/types.ts";
import { Sentence } from "../../components/sentence.tsx";
import { Status } from "../../components/status.tsx";
import { shownStatus, toneOf } from "../../format/status.ts";

/** The status of a row; a sleeping one is grey. */
export function RowStatus({ row }: { readonly row: ExecutionSummary }) {
  return <Status status={shownStatus(row.status, { parked: row.parked, kind: row.explanation?.kind })} />;
}

/** The reason why an execution waits, or its current step alone; in a search, the path of the match. */
export function StepAt({ row, alone = false }: { readonly row: ExecutionSummary; readonly alone?: boolean }) {
  const [match] = row.matches ?? [];
  if (match !== undefined) return `${match.path}: ${match.value}`;
  if (row.parked !== undefined) return row.parked.reason;
  if (row.status === "completed") return "–";
  if (row.explanation !== undefined && !alone) return <Sentence text={row.explanation.sentence} />;
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

/** The progress of an execution: finished steps in green, the current one in the colour of its status. */
export function Progress({
  row: { workflowId, status, stepIndex, parked, explanation },
  counts,
}: {
  readonly row: ExecutionSummary;
  readonly counts: ReadonlyMap<string, number>;
}) {
  const steps = Math.max(1, counts.get(workflowId) ?? stepIndex + 1);
  const done = status === "completed" ? steps : Math.min(stepIndex, steps);
  const words = status === "completed" ? "all steps done" : `${done} of ${steps} steps done`;
  const tone = toneOf(shownStatus(status, { parked, kind: explanation?.kind }));
  const share = (part: number) => ({ width: `${(100 * part) / steps}%` });
  return (
    <span className="steps-bar" role="img" aria-label={words} title={words}>
      <i data-done={done === steps || undefined} style={share(done)} />
      {status !== "cancelled" && done < steps && <i data-tone={tone} style={share(1)} />}
    </span>
  );
}
