// The waterfall: a bar for each attempt of a step, and for its waits.
import type { Span } from "@andante/client";
import { useEffect, useMemo, useRef, useState } from "react";
import { SparkBars } from "../../components/spark.tsx";
import { Dot } from "../../components/status.tsx";
import { bringIntoSight, useVirtualRows, VirtualRows } from "../../components/virtual-rows.tsx";
import { count, duration } from "../../format/numbers.ts";
import { toneOf } from "../../format/status.ts";
import type { Run } from "../../run/run-history.ts";
import { type StepRun, tookOf } from "../../run/step-runs.ts";
import type { TimeAxis } from "./time-axis.ts";
import {
  isSelected,
  roundOf,
  roundsPerPage,
  rowName,
  rowsAt,
  shownRows,
  type WaterfallRow,
  waterfallParts,
} from "./waterfall-rows.ts";

const rowHeight = 28;

interface Scale {
  readonly axis: TimeAxis;
  /** The shown time: bars without an end by then extend to it. */
  readonly at: number;
}

export function Waterfall({
  run,
  whole,
  spans,
  axis,
  at,
  selected,
  follow,
  onSelect,
}: {
  readonly run: Run;
  /** The whole run, independent of the scrubber: its rows are computed once. */
  readonly whole: Run;
  readonly spans: readonly Span[];
  /** The time axis of the whole run. */
  readonly axis: TimeAxis;
  /** The shown time. */
  readonly at: number;
  readonly selected: string | undefined;
  /** The step that is scrolled into view. */
  readonly follow: string | undefined;
  readonly onSelect: (path: string) => void;
}) {
  const [pages, setPages] = useState<ReadonlyMap<string, number>>(new Map());
  const parts = useMemo(() => waterfallParts(whole, spans), [whole, spans]);
  const shown = useMemo(() => shownRows(parts, pages), [parts, pages]);
  const rows = useMemo(() => rowsAt(shown, run), [shown, run]);
  const scale = useMemo(() => ({ axis, at }), [axis, at]);
  const list = useVirtualRows(rows.length, rowHeight, { overscan: 12 });
  const { virtual } = list;
  useEffect(() => {
    const { loop, page } = (follow !== undefined && roundOf(follow)) || {};
    if (loop !== undefined && page !== undefined)
      setPages((before) => (before.get(loop) === page ? before : new Map(before).set(loop, page)));
  }, [follow]);
  const brought = useRef<string>(undefined);
  const hasSpans = spans.length > 0;
  useEffect(() => {
    // Once per selection: new rows of a running execution must not scroll the view. The first spans of agents are
    // loaded after the steps and move them down.
    const reason = `${hasSpans} ${follow}`;
    if (follow === undefined || brought.current === reason) return;
    const index = rows.findIndex((row) => isSelected(row, follow));
    if (index === -1) return;
    brought.current = reason;
    bringIntoSight(virtual, index);
  }, [follow, hasSpans, rows, virtual]);
  return (
    <VirtualRows list={list} rows={rows} className="waterfall scroll" label="Waterfall">
      {(row, start) => (
        <div key={row.key} className="fall-row" style={{ transform: `translateY(${start}px)` }}>
          {row.kind === "rounds" ? (
            <Rounds
              row={row}
              page={pages.get(row.path) ?? 0}
              onPage={(page) => setPages(new Map(pages).set(row.path, page))}
            />
          ) : (
            <FallRow row={row} scale={scale} selected={selected} onSelect={onSelect} />
          )}
        </div>
      )}
    </VirtualRows>
  );
}

function FallRow({
  row,
  scale,
  selected,
  onSelect,
}: {
  readonly row: Extract<WaterfallRow, { kind: "step" | "span" }>;
  readonly scale: Scale;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
}) {
  const path = row.kind === "step" ? row.run.path : row.path;
  const on = isSelected(row, selected);
  const indent = { paddingLeft: 20 + row.depth * 18 };
  return (
    <button
      type="button"
      className="fall"
      data-selected={on}
      aria-pressed={on}
      onClick={() => onSelect(path)}
    >
      <span className="name cut" style={indent}>
        {row.kind === "step" ? (
          <>
            <Dot status={row.run.status} agent={row.run.type === "andAgent"} /> {rowName(path)}
          </>
        ) : (
          <span className="mono muted">{spanName(row.span)}</span>
        )}
      </span>
      <span className="track">
        {row.kind === "step" ? (
          <StepBars run={row.run} scale={scale} />
        ) : (
          <SpanBar span={row.span} scale={scale} />
        )}
      </span>
      <span className="right num muted">
        {row.kind === "step" ? timeOf(row.run, scale.at) : spanTime(row.span)}
      </span>
    </button>
  );
}

