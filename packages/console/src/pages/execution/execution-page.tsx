// One execution: graph, events and waterfall are three views of one selection, which is in the address.
import type { Span, Step } from "@andante/client";
import { usePrefetchQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { type CSSProperties, type RefObject, useCallback, useDeferredValue, useMemo, useRef } from "react";
import {
  executionQuery,
  executionSpansQuery,
  executionTraceQuery,
  workflowQuery,
} from "../../api/queries.ts";
import type { ExecutionEvent } from "../../api/types.ts";
import { Problem } from "../../components/problem.tsx";
import { Splitter, usePaneSize } from "../../components/splitter.tsx";
import { useNow } from "../../components/time.tsx";
import { shortId } from "../../format/numbers.ts";
import { expectGraph, LazyGraph } from "../../graph/lazy-graph.tsx";
import { type Crumb, Page, Skeleton } from "../../layout/page.tsx";
import { RunHistory } from "../../run/run-history.ts";
import { definitionPath, errorText } from "../../run/step-runs.ts";
import { stepOf } from "./event-text.ts";
import { Heading } from "./heading.tsx";
import { journalQuery } from "./journal.ts";
import { MiddleTabs } from "./middle-tabs.tsx";
import { Scrubber } from "./scrubber.tsx";
import { matchingEvents, neighbour } from "./shown-events.ts";
import { StepPanel } from "./step-panel.tsx";
import { stepsFrom, stepView } from "./step-views.ts";
import { timeAxis } from "./time-axis.ts";
import { usePlace } from "./use-place.ts";
import { Waterfall } from "./waterfall.tsx";
import "./execution.css";

expectGraph();

const noEvents: readonly ExecutionEvent[] = [];
const noSpans: readonly Span[] = [];

export function ExecutionPage() {
  const { executionId = "" } = useParams({ strict: false });
  const { data: state, error, isPending } = useQuery(executionQuery(executionId));
  usePrefetchQuery(journalQuery(useQueryClient(), executionId));
  const workflowId = state?.workflowId;
  const crumbs: Crumb[] = [{ name: "Executions", to: "/executions" }];
  if (workflowId !== undefined) crumbs.push({ name: workflowId, to: "/executions", search: { workflowId } });
  return (
    <Page title={shortId(executionId)} id={executionId} crumbs={crumbs}>
      <Problem padded error={error} what={`Execution ${executionId} cannot be shown`} />
      {isPending && <Skeleton />}
      {workflowId !== undefined && <Whole executionId={executionId} workflowId={workflowId} />}
    </Page>
  );
}

function Whole({ executionId, workflowId }: { readonly executionId: string; readonly workflowId: string }) {
  const client = useQueryClient();
  const { data: state } = useQuery(executionQuery(executionId));
  const { data: workflow } = useQuery(workflowQuery(workflowId));
  const { data: events = noEvents, error } = useQuery(journalQuery(client, executionId));
  const [place, go] = usePlace();
  const { text = "" } = useSearch({ strict: false });
  const wanted = useDeferredValue(text);
  const shown = useMemo(() => matchingEvents(events, wanted), [events, wanted]);
  const position = Math.min(place.event ?? events.length, events.length);
  const history = useHistory(events);
  const { whole } = history;
  const isBack = position < events.length;
  const run = useMemo(() => history.at(position), [history, position]);
  const steps = useMemo(() => workflow?.steps ?? stepsFrom(events), [workflow, events]);
  const spans = useAgentSpans(
    executionId,
    useMemo(() => hasAgent(steps), [steps]),
  );
  const selected = place.step ?? run.current?.path ?? steps[0]?.id;
  const now = useNow(whole.endAt === null);
  const at = isBack ? run.lastAt : now;
  // A suspended execution runs nothing: its bars end with its last event.
  const until = whole.endAt ?? (state?.status === "suspended" ? whole.lastAt : now);
  const axis = useMemo(() => timeAxis(whole, until), [whole, until]);
  const lookOf = useCallback((path: string, step: Step) => stepView(run, path, step, at), [run, at]);
  const select = useCallback((step: string) => go({ step }, "now"), [go]);
  const move = useCallback((to: number | undefined) => go({ event: to }), [go]);
  const chooseEvent = useCallback(
    (index: number) => {
      const event = events[index];
      const step = event && stepOf(event);
      go({ event: index + 1, ...(step !== undefined && { step }) });
    },
    [events, go],
  );
  const step = (by: number) => {
    if (by > 0 && position >= events.length) return move(undefined);
    chooseEvent(neighbour(shown, { position, total: events.length, by }));
  };
  const failed = state?.status === "error" && whole.current?.status === "error" ? whole.current : undefined;
  const three = useRef<HTMLDivElement>(null);
  const bottom = useRef<HTMLDivElement>(null);
  const [left, setLeft] = usePaneSize("graph");
  const [right, setRight] = usePaneSize("step");
  const [height, setHeight] = usePaneSize("waterfall");
  if (state === undefined) return null;
  return (
    <>
      <Heading
        state={state}
        workflow={workflow}
        steps={steps}
        failure={failureIn(events)}
        failed={failed?.path}
        active={axis.active}
        onSelect={select}
      />
      <Problem error={error} what="The events cannot be read" />
      <div
        className="three"
        ref={three}
        style={columns(left, right)}
        data-waits={state.status === "suspended" || undefined}
      >
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
          shown={shown}
          run={run}
          position={position}
          selected={selected}
          isOpened={place.event !== undefined}
          onEvent={chooseEvent}
          onStep={step}
          onClose={() => move(undefined)}
        />
        <StepPanel
          state={state}
          workflow={workflow}
          run={run}
          steps={steps}
          selected={selected}
          // The answer and its effects are shown, also when it was given at an earlier event.
          onAnswered={() => move(undefined)}
        />
        <Splitter label="Width of the graph" axis="x" pane={() => child(three, ".canvas")} onSize={setLeft} />
        <Splitter
          label="Width of the step"
          axis="x"
          sign={-1}
          pane={() => child(three, ".detail")}
          onSize={setRight}
        />
      </div>
      <Splitter
        label="Height of the waterfall"
        axis="y"
        sign={-1}
        pane={() => bottom.current}
        onSize={setHeight}
      />
      <div className="bottom" ref={bottom} style={height === undefined ? {} : { height }}>
        <Scrubber events={events} position={position} onMove={move} onStep={step} />
        <Waterfall
          run={run}
          whole={whole}
          spans={spans}
          axis={axis}
          at={at}
          selected={selected}
          // The current step of a running execution changes: do not scroll the rows for it.
          follow={place.step ?? (state.status === "running" ? undefined : selected)}
          onSelect={select}
        />
      </div>
    </>
  );
}

/** The widths of the outer panes, where the user has chosen them. */
function columns(left: number | undefined, right: number | undefined): CSSProperties {
  const names: Record<string, string> = {};
  if (left !== undefined) names["--left"] = `${left}px`;
  if (right !== undefined) names["--right"] = `${right}px`;
  return names;
}

function child(box: RefObject<HTMLElement | null>, selector: string): Element | null {
  return box.current?.querySelector(selector) ?? null;
}

/** The runs at every position; only new events are folded. */
function useHistory(events: readonly ExecutionEvent[]): RunHistory {
  const kept = useRef<RunHistory>(undefined);
  return useMemo(() => {
    kept.current = new RunHistory(events, kept.current);
    return kept.current;
  }, [events]);
}

/** The error of a failed execution from its last event, in full, for users that may read the journal. */
function failureIn(events: readonly ExecutionEvent[]): string | undefined {
  const last = events.at(-1);
  return last?.type === "workflow-error" ? errorText(last.error) : undefined;
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
