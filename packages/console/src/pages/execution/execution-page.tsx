// One execution: graph, events and waterfall are three views of one selection, which is in the address.
import type { Span, Step } from "@andante/client";
import { usePrefetchQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import {
  executionQuery,
  executionSpansQuery,
  executionTraceQuery,
  workflowQuery,
} from "../../api/queries.ts";
import type { ExecutionEvent } from "../../api/types.ts";
import { Problem } from "../../components/problem.tsx";
import { useNow } from "../../components/time.tsx";
import { shortId } from "../../format/numbers.ts";
import { expectGraph, LazyGraph } from "../../graph/lazy-graph.tsx";
import { type Crumb, Page } from "../../layout/page.tsx";
import { useSearchChange } from "../../layout/search.ts";
import { definitionPath, errorText, foldRun, type Run } from "../../run/step-runs.ts";
import { stepOf } from "./event-text.ts";
import { Heading } from "./heading.tsx";
import { journalQuery } from "./journal.ts";
import { MiddleTabs } from "./middle-tabs.tsx";
import { Scrubber } from "./scrubber.tsx";
import { StepPanel } from "./step-panel.tsx";
import { stepsFrom, stepView } from "./step-views.ts";
import { Waterfall } from "./waterfall.tsx";
import "./execution.css";

expectGraph();

const noEvents: readonly ExecutionEvent[] = [];
const noSpans: readonly Span[] = [];

export function ExecutionPage() {
  const { executionId = "" } = useParams({ strict: false });
  const { data: state, error } = useQuery(executionQuery(executionId));
  usePrefetchQuery(journalQuery(useQueryClient(), executionId));
  const workflowId = state?.workflowId;
  const crumbs: Crumb[] = [{ name: "Executions", to: "/executions" }];
  if (workflowId !== undefined) crumbs.push({ name: workflowId, to: "/executions", search: { workflowId } });
  return (
    <Page title={shortId(executionId)} crumbs={crumbs}>
      <Problem padded error={error} what={`Execution ${executionId} cannot be shown`} />
      {workflowId !== undefined && <Whole executionId={executionId} workflowId={workflowId} />}
    </Page>
  );
}

function Whole({ executionId, workflowId }: { readonly executionId: string; readonly workflowId: string }) {
  const client = useQueryClient();
  const change = useSearchChange();
  const search = useSearch({ strict: false });
  const { data: state } = useQuery(executionQuery(executionId));
  const { data: workflow } = useQuery(workflowQuery(workflowId));
  const { data: events = noEvents, error } = useQuery(journalQuery(client, executionId));
  const [moved, setMoved] = useState<number>();
  const position = Math.min(moved ?? events.length, events.length);
  const whole = useMemo(() => foldRun(events), [events]);
  const isBack = position < events.length;
  const run = useMemo(
    () => (isBack ? foldRun(events.slice(0, position)) : whole),
    [events, position, isBack, whole],
  );
  const steps = useMemo(() => workflow?.steps ?? stepsFrom(events), [workflow, events]);
  const spans = useAgentSpans(
    executionId,
    useMemo(() => hasAgent(steps), [steps]),
  );
  const selected = search.step ?? standsAt(run, steps);
  const now = useNow(whole.endAt === null);
  const at = isBack ? run.lastAt : now;
  const lookOf = useCallback((path: string, step: Step) => stepView(run, path, step, at), [run, at]);
  const select = useCallback((step: string) => change({ step }), [change]);
  const chooseEvent = (index: number) => {
    setMoved(index + 1 >= events.length ? undefined : index + 1);
    const event = events[index];
    const step = event && stepOf(event);
    if (step !== undefined) select(step);
  };
  if (state === undefined) return null;
  return (
    <>
      <Heading state={state} workflow={workflow} steps={steps} failure={failureIn(events)} />
      <Problem error={error} what="The events cannot be read" />
      <div className="three">
        <div className="canvas">
          {steps.length > 0 && (
            <LazyGraph
              steps={steps}
              lookOf={lookOf}
              selected={selected && definitionPath(selected)}
              onSelect={select}
            />
          )}
        </div>
        <MiddleTabs
          state={state}
          events={events}
          run={run}
          position={position}
          selected={selected}
          onEvent={chooseEvent}
        />
        <StepPanel state={state} workflow={workflow} run={run} steps={steps} selected={selected} />
      </div>
      <div className="bottom">
        <Scrubber events={events} position={position} onMove={setMoved} onEvent={chooseEvent} />
        <Waterfall
          run={run}
          whole={whole}
          spans={spans}
          at={at}
          until={whole.endAt ?? now}
          selected={selected}
          // The current step of a running execution changes: do not scroll the rows for it.
          follow={search.step ?? (state.status === "running" ? undefined : selected)}
          onSelect={select}
        />
      </div>
    </>
  );
}

/** The error of a failed execution from its last event, in full, for users that may read the journal. */
function failureIn(events: readonly ExecutionEvent[]): string | undefined {
  const last = events.at(-1);
  return last?.type === "workflow-error" ? errorText(last.error) : undefined;
}

/** The initially selected step: a waiting or failed one, else a running one, else the last. */
function standsAt(run: Run, steps: readonly Step[]): string | undefined {
  const runs = [...run.steps.values()];
  const interesting = ["suspended", "error", "retrying", "running"] as const;
  for (const status of interesting) {
    const found = runs.findLast((step) => step.status === status);
    if (found !== undefined) return found.path;
  }
  return runs.at(-1)?.path ?? steps[0]?.id;
}

function hasAgent(steps: readonly Step[]): boolean {
  return steps.some((step) => step.type === "andAgent" || hasAgent(step.steps ?? []));
}

/**
 * The spans of agents and tools. The steps' spans are derived from the journal, like the rest of the page, and the
 * trace of a long run is megabytes: it is not read where no agent can have run.
 */
function useAgentSpans(executionId: string, enabled: boolean): readonly Span[] {
  const { data: traceId } = useQuery({ ...executionTraceQuery(executionId), enabled });
  const { data: spans } = useQuery({
    ...executionSpansQuery(executionId, traceId ?? ""),
    enabled: enabled && typeof traceId === "string",
  });
  return spans ?? noSpans;
}
