// The middle of the page: events, logs, state, input and result.
import type { ExecutionState } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { executionLogsQuery, executionTraceQuery } from "../../api/queries.ts";
import type { ExecutionEvent } from "../../api/types.ts";
import { JsonView } from "../../components/json-view.tsx";
import { LogLines } from "../../components/log-line.tsx";
import { type TabName, Tabs, tabOf } from "../../components/tabs.tsx";
import { useSlash } from "../../components/use-keys.ts";
import { count } from "../../format/numbers.ts";
import { useSearchChange } from "../../layout/search.ts";
import type { Run } from "../../run/run-history.ts";
import { EventsView } from "./events-view.tsx";
import { OpenedEvent } from "./opened-event.tsx";

export function MiddleTabs({
  state,
  events,
  shown,
  run,
  position,
  selected,
  isOpened,
  onEvent,
  onStep,
  onClose,
}: {
  readonly state: ExecutionState;
  readonly events: readonly ExecutionEvent[];
  /** The indices of the events that the filter leaves; undefined without a filter. */
  readonly shown: readonly number[] | undefined;
  readonly run: Run;
  readonly position: number;
  readonly selected: string | undefined;
  /** The event at the position is shown in full. */
  readonly isOpened: boolean;
  readonly onEvent: (index: number) => void;
  readonly onStep: (by: number) => void;
  readonly onClose: () => void;
}) {
  const opened = isOpened ? events[position - 1] : undefined;
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
          <div className="event-log">
            <EventFilter total={events.length} left={shown?.length} />
            <EventsView
              events={events}
              shown={shown}
              input={state.input}
              position={position}
              selected={selected}
              onSelect={onEvent}
            />
            {opened && <OpenedEvent event={opened} onMove={onStep} onClose={onClose} />}
          </div>
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

/** The filter of the events, in the address; the key / focuses it. */
function EventFilter({
  total,
  left = total,
}: {
  readonly total: number;
  readonly left?: number | undefined;
}) {
  const change = useSearchChange();
  const { text = "" } = useSearch({ strict: false });
  const field = useRef<HTMLInputElement>(null);
  useSlash(field);
  return (
    <div className="row event-filter">
      <input
        ref={field}
        className="field"
        type="search"
        aria-label="Filter events"
        placeholder="Filter events by type, step or value ( / )"
        dir="auto"
        value={text}
        onChange={(event) => change({ text: event.target.value })}
      />
      <span className="faint num" role="status">
        {text !== "" && `${count(left)} of ${count(total)}`}
      </span>
    </div>
  );
}

function SetState({ state }: { readonly state: Readonly<Record<string, unknown>> }) {
  if (Object.keys(state).length === 0) return <p className="muted">No step has set any state.</p>;
  return <JsonView label="state" value={state} />;
}
