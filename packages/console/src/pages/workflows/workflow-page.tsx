// One workflow: its graph, a form to run it, recent runs, durations and failures by step, its schemas.
import type { Step, WorkflowDetail } from "@andante/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { activityQuery, executionsQuery, stepActivityQuery, workflowQuery } from "../../api/queries.ts";
import { Fact } from "../../components/fact.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Problem } from "../../components/problem.tsx";
import { type TabName, Tabs, tabOf } from "../../components/tabs.tsx";
import { count, duration, shortCount } from "../../format/numbers.ts";
import { expectGraph, LazyGraph } from "../../graph/lazy-graph.tsx";
import { Page, Skeleton } from "../../layout/page.tsx";
import { useSearchChange } from "../../layout/search.ts";
import { findStep } from "../../run/step-runs.ts";
import { Definitions } from "./definitions.tsx";
import { RunForm } from "./run-form.tsx";
import { StepFigures } from "./step-figures.tsx";
import "../execution/execution.css";
import "./workflows.css";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Status } from "../../components/status.tsx";
import { Ago, Elapsed } from "../../components/time.tsx";
import { Progress, useStepsCounts } from "../executions/row-cells.tsx";

expectGraph();

export function WorkflowPage() {
  const { workflowId = "" } = useParams({ strict: false });
  const { data: workflow, error, isPending } = useQuery(workflowQuery(workflowId));
  return (
    <Page title={workflow?.name ?? workflowId} crumbs={[{ name: "Workflows", to: "/workflows" }]}>
      <Problem padded error={error} what={`Workflow ${workflowId} cannot be shown`} />
      {isPending && <Skeleton />}
      {workflow && <Whole workflow={workflow} />}
    </Page>
  );
}

/** A definition has no status: shows the figures of each step that has run in the last day, else its purpose. */
function useLook(workflowId: string) {
  const { data } = useQuery(stepActivityQuery(workflowId));
  return useMemo(() => {
    const figures = new Map(data?.steps.map((step) => [step.stepPath, step]));
    return (path: string, { purpose, type }: Step) => {
      const { p95 = null, failed = 0, tokens = 0 } = figures.get(path) ?? {};
      const known = [
        ...(p95 === null ? [] : [`p95 ${duration(p95)}`]),
        ...(failed > 0 ? [`${count(failed)} failed`] : []),
        ...(tokens > 0 ? [`${shortCount(tokens)} tokens`] : []),
      ];
      return { status: undefined, words: known.join(" · ") || purpose || type };
    };
  }, [data]);
}

const tabs: readonly [TabName, ...TabName[]] = [
  { id: "run", name: "Run" },
  { id: "recent", name: "Recent runs" },
  { id: "steps", name: "Steps" },
  { id: "schemas", name: "Schemas" },
  { id: "definitions", name: "Definitions" },
];

function Whole({ workflow }: { readonly workflow: WorkflowDetail }) {
  const change = useSearchChange();
  const { tab: wanted, step } = useSearch({ strict: false });
  const { id: tab, name } = tabOf(tabs, wanted);
  const { data: activity } = useQuery(activityQuery({ workflowId: workflow.id }));
  const lookOf = useLook(workflow.id);
  const busy = activity?.workflows.find(({ workflowId }) => workflowId === workflow.id);
  return (
    <>
      <div className="heading">
        <div className="title">
          <h2 className="cut">{workflow.name}</h2>
          <span className="mono faint">{workflow.id}</span>
        </div>
        <span className="muted cut">{workflow.purpose}</span>
        <div className="acts num">
          <Fact value={count(busy?.started ?? 0)} after="last hour" />
          {busy?.p50 != null && (
            <span className="fact">
              p50 <b>{duration(busy.p50)}</b> · p95 <b>{duration(busy.p95 ?? busy.p50)}</b>
            </span>
          )}
          <Fact value={count(busy?.failed ?? 0)} after="failed" />
        </div>
      </div>
      <div className="two">
        <div className="canvas">
          <LazyGraph
            steps={workflow.steps}
            lookOf={lookOf}
            selected={step}
            onSelect={(path) => change({ tab: "schemas", step: path })}
          />
        </div>
        <div className="about">
          <Tabs
            label="About the workflow"
            tabs={tabs}
            chosen={tab}
            onChoose={(next) => change({ tab: next, step: undefined })}
          />
          <div className="tab-body padded" role="tabpanel" aria-label={name}>
            {tab === "run" && (
              <div className="run-box">
                <RunForm workflowId={workflow.id} />
              </div>
            )}
            {tab === "recent" && <RecentRuns workflowId={workflow.id} />}
            {tab === "steps" && <StepFigures workflow={workflow} />}
            {tab === "definitions" && <Definitions workflowId={workflow.id} />}
            {tab === "schemas" && <Schemas workflow={workflow} step={step} />}
          </div>
        </div>
      </div>
    </>
  );
}

function Schemas({
  workflow,
  step: path,
}: {
  readonly workflow: WorkflowDetail;
  readonly step: string | undefined;
}) {
  const step = path === undefined ? undefined : findStep(workflow.steps, path.split("/"));
  const shown: readonly (readonly [string, unknown])[] = step
    ? [
        [`Input of ${step.name}`, step.inputSchema],
        [`Output of ${step.name}`, step.outputSchema],
        [`Resume data of ${step.name}`, step.resumeSchema],
      ]
    : [
        ["Input", workflow.inputSchema],
        ["Result", workflow.resultSchema],
        ["Resume data", workflow.resumeSchema],
      ];
  const known = shown.filter(([, schema]) => schema !== undefined && schema !== null);
  return (
    <>
      {step && (
        <p>
          <b>{step.name}</b> <span className="muted">{step.purpose || step.type}</span>
        </p>
      )}
      {known.length === 0 && <p className="muted">It declares no schemas.</p>}
      {known.map(([title, schema]) => (
        <div key={title}>
          <h3 className="schema-title">{title}</h3>
          <JsonView label={title} value={schema} />
        </div>
      ))}
    </>
  );
}

/** The newest executions of one workflow, live. */
function RecentRuns({ workflowId }: { readonly workflowId: string }) {
  const { data } = useInfiniteQuery(executionsQuery({ workflowId }, 20));
  const counts = useStepsCounts();
  const rows = data?.pages[0]?.executions ?? [];
  if (data && rows.length === 0) return <p className="muted">It has not run yet.</p>;
  return (
    <section className="card">
      <table className="plain">
        <tbody>
          {rows.map((row) => (
            <tr key={row.executionId} className="opens">
              <td>
                <Status status={row.parked ? "parked" : row.status} />
              </td>
              <td>
                <ExecutionLink className="mono" id={row.executionId} />
              </td>
              <td style={{ width: "30%" }}>
                <Progress row={row} counts={counts} />
              </td>
              <td className="right num">
                <Elapsed from={row.startAt} to={row.endAt} />
              </td>
              <td className="right faint">
                <Ago time={row.startAt} suffix=" ago" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p style={{ padding: "10px 16px" }}>
        <Link className="link" to="/executions" search={{ workflowId }}>
          All its executions →
        </Link>
      </p>
    </section>
  );
}
