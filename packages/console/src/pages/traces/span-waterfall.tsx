// The spans of a trace as a waterfall; renders only visible rows.
import type { Span, TraceSummary } from "@andante/client";
import { useEffect, useRef } from "react";
import { useVirtualRows, VirtualRows } from "../../components/virtual-rows.tsx";
import { duration } from "../../format/numbers.ts";
import { toneOf } from "../../format/status.ts";
import { type SpanRow, type SpanRows, spanStatus } from "./span-rows.ts";

const rowHeight = 28;
/** Maximum indentation level: deeper names would have no room. */
const deepest = 8;

export function SpanWaterfall({
  spans: { rows, width },
  roots,
  selected,
  onSelect,
}: {
  readonly spans: SpanRows;
  readonly roots: readonly TraceSummary[];
  readonly selected: string | undefined;
  readonly onSelect: (spanId: string) => void;
}) {
  const list = useVirtualRows(rows.length, rowHeight, { overscan: 12 });
  const { virtual } = list;
  // The span in the address may be far below.
  const first = useRef(selected);
  useEffect(() => {
    const index = rows.findIndex(({ span }) => span.spanId === first.current);
    if (index > 0) virtual.scrollToIndex(index, { align: "auto" });
  }, [rows, virtual]);
  return (
    <VirtualRows list={list} rows={rows} className="scroll spans" label="Spans">
      {(row, start) => (
        <div key={row.span.spanId} className="fall-row" style={{ transform: `translateY(${start}px)` }}>
          <button
            type="button"
            className="fall"
            data-selected={row.span.spanId === selected}
            onClick={() => onSelect(row.span.spanId)}
          >
            <span
              className="name cut"
              style={{ paddingLeft: 24 + Math.min(row.depth, deepest) * 16 }}
              title={row.span.name}
            >
              {row.span.name}
            </span>
            <span className="track">
              <Bar row={row} width={width} tone={toneOfSpan(row.span, roots)} />
            </span>
            <span className="right num muted">
              {row.span.duration === null ? "open" : duration(row.span.duration)}
            </span>
          </button>
        </div>
      )}
    </VirtualRows>
  );
}

/** The bar of an open span extends to the end of the trace. */
function Bar({
  row: { start, end },
  width,
  tone,
}: {
  readonly row: SpanRow;
  readonly width: number;
  readonly tone: string;
}) {
  const share = (milliseconds: number) => `${(100 * milliseconds) / width}%`;
  return (
    <i
      data-tone={tone}
      className={end === undefined ? "container" : ""}
      style={{ left: share(start), width: share((end ?? width) - start) }}
    />
  );
}

function toneOfSpan(span: Span, roots: readonly TraceSummary[]): string {
  const { name, endTime, status } = span;
  if (status === "error" || endTime === null) return toneOf(spanStatus(span, roots));
  if (name.startsWith("execute_tool")) return "run";
  return /^(invoke_agent|chat|step \d)/.test(name) ? "agent" : "ok";
}
