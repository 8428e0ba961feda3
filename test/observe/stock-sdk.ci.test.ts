// The stock NodeSDK by `node --import` alone: one trace from the request to the fetch of a step and of a tool.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { type CollectedSpan, OtlpCollector } from "../support/otlp-collector.ts";

const here = path.join(import.meta.dirname, "stock-sdk");
const schemaUrl = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev";

let collector: OtlpCollector;
let folder: string;
let upstream: string;
/** The `traceparent` of each request to the other service, by path. */
let received: Map<string, string>;

beforeEach(async () => {
  collector = await OtlpCollector.start();
  folder = mkdtempSync(path.join(tmpdir(), "andante-test-otel-"));
  cleanup(() => rmSync(folder, { recursive: true, force: true }));
  received = new Map();
  const traceparentOf = ({ traceparent }: IncomingHttpHeaders) => String(traceparent);
  const server = createServer(({ url = "", headers }, answer) => {
    received.set(url, traceparentOf(headers));
    answer.end("21");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

async function start(imports: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const args = [...imports.map((file) => `--import=${path.join(here, file)}`), path.join(here, "child.ts")];
  const child = spawn(
    process.execPath,
    ["--conditions=andante-source", ...args, path.join(folder, "test.db"), upstream],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        OTEL_SERVICE_NAME: "desk",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_BSP_SCHEDULE_DELAY: "50",
        OTEL_METRIC_EXPORT_INTERVAL: "1000",
        OTEL_METRIC_EXPORT_TIMEOUT: "1000",
        OTEL_NODE_RESOURCE_DETECTORS: "env",
        ...environment,
      },
    },
  );
  const closed = once(child, "close");
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await closed;
  };
  cleanup(() => stop("SIGKILL"));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: url } = await lines.next();
  if (url === undefined) throw new Error(`the server did not start: ${errors}`);
  const post = (place: string, body: object, headers: Record<string, string> = {}) =>
    fetch(url + place, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  return { stop, post, errors: () => errors };
}

/** The names from the outermost span to this one. */
function pathOf(span: CollectedSpan): string[] {
  const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent === undefined ? [] : pathOf(parent)), span.name];
}

const spanOf = (name: string) => collector.until(({ spans }) => spans.find((span) => span.name === name));
/** The span that made the request to the other service. */
const clientOf = (place: string) =>
  collector.until(({ spans }) => spans.find(({ spanId }) => spanId === received.get(place)?.split("-")[2]));

const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

test.each([
  ["otel.mjs", "POST /workflows/:id/execute"],
  ["otel-with-hook.mjs", "POST"],
])(
  "%s: one trace from the request to the fetch of a tool, with the metrics of its model calls",
  async (file, request) => {
    const { post } = await start([file]);
    const answer = await post(
      "/workflows/forecast/execute",
      { input: { city: "Paris" } },
      { traceparent: caller },
    );
    expect(answer.status).toBe(200);
    const root = await spanOf("invoke_workflow forecast");
    const client = await clientOf("/tool");
    const server = await collector.until(({ spans }) => spans.find(({ kind }) => kind === 2));
    const path = pathOf(client);
    expect(collector.spans.filter(({ kind }) => kind === 2)).toEqual([server]);
    expect(path.slice(0, 4)).toEqual([
      request,
      "invoke_workflow forecast",
      "step ask",
      "invoke_agent forecaster",
    ]);
    expect(path.slice(-2)).toEqual(["execute_tool weather", "GET"]);
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([caller.split("-")[1]]));
    expect(server.parentSpanId).toBe(caller.split("-")[2]);
    expect(answer.headers.get("traceparent")).toBe(`00-${root.traceId}-${root.spanId}-01`);
    expect(root).toMatchObject({
      service: "desk",
      schemaUrl,
      attributes: { "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "forecast" },
    });
    // An export may have been made between the two calls of the model.
    const points = (name: string) =>
      collector.until(({ metrics }) => {
        const found = metrics.findLast((metric) => metric.name === name)?.histogram?.dataPoints;
        return found?.every(({ count }) => count === 2) ? found : undefined;
      });
    const model = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "scripted" };
    expect(await points("gen_ai.client.operation.duration")).toMatchObject([{ count: 2, attributes: model }]);
    expect(await points("gen_ai.client.token.usage")).toMatchObject([
      { sum: 30, attributes: { ...model, "gen_ai.token.type": "input" } },
      { sum: 12, attributes: { ...model, "gen_ai.token.type": "output" } },
    ]);
  },
);

test("an execution that is killed and resumed continues its trace, with spans of the same ids", async () => {
  const one = await start(["otel.mjs"]);
  const started = await one.post("/workflows/steps/execute", { input: {} });
  const executionId = started.headers.get("x-execution-id");
  const first = await spanOf("step first");
  const request = await collector.until(({ spans }) => spans.find(({ kind }) => kind === 2));
  await clientOf("/first");
  await one.stop("SIGKILL");
  const other = await start(["otel.mjs"]);
  const resumed = await other.post(`/workflows/steps/executions/${executionId}/resume`, { resumeData: {} });
  expect(resumed.status).toBe(200);
  const root = await spanOf("invoke_workflow steps");
  expect(pathOf(await clientOf("/last"))).toEqual([request.name, root.name, "step last", "GET"]);
  expect(pathOf(await clientOf("/first"))).toEqual([request.name, root.name, "step first", "GET"]);
  expect(root.traceId).toBe(first.traceId);
  expect(first.parentSpanId).toBe(root.spanId);
  expect(collector.named(root.name)).toHaveLength(1);
});

test("a call of an agent is one trace too, from the request to the fetch of its tool", async () => {
  const { post } = await start(["otel.mjs"]);
  expect((await post("/agents/forecaster/text", { input: "Paris?" })).status).toBe(200);
  await spanOf("invoke_agent forecaster");
  const path = pathOf(await clientOf("/tool"));
  expect(path.slice(0, 2)).toEqual(["POST /agents/:id/text", "invoke_agent forecaster"]);
  expect(path.slice(-2)).toEqual(["execute_tool weather", "GET"]);
});

test("without a provider nothing of OpenTelemetry is loaded", async () => {
  const script = `
    import { createRequire } from "node:module";
    import { createWorkflow, memoryStore } from "@andante/core";
    import { createApp } from "@andante/server";
    import { z } from "zod";
    const one = createWorkflow({ id: "one", input: z.unknown() }).andThen({ id: "step", execute: () => 1 });
    const { fetch, close } = createApp({ workflows: { one }, store: memoryStore() });
    const headers = { "content-type": "application/json" };
    const request = new Request("http://localhost/workflows/one/execute", { method: "POST", headers, body: '{"input":{}}' });
    const { status } = await fetch(request);
    await close();
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes("opentelemetry"));
    console.log(JSON.stringify({ status, loaded }));`;
  const args = ["--conditions=andante-source", "--input-type=module", "--eval", script];
  const env = { ...process.env, ANDANTE_LOG_LEVEL: "error" };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
  expect(JSON.parse(stdout)).toEqual({ status: 200, loaded: [] });
});
