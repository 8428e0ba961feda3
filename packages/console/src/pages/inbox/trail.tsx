// How an execution came to where it waits, and what happens after that.
import { useQuery } from "@tanstack/react-query";
import { readEvents, workflowQuery } from "../../api/queries.ts";
import type { InboxItem, Step } from "../../api/types.ts";
import { Dot } from "../../parts/status.tsx";
import { useNow } from "../../parts/time.tsx";
import { foldRun, type StepRun } from "../../run/step-runs.ts";
import { age, duration } from "../../words/numbers.ts";

/** The events of a short journal, read once for this place. */
const journalQuery = ({ executionId, suspension }: InboxItem) => ({
  queryKey: ["journal-head", executionId, suspension.suspensionId],
  queryFn: ({ signal }: { signal: AbortSignal }) => readEvents(executionId, 0, signal),
  staleTime: Number.POSITIVE_INFINITY,
});

export function Trail({ item }: { readonly item: InboxItem }) {
  const { data: workflow } = useQuery(workflowQuery(item.workflowId));
  const { data: events } = useQuery(journalQuery(item));
  const now = useNow();
  if (workflow === undefined || events === undefined) return <span className="skeleton" />;
  const run = foldRun(events);
  const { stepIndex, deadline } = item.suspension;
  const here = workflow.steps[stepIndex];
  const before = workflow.steps.slice(0, stepIndex);
  const after = workflow.steps.slice(stepIndex + 1);
  const waits =
    deadline === undefined
      ? "waits for you"
      : `waits for you; ends by itself in ${age(Date.parse(deadline) - now)}`;
  return (
    <>
      <h3>What happens next</h3>
      <ol>
        <li>
          <Dot status="suspended" />
          {here?.name ?? item.suspension.stepId}
          <small>{waits}</small>
        </li>
        {after.slice(0, 5).map((step) => (
          <li key={step.id}>
            <i className="dot" style={{ color: "var(--line2)" }} />
            <span className="muted">{step.name}</span>
            <small>{step.purpose || step.type}</small>
          </li>
        ))}
      </ol>
      {before.length > 0 && (
        <>
          <h3>How it came here</h3>
          <ol>
            {before.slice(-5).map((step) => (
              <Past key={step.id} step={step} run={run.steps.get(step.id)} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

function Past({ step, run }: { readonly step: Step; readonly run: StepRun | undefined }) {
  const words = [
    step.purpose,
    run?.endAt != null ? duration(run.endAt - run.startAt) : "",
    (run?.attempts.length ?? 0) > 1 ? `${run?.attempts.length} attempts` : "",
    run?.status === "skipped" ? "skipped" : "",
  ];
  return (
    <li>
      <Dot status={run?.status ?? "completed"} agent={step.type === "andAgent"} />
      {step.name}
      <small>{words.filter((word) => word !== "").join(" · ")}</small>
    </li>
  );
}
