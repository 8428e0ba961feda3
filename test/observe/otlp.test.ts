// The host's own exporter gets every span, over OTLP to a collector on loopback.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { context } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { weatherWorkflow } from "../support/weather-workflow.ts";

const exported = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  status: z.object({ code: z.number() }),
  events: z.array(z.object({ name: z.string() })),
});
const request = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(exported) })) })),
});

/** A collector that understands OTLP as JSON. */
async function collect() {
  const spans: z.output<typeof exported>[] = [];
  const collector = createServer(async (incoming, answer) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    for (const resource of request.parse(JSON.parse(body)).resourceSpans)
      spans.push(...resource.scopeSpans.flatMap((scope) => scope.spans));
    answer.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void collector.close());
  const { port } = collector.address() as AddressInfo;
  return { spans, exporter: new OTLPTraceExporter({ url: `http://127.0.0.1:${port}/v1/traces` }) };
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
  expect(spans.find(({ name }) => name === "workflow forecast")?.parentSpanId).toBe("00f067aa0ba902b7");
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
