// Every span reaches the host: by its processors, its registered provider, or the collector of its environment.
import { context, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { OtlpCollector } from "../support/otlp-collector.ts";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { weatherWorkflow } from "../support/weather-workflow.ts";

/** A collector, and an exporter of the host for it. */
async function collect() {
  const collector = await OtlpCollector.start();
  return { spans: collector.spans, exporter: new OTLPTraceExporter({ url: `${collector.url}/v1/traces` }) };
}

test("an OTLP exporter gets the spans that the trace shows, with the same ids, parents, times and events", async () => {
  const { spans, exporter } = await collect();
  const processors = [new BatchSpanProcessor(exporter)];
  const server = await serveForTest({ workflows: { forecast: weatherWorkflow() }, tracing: { processors } });
  const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await server.post("/workflows/forecast/execute", { input: { city: "Paris" } }, { traceparent: caller });
  const shown = z
    .array(
      z.object({
        traceId: z.string(),
        spanId: z.string(),
        parentSpanId: z.string().nullable(),
        name: z.string(),
        startTime: z.string(),
        events: z.array(z.object({ name: z.string() })),
      }),
    )
    .parse(dataOf(await server.get("/api/traces/4bf92f3577b34da6a3ce929d0e0e4736")).spans);
  expect(shown.length).toBeGreaterThan(6);
  // Closing shuts the host's processors down, which sends their remaining spans.
  await server.close();
  const byId = (a: { spanId: string }, b: { spanId: string }) => a.spanId.localeCompare(b.spanId);
  const plain = spans.map(({ traceId, spanId, parentSpanId, name, startTimeUnixNano, events }) => ({
    ...{ traceId, spanId, parentSpanId, name },
    startTime: new Date(Number(BigInt(startTimeUnixNano) / 1_000_000n)).toISOString(),
    events: events.map((event) => ({ name: event.name })),
  }));
  expect(plain.sort(byId)).toEqual(shown.sort(byId));
  expect(spans.find(({ name }) => name === "invoke_workflow forecast")?.parentSpanId).toBe(
    "00f067aa0ba902b7",
  );
});

test("a caller that is not sampled is kept here and not exported", async () => {
  const { spans, exporter } = await collect();
  const server = await serveForTest({
    workflows: { forecast: weatherWorkflow() },
    tracing: { processors: [new SimpleSpanProcessor(exporter)] },
  });
  const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  const answer = await server.post(
    "/workflows/forecast/execute",
    { input: { city: "x" } },
    { traceparent: caller },
  );
  expect(answer.headers.get("traceparent")).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-00$/);
  const { spans: shown } = dataOf(await server.get("/api/traces/4bf92f3577b34da6a3ce929d0e0e4736"));
  expect(z.array(z.unknown()).parse(shown).length).toBeGreaterThan(6);
  await server.close();
  expect(spans).toEqual([]);
});

/** The ids, the parent and the name of a span. */
const shownSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().nullable(),
  name: z.string(),
});

function registerProvider(options: ConstructorParameters<typeof BasicTracerProvider>[0] = {}) {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ ...options, spanProcessors }));
  onTestFinished(() => trace.disable());
  return exporter;
}

test("a registered provider gets the spans that the trace shows, with the ids and parents of those", async () => {
  const exporter = registerProvider();
  const server = await serveForTest({ workflows: { forecast: weatherWorkflow() } });
  // In code: neither a caller nor a request is above it.
  const { executionId } = await server.andante.execute("forecast", { city: "Paris" });
  const [found] = (await server.andante.traces.list({ executionId })).traces;
  const { spans } = dataOf(await server.get(`/api/traces/${found?.traceId}`));
  const shown = z.array(shownSpan).parse(spans);
  const handed = exporter
    .getFinishedSpans()
    .filter(({ instrumentationScope }) => instrumentationScope.name !== "@andante/server")
    .map((span) => ({
      ...span.spanContext(),
      parentSpanId: span.parentSpanContext?.spanId ?? null,
      name: span.name,
    }));
  const byId = (a: { spanId: string }, b: { spanId: string }) => a.spanId.localeCompare(b.spanId);
  expect(shown.length).toBeGreaterThan(6);
  expect(z.array(shownSpan).parse(handed).sort(byId)).toEqual(shown.sort(byId));
});