function timeOf(run: StepRun, at: number): string {
  const { status } = run;
  if (status === "suspended") return duration(at - since(run));
  return duration(tookOf(run, at));
}

/** The time since which a step waits: of its suspension, or of the steps inside. */
function since({ suspensions, endAt, startAt }: StepRun): number {
  const asked = suspensions[0]?.suspendedAt;
  return asked === undefined ? (endAt ?? startAt) : Date.parse(asked);
}

function spanTime({ duration: milliseconds }: Span): string {
  return milliseconds === null ? "" : duration(milliseconds);
}

/** `chat gpt-5` → gpt-5, `execute_tool clock` → clock(). */
function spanName({ name }: Span): string {
  const tool = /^execute_tool (.+)$/.exec(name)?.[1];
  return tool === undefined ? name.replace(/^chat /, "") : `${tool}()`;
}

function bar({ axis }: Scale, start: number, end: number) {
  const left = axis.place(start);
  const width = Math.max(0.4, axis.place(end) - left);
  return { left: `${left}%`, width: `min(${width}%, ${100 - left}%)` };
}

function StepBars({ run, scale }: { readonly run: StepRun; readonly scale: Scale }) {
  const end = run.endAt ?? scale.at;
  const sleeps = run.type.startsWith("andSleep");
  const tone = run.type === "andAgent" && run.status !== "error" ? "agent" : toneOf(run.status);
  return (
    <>
      {run.attempts.map((attempt, index) => (
        <i
          // biome-ignore lint/suspicious/noArrayIndexKey: append-only, and starts may be equal
          key={index}
          data-tone={attempt.error === undefined ? tone : "bad"}
          className={
            sleeps
              ? "slept"
              : run.path.includes("/") || run.type === "andThen" || run.type === "andAgent"
                ? ""
                : "container"
          }
          style={bar(scale, attempt.startAt, attempt.endAt ?? end)}
        />
      ))}
      {run.status === "suspended" && <i className="waiting" style={bar(scale, end, end)} />}
    </>
  );
}

function SpanBar({ span, scale }: { readonly span: Span; readonly scale: Scale }) {
  const start = Date.parse(span.startTime);
  const end = span.endTime === null ? scale.at : Date.parse(span.endTime);
  const tone = span.status === "error" ? "bad" : span.name.startsWith("execute_tool") ? "run" : "agent";
  return <i data-tone={tone} className="span" style={bar(scale, start, end)} />;
}

/** All rounds of a loop in one row: a chart of their durations, and the page that is shown below. */
function Rounds({
  row,
  page,
  onPage,
}: {
  readonly row: Extract<WaterfallRow, { kind: "rounds" }>;
  readonly page: number;
  readonly onPage: (page: number) => void;
}) {
  const last = Math.ceil(row.rounds / roundsPerPage) - 1;
  const bars = useMemo(() => barsOf(row.durations), [row.durations]);
  return (
    <div className="fall">
      <span className="name faint" style={{ paddingLeft: 20 + row.depth * 18 }}>
        {count(row.rounds)} rounds
      </span>
      <span className="track">
        <SparkBars tone="bar" values={bars} />
      </span>
      <span className="right pager">
        <button
          type="button"
          className="text-button"
          aria-label="Earlier rounds"
          disabled={page === 0}
          onClick={() => onPage(page - 1)}
        >
          ‹
        </button>
        <span className="num">
          {page * roundsPerPage}–{Math.min(row.rounds, (page + 1) * roundsPerPage) - 1}
        </span>
        <button
          type="button"
          className="text-button"
          aria-label="Later rounds"
          disabled={page >= last}
          onClick={() => onPage(page + 1)}
        >
          ›
        </button>
      </span>
    </div>
  );
}

/** The longest of neighbouring rounds, in at most 60 bars. */
function barsOf(durations: readonly number[]): readonly number[] {
  const size = Math.max(1, Math.ceil(durations.length / 60));
  return Array.from({ length: Math.ceil(durations.length / size) }, (_, index) =>
    Math.max(0, ...durations.slice(index * size, (index + 1) * size).map((value) => value ?? 0)),
  );
}
