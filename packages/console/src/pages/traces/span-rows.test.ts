// The order of spans in a waterfall.
import type { Span, TraceSummary } from "@andante/client";
import { expect, test } from "vitest";
import { spanRows, spanStatus } from "./span-rows.ts";

const time = (milliseconds: number) => new Date(1_000_000 + milliseconds).toISOString();

function span(spanId: string, parentSpanId: string | null, start: number, end: number | null): Span {
  return {
    traceId: "trace",
    spanId,
    parentSpanId,
    entityType: "workflow",
    entityId: "measure",
    executionId: null,
    name: spanId,
    kind: "internal",
    status: "ok",
    startTime: time(start),
    endTime: end === null ? null : time(end),
    duration: end === null ? null : end - start,
    attributes: {},
    events: [],
  };
}

test("parents come before children, siblings by their start, an unknown parent is none", () => {
  const { rows, width } = spanRows([
    span("late", "root", 30, 40),
    span("root", null, 0, null),
    span("early", "root", 10, 20),
    span("inside", "early", 12, 18),
    span("strange", "elsewhere", 5, 60),
  ]);
  expect(rows.map(({ span: { spanId }, depth, start, end }) => [spanId, depth, start, end])).toEqual([
    ["root", 0, 0, undefined],
    ["early", 1, 10, 20],
    ["inside", 2, 12, 18],
    ["late", 1, 30, 40],
    ["strange", 0, 5, 60],
  ]);
  expect(width).toBe(60);
});

test("spans whose parents are a circle, as a caller can choose them, are shown after the others", () => {
  const { rows } = spanRows([
    span("one", "two", 0, 10),
    span("two", "one", 1, 9),
    span("inside", "two", 2, 3),
    span("own", "own", 3, 4),
    span("root", null, 5, 6),
  ]);
  expect(rows.map(({ span: { spanId } }) => spanId)).toEqual(["root", "one", "two", "inside", "own"]);
});

test("a chain of 20 000 spans, each inside the one before, is no problem", () => {
  const spans = Array.from({ length: 20_000 }, (_, n) => span(`${n}`, n === 0 ? null : `${n - 1}`, n, n + 1));
  const { rows } = spanRows(spans);
  expect(rows).toHaveLength(20_000);
  expect(rows.at(-1)?.depth).toBe(19_999);
});

test("a span that is open has the status of its execution, and a root always does", () => {
  const root: TraceSummary = {
    ...{ traceId: "trace", rootSpanId: "root", entityType: "workflow", entityId: "measure" },
    ...{ executionId: "e", userId: null, conversationId: null, startTime: time(0) },
    ...{ endTime: null, status: "suspended" },
  };
  const cancelled = { ...root, endTime: time(9), status: "cancelled" };
  const open = { ...span("ask", "root", 0, null), executionId: "e" };
  expect(spanStatus(open, [root])).toBe("suspended");
  expect(spanStatus(span("root", null, 0, null), [root])).toBe("suspended");
  expect(spanStatus(span("root", null, 0, 9), [cancelled])).toBe("cancelled");
  expect(spanStatus(open, [cancelled])).toBe("open");
  expect(spanStatus({ ...span("ask", "root", 0, 5), status: "unset" }, [root])).toBe("ok");
  expect(spanStatus({ ...span("ask", "root", 0, 5), status: "error" }, [root])).toBe("error");
});
