// Our spans beside those of OpenTelemetry's SDK: a processor reads the same after the same calls.
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { ExportedSpans } from "../../packages/core/src/observe/trace/exported-spans.ts";
import type { ReadableSpan, SpanProcessor } from "../../packages/core/src/observe/trace/readable-span.ts";
import { resourceFromEnvironment } from "../../packages/core/src/observe/trace/resource-from-environment.ts";
import { SpanTracer } from "../../packages/core/src/observe/trace/span-tracer.ts";

const parent = trace.setSpanContext(ROOT_CONTEXT, {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  traceFlags: 1,
});
const start = { startTime: [1_700_000_000, 999_999_999] as [number, number] };

/** A processor that keeps its spans. */
function keeper() {
  const kept: { started: string[]; ended: ReadableSpan[] } = { started: [], ended: [] };
  const processor: SpanProcessor = {
    onStart: (span) => kept.started.push(span.name),
    onEnd: (span) => kept.ended.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  return { kept, processor };
}

function ours(now = () => Date.now()): {
  readonly startSpan: Tracer["startSpan"];
  readonly ended: readonly ReadableSpan[];
} {
  const { kept, processor } = keeper();
  const resource = resourceFromEnvironment({}, () => undefined);
  const spans = new ExportedSpans({ resource, now }, processor, (error) => {
    throw error;
  });
  return { startSpan: (...given) => spans.startSpan(...given), ended: kept.ended };
}

function theirs(): { readonly startSpan: Tracer["startSpan"]; readonly ended: readonly ReadableSpan[] } {
  const { kept, processor } = keeper();
  const provider = new BasicTracerProvider({
    spanProcessors: [processor],
    spanLimits: { attributeValueLengthLimit: 32 * 1024 },
  });
  const tracer = provider.getTracer("gen_ai");
  return { startSpan: (...given) => tracer.startSpan(...given), ended: kept.ended };
}

function readOf(span: ReadableSpan | undefined) {
  if (span === undefined) throw new Error("no span ended");
  const { name, kind, parentSpanContext, startTime, endTime, duration, ended, status } = span;
  const { attributes, links, events, instrumentationScope, resource } = span;
  const { droppedAttributesCount, droppedEventsCount, droppedLinksCount } = span;
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    ...{ name, kind, parentSpanContext, startTime, endTime, duration, ended, status },
    ...{ attributes, links, events, scope: instrumentationScope.name },
    ...{ droppedAttributesCount, droppedEventsCount, droppedLinksCount },
    ...{ traceId, traceFlags, idLength: spanId.length, service: resource.attributes["service.name"] },
  };
}

const many = (count: number): Attributes =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index]));

const cases: [string, (span: Span) => void][] = [
  [
    "attributes",
    (span) => {
      span.setAttributes({ text: "a", list: ["a", "b"], numbers: [1, 2], flag: false, nothing: undefined });
      span.setAttribute("text", "b");
    },
  ],
  [
    "long strings",
    (span) => span.setAttributes({ text: "x".repeat(40_000), list: ["y".repeat(40_000), "z"] }),
  ],
  ["too many attributes", (span) => span.setAttributes(many(200)).setAttribute("key1", "changed")],
  [
    "events",
    (span) => {
      span.addEvent("bare", new Date(1_700_000_001_000));
      span.addEvent("full", { a: 1, text: "x".repeat(40_000) }, [1_700_000_001, 5]);
      span.addEvent("crowded", many(130), 1_700_000_001_234.5);
    },
  ],
  [
    "too many events",
    (span) => {
      for (let count = 0; count < 130; count++) span.addEvent(`event ${count}`, {}, [1_700_000_001, count]);
    },
  ],
  [
    "exceptions",
    (span) => {
      span.recordException({ name: "TypeError", message: "broken", stack: "at a" }, [1_700_000_001, 0]);
      span.recordException({ code: 42, name: "Error", message: "coded" }, [1_700_000_001, 1]);
      span.recordException("plain", [1_700_000_001, 2]);
    },
  ],
  ["an error", (span) => span.setStatus({ code: SpanStatusCode.ERROR, message: "broken" })],
  [
    "a status that is final",
    (span) =>
      span
        .setStatus({ code: SpanStatusCode.ERROR, message: "broken" })
        .setStatus({ code: SpanStatusCode.UNSET })
        .setStatus({ code: SpanStatusCode.OK, message: "left out" })
        .setStatus({ code: SpanStatusCode.ERROR, message: "too late" }),
  ],
  [
    "a new name and a link",
    (span) => span.updateName("renamed").addLink({ context: { traceId: "1", spanId: "2", traceFlags: 0 } }),
  ],
];

