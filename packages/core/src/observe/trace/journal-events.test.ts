// Spans from journals that are written by hand: retries, bails, emitted events, events that come twice.
import { expect, test } from "vitest";
import { decodeEvent } from "../../journal/codec.ts";
import type { StoredEvent } from "../../store/stored-event.ts";
import { ExecutionSpans } from "./execution-spans.ts";
import type { SpanRecord } from "./span-record.ts";

const execution = { executionId: "e1", workflowId: "w", userId: null, conversationId: null };

function spansOf(events: readonly Partial<StoredEvent>[]): SpanRecord[] {
  const ended: SpanRecord[] = [];
  const listener = {
    wants: () => true,
    started: () => undefined,
    ended: (span: SpanRecord) => ended.push(span),
  };
  const spans = new ExecutionSpans(execution, listener);
  const none = { path: null, stepIndex: null, stepType: null, value: null, detail: null, type: "" };
  events.forEach((event, index) => {
    spans.apply(decodeEvent({ ...none, sequence: index + 1, timestamp: 1_000 + index, ...event }));
  });
  return ended;
}

const step = { path: "one", stepIndex: 0, stepType: "andThen" };

test("a retry is an event with the error and the attempt; the step continues", () => {
  const [one] = spansOf([
    { type: "workflow-start" },
    { ...step, type: "step-start" },
    {
      ...step,
      type: "step-retry",
      value: '{"name":"TypeError","message":"not yet"}',
      detail: '{"attempt":1,"retryAt":5}',
    },
    { ...step, type: "step-complete" },
  ]);
  expect(one).toMatchObject({ name: "step one", status: "ok", duration: 2 });
  expect(one?.events).toEqual([
    {
      name: "retry",
      timestamp: new Date(1_002).toISOString(),
      attributes: {
        "exception.type": "TypeError",
        "exception.message": "not yet",
        "andante.step.attempt": 1,
      },
    },
  ]);
});

test("a step that bails ends its span", () => {
  const spans = spansOf([
    { type: "workflow-start" },
    { ...step, type: "step-start" },
    { ...step, type: "step-bailed" },
    { type: "workflow-complete" },
  ]);
  expect(spans.map(({ name, status }) => [name, status])).toEqual([
    ["step one", "ok"],
    ["invoke_workflow w", "ok"],
  ]);
  expect(spans[0]?.events.map(({ name }) => name)).toEqual(["bailed"]);
});

test("a span holds a bounded number of events, the last ones", () => {
  const emitted = Array.from({ length: 1_000 }, (_, n) => ({
    ...step,
    type: "emitted",
    detail: `{"type":"tick-${n}","attempt":1}`,
  }));
  const [one] = spansOf([
    { type: "workflow-start" },
    { ...step, type: "step-start" },
    ...emitted,
    { ...step, type: "step-complete" },
  ]);
  expect(one?.events).toHaveLength(128);
  expect(one?.events.at(-1)?.timestamp).toBe(new Date(1_000 + 1_001).toISOString());
});

test("steps inside iterations belong to their loop; a bad traceparent and an end without a start have no effect", () => {
  const inner = { path: "each[2]/resize", stepIndex: 0, stepType: "andThen" };
  const spans = spansOf([
    { type: "workflow-start", detail: '{"traceparent":"bad"}' },
    { path: "each", stepIndex: 0, stepType: "andForEach", type: "step-start" },
    { ...inner, type: "step-start" },
    { ...inner, type: "step-complete" },
    { path: "never-began", type: "step-complete" },
    { path: "each", stepIndex: 0, stepType: "andForEach", type: "step-complete" },
    { type: "workflow-error", value: '{"name":"Error","message":"failed"}' },
  ]);
  const [resize, each, root] = spans;
  expect(spans).toHaveLength(3);
  expect(resize?.parentSpanId).toBe(each?.spanId);
  expect(each?.parentSpanId).toBe(root?.spanId);
  expect(root).toMatchObject({ status: "error", parentSpanId: null });
});

test("an event that comes twice counts once", () => {
  const spans = spansOf([
    { type: "workflow-start" },
    { ...step, type: "step-start" },
    { ...step, type: "step-complete" },
    { ...step, type: "step-start", sequence: 2 },
    { type: "workflow-complete" },
  ]);
  expect(spans.map(({ name }) => name)).toEqual(["step one", "invoke_workflow w"]);
});
