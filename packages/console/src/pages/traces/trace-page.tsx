// One trace as a waterfall of its spans, with the attributes of the one that is selected.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { traceQuery } from "../../api/queries.ts";
import type { Span, Trace } from "../../api/types.ts";
import { Page } from "../../frame/page.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { duration, shortId } from "../../words/numbers.ts";
import "../execution/execution.css";
import "../workflows/workflows.css";

export function TracePage() {
  const { traceId = "" } = useParams({ strict: false });
  const { data: trace, error } = useQuery(traceQuery(traceId));
  return (
    <Page
      title={shortId(traceId)}
      crumbs={
        <>
          <Link className="quiet" to="/traces">
            Traces
          </Link>
          <span>/</span>
        </>
      }
    >
      {error !== null && (
        <div className="padded">
          <Problem error={error} what={`Trace ${traceId} cannot be shown`} />
        </div>
      )}
      {trace && <Whole trace={trace} />}
    </Page>
  );
}

interface Placed {
  readonly span: Span;
  readonly depth: number;
}

/** Parents before children, siblings by their start. */
function tree(spans: readonly Span[]): Placed[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = Map.groupBy(spans, ({ parentSpanId }) =>
    parentSpanId !== null && ids.has(parentSpanId) ? parentSpanId : "",
  );
  const walk = (parent: string, depth: number): Placed[] =>
    [...(below.get(parent) ?? [])]
      .sort((one, other) => one.startTime.localeCompare(other.startTime))
      .flatMap((span) => [{ span, depth }, ...walk(span.spanId, depth + 1)]);
  return walk("", 0);
}

function Whole({ trace }: { readonly trace: Trace }) {
  const navigate = useNavigate();
  const { step } = useSearch({ strict: false });
  const placed = tree(trace.spans);
  const times = trace.spans.flatMap(({ startTime, endTime }) => [
    Date.parse(startTime),
    Date.parse(endTime ?? startTime),
  ]);
  const from = Math.min(...times);
  const width = Math.max(1, Math.max(...times) - from);
  const selected = trace.spans.find(({ spanId }) => spanId === step) ?? placed[0]?.span;
  const executionId = trace.roots.find((root) => root.executionId !== null)?.executionId ?? undefined;
  const choose = (spanId: string) =>
    void navigate({
      to: "/traces/$traceId",
      params: { traceId: trace.traceId },
      search: { step: spanId },
      replace: true,
    });
  return (
    <div className="two" style={{ gridTemplateColumns: "minmax(0, 1fr) 356px" }}>
      <section className="scroll" aria-label="Spans">
        {placed.map(({ span, depth }) => (
          <button
            key={span.spanId}
            type="button"
            className="fall"
            data-selected={span === selected}
            onClick={() => choose(span.spanId)}
          >
            <span className="name cut" style={{ paddingLeft: 24 + depth * 16 }}>
              {span.name}
            </span>
            <span className="track">
              <i
                data-tone={toneOfSpan(span)}
                style={{
                  left: `${(100 * (Date.parse(span.startTime) - from)) / width}%`,
                  width: `${(100 * (Date.parse(span.endTime ?? span.startTime) - Date.parse(span.startTime))) / width}%`,
                }}
              />
            </span>
            <span className="right num muted">{span.duration === null ? "" : duration(span.duration)}</span>
          </button>
        ))}
      </section>
      {selected && (
        <aside className="detail about" aria-label="Selected span">
          <h3>{selected.name}</h3>
          <p className="sub">
            <Status status={selected.status === "unset" ? "ok" : selected.status} /> {selected.kind}
          </p>
          {selected.message && <p className="failure">{selected.message}</p>}
          <h4>Attributes</h4>
          <JsonView label="attributes" value={selected.attributes} />
          {executionId !== undefined && (
            <p style={{ marginTop: 12 }}>
              <Link className="link" to="/executions/$executionId" params={{ executionId }}>
                Open execution {shortId(executionId)} →
              </Link>
            </p>
          )}
        </aside>
      )}
    </div>
  );
}

function toneOfSpan({ status, name }: Span): string {
  if (status === "error") return "bad";
  if (name.startsWith("execute_tool")) return "run";
  return /^(invoke_agent|chat|step \d)/.test(name) ? "agent" : "ok";
}
