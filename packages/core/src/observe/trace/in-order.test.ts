// The order of spans: by their beginning, then from the outside to the inside.
import { expect, test } from "vitest";
import type { SpanRecord } from "./span-record.ts";
import { inOrder } from "./traces.ts";

const span = (spanId: string, parentSpanId: string | null, second = 0): SpanRecord => ({
  traceId: "t",
  spanId,
  parentSpanId,
  entityType: "agent",
  entityId: "a",
  executionId: null,
  name: spanId,
  kind: "internal",
  startTime: new Date(1_000_000 + second * 1000).toISOString(),
  endTime: null,
  duration: null,
  status: "unset",
  attributes: {},
  events: [],
});
const idsOf = (spans: SpanRecord[]) => inOrder(spans).map(({ spanId }) => spanId);

test("spans that began in the same millisecond: parents first, siblings as they were", () => {
  const spans = [
    span("grandchild", "child"),
    span("child", "root"),
    span("second", "root"),
    span("root", null),
  ];
  expect(idsOf(spans)).toEqual(["root", "child", "second", "grandchild"]);
});

test("a span that began earlier comes first, at any place in the list", () => {
  expect(idsOf([span("late", null, 2), span("inner", "late", 1)])).toEqual(["inner", "late"]);
});

test("a parent outside of the trace, and a circle of parents", () => {
  expect(idsOf([span("below", "elsewhere"), span("one", "two"), span("two", "one")])).toHaveLength(3);
});
