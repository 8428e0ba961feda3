// The order in which the spans of a trace are shown: as they began, and those that began in the same millisecond from the
// outside to the inside.
import type { SpanRecord } from "./span-record.ts";

/** Sorts them in place. */
export function inOrder(spans: SpanRecord[]): SpanRecord[] {
  const parents = new Map(spans.map(({ spanId, parentSpanId }) => [spanId, parentSpanId]));
  const depths = new Map<string, number>();
  /** The number of the trace's spans around it. Parents come from callers too, so a circle of them must end. */
  const depthOf = (spanId: string): number => {
    const above: string[] = [];
    let known: number | undefined;
    for (let id: string | null = spanId; id !== null && parents.has(id); id = parents.get(id) ?? null) {
      known = depths.get(id);
      if (known !== undefined) break;
      depths.set(id, 0);
      above.push(id);
    }
    for (const id of above.reverse()) {
      known = known === undefined ? 0 : known + 1;
      depths.set(id, known);
    }
    return depths.get(spanId) ?? 0;
  };
  const keyed = spans.map((span) => ({ span, at: Date.parse(span.startTime), depth: depthOf(span.spanId) }));
  keyed.sort((one, other) => one.at - other.at || one.depth - other.depth);
  for (const [index, { span }] of keyed.entries()) spans[index] = span;
  return spans;
}
