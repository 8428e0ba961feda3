// The spans of a trace as rows of a waterfall: parents before children, and the period that contains all of them.
import type { Span, TraceSummary } from "@andante/client";

export interface SpanRow {
  readonly span: Span;
  readonly depth: number;
  /** Milliseconds after the start of the trace. */
  readonly start: number;
  /** Undefined while it is open. */
  readonly end: number | undefined;
}

export interface SpanRows {
  readonly rows: readonly SpanRow[];
  /** Milliseconds from the first start to the last end. */
  readonly width: number;
}

/** The status of a span; of an open span or a root, the status of its execution. */
export function spanStatus(span: Span, roots: readonly TraceSummary[]): string {
  const own = roots.find(({ rootSpanId }) => rootSpanId === span.spanId);
  if (own !== undefined) return own.status;
  if (span.endTime !== null) return span.status === "error" ? "error" : "ok";
  const around = roots.find(
    ({ executionId, endTime }) => endTime === null && executionId === span.executionId,
  );
  return around?.status ?? "open";
}

/** Siblings by their start. Uses no recursion and no spreads: a trace may have any number of spans. */
export function spanRows(spans: readonly Span[]): SpanRows {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = new Map<string, { readonly span: Span; readonly at: number }[]>();
  let from = Number.POSITIVE_INFINITY;
  let until = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    const parent = span.parentSpanId !== null && ids.has(span.parentSpanId) ? span.parentSpanId : "";
    // Dates are parsed once: parsing was half of the time for 10 000 spans.
    const at = Date.parse(span.startTime);
    from = Math.min(from, at);
    until = Math.max(until, at + (span.duration ?? 0));
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [{ span, at }]);
    else siblings.push({ span, at });
  }
  // A stack of remaining spans, the next one last.
  const ahead: { readonly span: Span; readonly at: number; readonly depth: number }[] = [];
  const push = (parent: string, depth: number) => {
    const children = below.get(parent)?.sort((one, other) => other.at - one.at) ?? [];
    below.delete(parent);
    for (const child of children) ahead.push({ ...child, depth });
  };
  push("", 0);
  const rows: SpanRow[] = [];
  // A caller can choose the parent of an execution's own span: spans in a circle of parents come last.
  for (;;) {
    for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
      const { span, at, depth } = next;
      const start = at - from;
      rows.push({ span, depth, start, end: span.duration === null ? undefined : start + span.duration });
      push(span.spanId, depth + 1);
    }
    const [left] = below.keys();
    if (left === undefined) break;
    push(left, 0);
  }
  return { rows, width: Math.max(1, until - from) };
}