test("a registered provider's sampler decides, and processors that are given take the provider's place", async () => {
  const exporter = registerProvider({ sampler: new TraceIdRatioBasedSampler(0) });
  const own = new InMemorySpanExporter();
  const server = await serveForTest({ tracing: { processors: [new SimpleSpanProcessor(own)] } });
  await server.andante.execute("sum", { a: 1 });
  expect(own.getFinishedSpans().length).toBeGreaterThan(0);
  const other = await serveForTest();
  await other.andante.execute("sum", { a: 1 });
  expect(exporter.getFinishedSpans()).toEqual([]);
});

describe("OTEL_EXPORTER_OTLP_ENDPOINT without an SDK", () => {
  let collector: OtlpCollector;

  beforeEach(async () => {
    collector = await OtlpCollector.start();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s3cret");
    vi.stubEnv("OTEL_SERVICE_NAME", "desk");
  });
  afterEach(() => vi.unstubAllEnvs());

  async function runOne() {
    const server = await serveForTest();
    await server.post("/workflows/sum/execute", { input: { a: 1 } });
    return server;
  }

  test("http/json: the spans, with the headers, the service and the schema", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    await (await runOne()).close();
    const schemaUrl = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev";
    expect(collector.named("invoke_workflow sum")).toMatchObject([{ service: "desk", schemaUrl }]);
    expect(collector.headers[0]).toMatchObject({ "api-key": "s3cret" });
  });

  test("http/protobuf is the default", async () => {
    await (await runOne()).close();
    expect(collector.protobufNames).toContain("invoke_workflow sum");
  });

  test.each([
    ["OTEL_SDK_DISABLED", "true"],
    ["OTEL_TRACES_EXPORTER", "none"],
  ])("%s=%s exports nothing", async (name, value) => {
    vi.stubEnv(name, value);
    await (await runOne()).close();
    expect(collector.headers).toEqual([]);
  });

  test("spans that the collector refuses are counted and reported", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "1");
    collector.status = 400;
    const server = await runOne();
    const lost = async () =>
      /^andante_observations_dropped_total ([1-9]\d*)$/m.exec((await server.get("/metrics")).text);
    await expect.poll(lost, { timeout: 20_000 }).not.toBeNull();
    const lines = await server.andante.logs.list({ level: "warn" });
    expect(lines.map(({ msg }) => msg)).toContain("spans were dropped: the collector did not take them");
  });

  test("a protocol that is not supported is one line, and the server serves", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    const server = await runOne();
    const lines = await server.andante.logs.list({ level: "warn" });
    expect(lines).toMatchObject([
      { err: { message: 'OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not supported' } },
    ]);
  });
});

test("nothing global is registered: two servers in one process export only their own spans", async () => {
  const first = await collect();
  const server = await serveForTest({
    workflows: { forecast: weatherWorkflow() },
    tracing: { processors: [new SimpleSpanProcessor(first.exporter)] },
  });
  const other = await serveForTest({ workflows: { forecast: weatherWorkflow() } });
  await other.post("/workflows/forecast/execute", { input: { city: "x" } });
  expect((await other.get("/metrics")).text).toContain(
    'andante_executions_started_total{workflow="forecast"} 1',
  );
  expect((await server.get("/metrics")).text).not.toContain("andante_executions_started_total{");
  await server.close();
  expect(first.spans).toEqual([]);
  const probe = context.active().setValue(Symbol("probe"), 1);
  expect(context.with(probe, () => context.active())).not.toBe(probe);
});

test("the spans name the service as OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES do", async () => {
  vi.stubEnv("OTEL_SERVICE_NAME", "desk");
  vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=live");
  onTestFinished(() => void vi.unstubAllEnvs());
  const exporter = new InMemorySpanExporter();
  const server = await serveForTest({ tracing: { processors: [new SimpleSpanProcessor(exporter)] } });
  await server.post("/workflows/sum/execute", { input: { a: 1 } });
  const [span] = exporter.getFinishedSpans();
  expect(span?.resource.attributes).toMatchObject({
    "service.name": "desk",
    "deployment.environment.name": "live",
  });
});
