// One trace: its agent or workflow, a waterfall of its spans, and the attributes of the selected span.
import type { Span, Trace } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { traceQuery } from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Fact } from "../../components/fact.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Problem } from "../../components/problem.tsx";
import { Status } from "../../components/status.tsx";
import { Clock, Elapsed } from "../../components/time.tsx";
import { count, plural, preciseClock, shortId } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { useSearchChange } from "../../layout/search.ts";
import { spanRows, spanStatus } from "./span-rows.ts";
import { SpanWaterfall } from "./span-waterfall.tsx";
import "../execution/execution.css";
import "../workflows/workflows.css";

export function TracePage() {
  const { traceId = "" } = useParams({ strict: false });
  const { data: trace, error, isPending } = useQuery(traceQuery(traceId));
  return (
    <Page title={shortId(traceId)} crumbs={[{ name: "Traces", to: "/traces" }]}>
      <Problem padded error={error} what={`Trace ${traceId} cannot be shown`} />
      {isPending && <Skeleton />}
      {trace && <Whole trace={trace} />}
    </Page>
  );
}

function Whole({ trace }: { readonly trace: Trace }) {
  const change = useSearchChange();
  const { step } = useSearch({ strict: false });
  const spans = useMemo(() => spanRows(trace.spans), [trace]);
  const selected = spans.rows.find(({ span }) => span.spanId === step)?.span ?? spans.rows[0]?.span;
  const choose = (spanId: string) => change({ step: spanId });
  return (
    <>
      <TraceHeading trace={trace} />
      <div className="two" style={{ gridTemplateColumns: "minmax(0, 1fr) 356px" }}>
        <SpanWaterfall spans={spans} roots={trace.roots} selected={selected?.spanId} onSelect={choose} />
        {selected && <SpanDetail span={selected} status={spanStatus(selected, trace.roots)} />}
      </div>
    </>
  );
}

function TraceHeading({ trace: { roots, spans, complete } }: { readonly trace: Trace }) {
  const [root] = roots;
  if (root === undefined) return null;
  const { entityId, entityType, status, startTime, endTime, userId } = root;
  const executionId = roots.find((each) => each.executionId !== null)?.executionId ?? undefined;
  return (
    <>
      <div className="heading">
        <div className="title">
          <h2 className="cut">{entityId}</h2>
          <span className="faint">{entityType}</span>
          <Status status={status} />
        </div>
        <Fact before="started" value={<Clock time={startTime} />} />
        {userId !== null && <Fact before="by" value={userId} />}
        <Fact before={endTime === null ? "for" : "took"} value={<Elapsed from={startTime} to={endTime} />} />
        <span className="fact">
          {complete ? plural(spans.length, "span") : `more than ${count(spans.length)} spans`}
        </span>
        {executionId !== undefined && (
          <div className="acts">
            <ExecutionLink className="btn" id={executionId}>
              Open execution {shortId(executionId)} →
            </ExecutionLink>
          </div>
        )}
      </div>
      {!complete && (
        <p className="note-bar">
          This trace is cut: the first {count(spans.length)} spans are shown. Spans that ended after them are
          shown as open.
        </p>
      )}
    </>
  );
}

function SpanDetail({ span, status }: { readonly span: Span; readonly status: string }) {
  const { name, kind, message, startTime, attributes, events } = span;
  return (
    <aside className="detail about" aria-label="Selected span">
      <h3>{name}</h3>
      <p className="sub">
        <Status status={status} /> {kind} · started <span className="mono">{preciseClock(startTime)}</span>
      </p>
      {message && <p className="failure">{message}</p>}
      <h4>Attributes</h4>
      <JsonView label="attributes" value={attributes} />
      {events.length > 0 && (
        <>
          <h4>Events</h4>
          <JsonView label="events" value={events} />
        </>
      )}
    </aside>
  );
}
