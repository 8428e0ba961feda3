// The steps of an execution before and after its suspension.
import type { InboxItem, Step } from "@andante/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { workflowQuery } from "../../api/queries.ts";
import { Dot } from "../../components/status.tsx";
import { useNow } from "../../components/time.tsx";
import { deadlineWords } from "../../format/due.ts";
import { duration } from "../../format/numbers.ts";
import { attemptsOf, foldRun, type StepRun, tookOf } from "../../run/step-runs.ts";
import { journalQuery } from "../execution/journal.ts";

export function Trail({ item }: { readonly item: InboxItem }) {
  const { data: workflow } = useQuery(workflowQuery(item.workflowId));
  const { data: events } = useQuery(journalQuery(useQueryClient(), item.executionId));
  const now = useNow();
  const run = useMemo(() => events && foldRun(events), [events]);
  if (workflow === undefined || run === undefined) return <span className="skeleton" />;
  const { stepIndex, deadline } = item.suspension;
  const here = workflow.steps[stepIndex];
  const before = workflow.steps.slice(0, stepIndex);
  const after = workflow.steps.slice(stepIndex + 1);
  const waits = deadline === undefined ? "waits for you" : `waits for you; ${deadlineWords(deadline, now)}`;
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
          <h3>How it got here</h3>
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
  const attempts = run === undefined ? 0 : attemptsOf(run);
  const words = [
    step.purpose,
    run?.endAt != null ? duration(tookOf(run, run.endAt)) : "",
    attempts > 1 ? `${attempts} attempts` : "",
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