test.each(cases)("%s", (_, change) => {
  const [own, sdk] = [ours(), theirs()];
  for (const { startSpan } of [own, sdk]) {
    const span = startSpan("work", { ...start, kind: SpanKind.CLIENT, attributes: { first: 1 } }, parent);
    change(span);
    span.end(new Date(1_700_000_002_500));
  }
  expect(readOf(own.ended[0])).toEqual(readOf(sdk.ended[0]));
});

test.each<[string, number | Date | [number, number]]>([
  ["within the next second", [1_700_000_001, 5]],
  ["as milliseconds", 1_700_000_002_000],
  ["before the start", new Date(1_600_000_000_000)],
])("a span that ends %s", (_, end) => {
  const [own, sdk] = [ours(), theirs()];
  for (const { startSpan } of [own, sdk]) startSpan("work", start, parent).end(end);
  expect(readOf(own.ended[0])).toEqual(readOf(sdk.ended[0]));
});

test("a span that has ended does not change and does not end again", () => {
  const { startSpan, ended } = ours();
  const span = startSpan("work", start, parent);
  span.end([1_700_000_001, 0]);
  const before = readOf(ended[0]);
  span.setAttribute("late", 1).addEvent("late").updateName("late").setStatus({ code: SpanStatusCode.ERROR });
  span.addLink({ context: { traceId: "1", spanId: "2", traceFlags: 0 } });
  span.end();
  expect(span.isRecording()).toBe(false);
  expect(ended).toHaveLength(1);
  expect(readOf(ended[0])).toEqual(before);
});

test("a span without times begins and ends now", () => {
  const { startSpan, ended } = ours();
  const [before, begun] = [Date.now(), performance.now()];
  startSpan("work", {}, ROOT_CONTEXT).end();
  const passed = performance.now() - begun;
  const [seconds = 0, nanoseconds = 0] = ended[0]?.endTime ?? [];
  const end = seconds * 1000 + nanoseconds / 1_000_000;
  expect(end).toBeGreaterThanOrEqual(before);
  // Not by the clock of the machine, which may be set meanwhile; it counts whole milliseconds.
  expect(end).toBeLessThan(before + passed + 2);
  expect(ended[0]?.parentSpanContext).toBeUndefined();
  expect(ended[0]?.spanContext()).toMatchObject({
    traceId: expect.stringMatching(/^[\da-f]{32}$/),
    traceFlags: 1,
  });
});

test("a root span leaves the trace of its context", () => {
  const { startSpan, ended } = ours();
  startSpan("work", { root: true }, parent).end();
  expect(ended[0]?.parentSpanContext).toBeUndefined();
  expect(ended[0]?.spanContext().traceId).not.toBe("4bf92f3577b34da6a3ce929d0e0e4736");
});

test("an active span takes the work in each of its three places and returns its result", () => {
  const { startSpan, ended } = ours();
  const tracer = new SpanTracer(startSpan);
  const work = (span: Span) => {
    span.end();
    return span.spanContext().traceId;
  };
  expect(tracer.startActiveSpan("first", work)).toMatch(/^[\da-f]{32}$/);
  expect(tracer.startActiveSpan("second", { root: true }, work)).toMatch(/^[\da-f]{32}$/);
  expect(tracer.startActiveSpan("third", {}, parent, work)).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
  expect(ended.map(({ name }) => name)).toEqual(["first", "second", "third"]);
});

test("a span without a time of its own begins by the clock that it is given", () => {
  const at = 1_700_000_000_000;
  const { startSpan, ended } = ours(() => at);
  startSpan("begins now").end();
  startSpan("began before", { startTime: at - 1000 }).end();
  const [began, before] = ended;
  expect(began?.startTime).toEqual([1_700_000_000, 0]);
  expect([before?.startTime, before?.endTime]).toEqual([
    [1_699_999_999, 0],
    [1_700_000_000, 0],
  ]);
});

test("texts of errors lose their secrets; other attributes are the host's own", () => {
  const { startSpan, ended } = ours();
  const secret = "postgres://app:hunter2@db/main";
  const span = startSpan("work", { ...start, attributes: { url: secret, "error.message": secret } }, parent);
  span.setStatus({ code: SpanStatusCode.ERROR, message: `cannot reach ${secret}` });
  span.recordException({ name: "Error", message: secret, stack: `Error: ${secret}` });
  span.end();
  const { url, ...attributes } = ended[0]?.attributes ?? {};
  expect(url).toBe(secret);
  const kept = JSON.stringify([attributes, ended[0]?.status, ended[0]?.events]);
  expect(kept).not.toContain("hunter2");
  expect(kept).toContain("cannot reach");
  expect([Object.keys(attributes), ended[0]?.events.length]).toEqual([["error.message"], 1]);
});
