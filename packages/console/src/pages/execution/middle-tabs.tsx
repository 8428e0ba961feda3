// The middle of the page: events, logs, state, input and result.
import type { ExecutionState } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { executionLogsQuery, executionTraceQuery } from "../../api/queries.ts";
import type { ExecutionEvent } from "../../api/types.ts";
import { JsonView } from "../../components/json-view.tsx";
import { LogLines } from "../../components/log-line.tsx";
import { type TabName, Tabs, tabOf } from "../../components/tabs.tsx";
import { useSearchChange } from "../../layout/search.ts";
import type { Run } from "../../run/run-history.ts";
import { EventsView } from "./events-view.tsx";

export function MiddleTabs({
  state,
  events,
  run,
  position,
  selected,
  onEvent,
}: {
  readonly state: ExecutionState;
  readonly events: readonly ExecutionEvent[];
  readonly run: Run;
  readonly position: number;
  readonly selected: string | undefined;
  readonly onEvent: (index: number) => void;
}) {
  const change = useSearchChange();
  const { tab: wanted } = useSearch({ strict: false });
  const { executionId } = state;
  const { data: logs = [] } = useQuery(executionLogsQuery(executionId));
  const { data: traceId } = useQuery(executionTraceQuery(executionId));
  const names: readonly [TabName, ...TabName[]] = [
    { id: "events", name: "Events", count: events.length },
    { id: "logs", name: "Logs", count: logs.length },
    { id: "state", name: "State" },
    { id: "io", name: "Input & result" },
  ];
  const tab = tabOf(names, wanted);
  return (
    <div className="middle">
      <Tabs label="Views" tabs={names} chosen={tab.id} onChoose={(next) => change({ tab: next })}>
        {typeof traceId === "string" && (
          <Link className="faint quiet" to="/traces/$traceId" params={{ traceId }}>
            Trace →
          </Link>
        )}
      </Tabs>
      <div className="tab-body" role="tabpanel" aria-label={tab.name}>
        {tab.id === "events" && (
          <EventsView
            events={events}
            input={state.input}
            position={position}
            selected={selected}
            onSelect={onEvent}
          />
        )}
        {tab.id === "logs" &&
          (logs.length === 0 ? (
            <p className="empty">
              No log lines. What a step writes with its <code>logger</code> appears here.
            </p>
          ) : (
            <LogLines lines={logs} />
          ))}
        {tab.id === "state" && (
          <div className="padded">
            <SetState state={run.state()} />
            <h3 className="field-label" style={{ marginTop: 16 }}>
              Context
            </h3>
            <JsonView label="context" value={state.context} />
          </div>
        )}
        {tab.id === "io" && (
          <div className="padded">
            <h3 className="field-label">Input</h3>
            <JsonView label="input" value={state.input} />
            <h3 className="field-label" style={{ marginTop: 16 }}>
              Result
            </h3>
            {state.endAt === null ? (
              <p className="muted">No result yet.</p>
            ) : (
              <JsonView label="result" value={state.result ?? state.error ?? null} />
            )}
          </div>
        )}
      </div>
    </div>
  );
}

function SetState({ state }: { readonly state: Readonly<Record<string, unknown>> }) {
  if (Object.keys(state).length === 0) return <p className="muted">No step has set any state.</p>;
  return <JsonView label="state" value={state} />;
}
