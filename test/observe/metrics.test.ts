// GET /metrics: every metric, with bounded labels, in Prometheus' text format.
import { describe, expect, test } from "vitest";
import { startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { textOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { workflows } from "../support/workflows.ts";

let server: TestServer;

/** The lines of samples, by name and labels. */
async function samples(): Promise<Map<string, number>> {
  const { status, headers, text } = await server.get("/metrics");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("# HELP ") || line.startsWith("# TYPE ")) continue;
    const match = /^([a-z_]+(?:\{(?:[a-z]+="[^"]*",?)+\})?) (\S+)$/.exec(line);
    if (match === null) throw new Error(`not a sample: ${line}`);
    found.set(match[1] ?? "", Number(match[2]));
  }
  return found;
}

test("executions by workflow and status, durations, running, suspended", async () => {
  server = await serveForTest();
  await server.post("/workflows/sum/execute", { input: { a: 1 } });
  await server.post("/workflows/sum/execute", { input: { a: 1 } });
  await server.post("/workflows/failing/execute", { input: {} });
  const one = textOf(await startApproval(server), "executionId");
  const two = textOf(await startApproval(server), "executionId");
  await startApproval(server);
  await server.post(`/workflows/approval/executions/${one}/resume`, { resumeData: { approved: true } });
  await server.post(`/workflows/approval/executions/${two}/cancel`);
  await startGated(server, "metrics");
  const during = await samples();
  expect(
    Object.fromEntries(
      [...during].filter(([name]) => /^andante_execut.*(_total|running|suspended|_count)/.test(name)),
    ),
  ).toEqual({
    'andante_executions_started_total{workflow="sum"}': 2,
    'andante_executions_started_total{workflow="failing"}': 1,
    'andante_executions_started_total{workflow="approval"}': 3,
    'andante_executions_started_total{workflow="gated"}': 1,
    'andante_executions_ended_total{workflow="sum",status="completed"}': 2,
    'andante_executions_ended_total{workflow="failing",status="error"}': 1,
    'andante_executions_ended_total{workflow="approval",status="completed"}': 1,
    'andante_executions_ended_total{workflow="approval",status="cancelled"}': 1,
    'andante_execution_suspensions_total{workflow="approval"}': 3,
    'andante_execution_resumes_total{workflow="approval"}': 1,
    'andante_execution_duration_seconds_count{workflow="sum",status="completed"}': 2,
    'andante_execution_duration_seconds_count{workflow="failing",status="error"}': 1,
    'andante_execution_duration_seconds_count{workflow="approval",status="completed"}': 1,
    'andante_execution_duration_seconds_count{workflow="approval",status="cancelled"}': 1,
    ...Object.fromEntries(
      Object.values(workflows).map(({ id }) => [`andante_execution_recoveries_total{workflow="${id}"}`, 0]),
    ),
    andante_executions_running: 1,
    andante_executions_suspended: 1,
  });
  expect(during.get('andante_step_failures_total{workflow="failing"}')).toBe(1);
  gates.open("metrics");
});

test("recoveries are counted", async () => {
  const file = temporaryFile();
  server = await serveForTest({ store: file.open() });
  const id = await startGated(server, "recovery-metrics");
  await server.close();
  server = await serveForTest({ store: file.open() });
  await gates.arrival("recovery-metrics");
  gates.open("recovery-metrics");
  const state = await server.stream(`/workflows/gated/executions/${id}/stream`);
  await state.rest();
  expect((await samples()).get('andante_execution_recoveries_total{workflow="gated"}')).toBe(1);
});

test("streams, sockets and the event loop have their metrics", async () => {
  server = await serveForTest();
  const id = await startGated(server, "stream-metrics");
  const stream = await server.stream(`/workflows/gated/executions/${id}/stream`);
  await stream.next();
  const during = await samples();
  expect(during.get("andante_stream_clients")).toBe(1);
  expect(during.get("andante_socket_clients")).toBe(0);
  expect(during.get("andante_observations_dropped_total")).toBe(0);
  for (const quantile of ["0.5", "0.99", "1"]) {
    expect(during.get(`andante_event_loop_delay_seconds{quantile="${quantile}"}`)).toBeGreaterThanOrEqual(0);
  }
  gates.open("stream-metrics");
  await stream.rest();
  expect((await samples()).get("andante_stream_clients")).toBe(0);
});

describe("requests", () => {
  test("are counted by pattern, method and class of status, never by address or id", async () => {
    server = await serveForTest({ configureApp: (app) => void app.get("/mine/:id", (c) => c.text("x")) });
    await server.post("/workflows/sum/execute", { input: { a: 1 } });
    await server.post("/workflows/sum/execute", { input: "wrong" });
    for (let n = 0; n < 20; n++) {
      await server.get(`/nowhere/${n}`);
      await server.get(`/mine/${n}`);
      await server.get(`/workflows/unknown-${n}`);
      await fetch(`${server.url}/workflows`, { method: n % 2 ? "PROPFIND" : "MKCOL" });
    }
    const found = await samples();
    const requests = Object.fromEntries(
      [...found].filter(([name]) => name.startsWith("andante_http_requests_total")),
    );
    expect(requests).toEqual({
      'andante_http_requests_total{method="POST",route="/workflows/:id/execute",status="2xx"}': 1,
      'andante_http_requests_total{method="POST",route="/workflows/:id/execute",status="4xx"}': 1,
      'andante_http_requests_total{method="GET",route="custom",status="4xx"}': 20,
      'andante_http_requests_total{method="GET",route="custom",status="2xx"}': 20,
      'andante_http_requests_total{method="GET",route="/workflows/:id",status="4xx"}': 20,
      'andante_http_requests_total{method="other",route="custom",status="4xx"}': 20,
    });
    expect(
      found.get('andante_http_request_duration_seconds_count{method="GET",route="/workflows/:id"}'),
    ).toBe(20);
  });

  test("an execution's id, a user or a conversation is in no label", async () => {
    server = await serveForTest();
    const options = {
      userId: "marker-user",
      conversationId: "marker-conversation",
      executionId: "marker-id",
    };
    await server.post("/workflows/sum/execute", { input: { a: 1 }, options });
    expect((await server.get("/metrics")).text).not.toContain("marker");
  });
});

test("with authentication it needs a token, unless publicRoutes lists it", async () => {
  server = await serveForTest({ workflows, auth: provider() });
  expect((await server.get("/metrics")).status).toBe(401);
  expect((await server.get("/metrics", bearer(await tokenFor("ada")))).status).toBe(200);
  await server.close();
  server = await serveForTest({ workflows, auth: provider({ publicRoutes: ["GET /metrics"] }) });
  expect((await server.get("/metrics")).status).toBe(200);
});
