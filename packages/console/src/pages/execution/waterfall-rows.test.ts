// The page of a loop that contains a step, and the row of a selection.
import type { Span } from "@andante/client";
import { expect, test } from "vitest";
import type { ExecutionEvent } from "../../api/types.ts";
import { foldRun } from "../../run/run-history.ts";
import { isSelected, roundOf, shownRows, waterfallParts } from "./waterfall-rows.ts";

const timestamp = new Date(0).toISOString();
const events: ExecutionEvent[] = Array.from({ length: 30 }, (_, round) => ({
  ...{ type: "step-start", executionId: "e", timestamp, sequence: round },
  ...{ stepPath: `each[${round}]/read`, stepType: "andThen" },
}));

test("a round that is chosen is on the page that it names", () => {
  expect(roundOf("look-up")).toBeUndefined();
  expect(roundOf("each[27]/read")).toEqual({ loop: "each", round: 27, page: 2 });
  const rows = shownRows(waterfallParts(foldRun(events), []), new Map([["each", 2]]));
  expect(rows.findIndex((row) => isSelected(row, "each[27]/read"))).toBe(8);
});

test("a step of the definition selects all of its rounds", () => {
  const rows = shownRows(waterfallParts(foldRun(events), []), new Map());
  expect(rows.filter((row) => isSelected(row, "each/read"))).toHaveLength(10);
  expect(rows.some((row) => isSelected(row, undefined))).toBe(false);
});

function span(spanId: string, parentSpanId: string, name: string): Span {
  return {
    ...{ traceId: "t", spanId, parentSpanId, entityType: "workflow", entityId: "w", executionId: "e", name },
    ...{ kind: "internal", status: "ok", startTime: timestamp, endTime: timestamp, duration: 0 },
    ...{ attributes: {}, events: [] },
  };
}

test("spans whose parents are a circle, as a caller can choose them, are shown once", () => {
  const step: ExecutionEvent = {
    ...{
      type: "step-start",
      executionId: "e",
      timestamp,
      sequence: 1,
      stepPath: "ask",
      stepType: "andAgent",
    },
  };
  // The caller named the span of the step as the parent of the execution's own span.
  const spans = [
    span("root", "asking", "invoke_workflow w"),
    span("asking", "root", "step ask"),
    span("call", "asking", "chat model"),
  ];
  const rows = shownRows(waterfallParts(foldRun([step]), spans), new Map());
  expect(rows.map(({ key }) => key)).toEqual(["ask", "root", "asking", "call"]);
});
