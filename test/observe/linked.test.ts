// One execution, found again in its stream, its logs, its trace and the metrics by its ids.
import { Agent, createWorkflow } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { typesOf } from "../support/event-reader.ts";
import { dataOf, type Fields, payloadOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { weatherWorkflow } from "../support/weather-workflow.ts";

let server: TestServer;

const spanShape = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().nullable(),
  executionId: z.string().nullable(),
  entityId: z.string(),
  name: z.string(),
  status: z.string(),
  attributes: z.record(z.string(), z.unknown()),
});

test("a workflow with an agent and a tool is the same execution everywhere", async () => {
  server = await serveForTest({ workflows: { forecast: weatherWorkflow() } });
  const options = { userId: "ada", conversationId: "c1" };
  const stream = await server.stream("/workflows/forecast/stream", { input: { city: "Paris" }, options });
  const events = await stream.rest();
  const executionId = stream.headers.get("x-execution-id") ?? "";
  const traceparent = stream.headers.get("traceparent") ?? "";
  expect(traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/);

  // Its stream.
  expect(typesOf(events).at(-1)).toBe("workflow-result");
  expect(events.at(-1)).toMatchObject({
    executionId,
    status: "completed",
    result: { text: "It is 21 degrees." },
  });

  // Its logs.
  const logs = payloadOf(await server.get(`/api/logs?executionId=${executionId}`));
  expect(logs).toMatchObject([
    {
      msg: "preparing",
      workflowId: "forecast",
      executionId,
      stepPath: "prepare",
      userId: "ada",
      conversationId: "c1",
    },
  ]);

  // Its trace: execution → step → agent → model call and tool call.
  const { traces } = dataOf(await server.get(`/api/traces?executionId=${executionId}`));
  expect(traces).toMatchObject([{ executionId, entityId: "forecast", userId: "ada", status: "completed" }]);
  const traceId = traceparent.split("-")[1] ?? "";
  const trace = dataOf(await server.get(`/api/traces/${traceId}`));
  const spans = z.array(spanShape).parse(trace.spans);
  for (const span of spans) expect(span).toMatchObject({ traceId, executionId, entityId: "forecast" });
  const pathOf = (span: z.output<typeof spanShape>): string => {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
  };
  expect(spans[0]?.spanId).toBe(traceparent.split("-")[2]);
  const ask = "invoke_workflow forecast > step ask > invoke_agent forecaster";
  const paths = spans.map(pathOf);
  expect(paths.filter((path) => !path.includes(" > step "))).toEqual(["invoke_workflow forecast"]);
  expect(paths).toContain("invoke_workflow forecast > step prepare");
  expect(paths).toContain(ask);
  expect(paths.filter((path) => path.startsWith(ask) && path.endsWith("> chat scripted"))).toHaveLength(2);
  expect(
    paths.filter((path) => path.startsWith(ask) && path.endsWith("> execute_tool weather")),
  ).toHaveLength(1);
  const agent = spans.find(({ name }) => name === "invoke_agent forecaster");
  expect(agent?.attributes).toMatchObject({
    "gen_ai.agent.id": "forecaster",
    "gen_ai.conversation.id": "c1",
    "user.id": "ada",
  });
  const usage = spans
    .filter(({ name }) => name === "chat scripted")
    .map(({ attributes }) => [
      attributes["gen_ai.usage.input_tokens"],
      attributes["gen_ai.usage.output_tokens"],
    ]);
  expect(usage).toEqual([
    [10, 5],
    [20, 7],
  ]);
  // Prompts and answers are kept only where the host asks for it.
  expect(JSON.stringify(spans)).not.toContain("Paris");

  // The metrics.
  const metrics = (await server.get("/metrics")).text;
  for (const line of [
    'andante_executions_started_total{workflow="forecast"} 1',
    'andante_executions_ended_total{workflow="forecast",status="completed"} 1',
    'andante_execution_duration_seconds_count{workflow="forecast",status="completed"} 1',
    'andante_model_calls_total{agent="forecaster",model="scripted"} 2',
    'andante_model_tokens_total{agent="forecaster",model="scripted",type="input"} 30',
    'andante_model_tokens_total{agent="forecaster",model="scripted",type="output"} 12',
    'andante_http_requests_total{method="POST",route="/workflows/:id/stream",status="2xx"} 1',
  ]) {
    expect(metrics.split("\n")).toContain(line);
  }
});

test("tracing.content keeps prompts, answers, arguments and results", async () => {
  server = await serveForTest({ workflows: { forecast: weatherWorkflow() }, tracing: { content: true } });
  const answer = await server.post("/workflows/forecast/execute", { input: { city: "Paris" } });
  const traceId = answer.headers.get("traceparent")?.split("-")[1] ?? "";
  const { spans } = dataOf(await server.get(`/api/traces/${traceId}`));
  expect(JSON.stringify(spans)).toContain("The weather in Paris?");
  expect(JSON.stringify(spans)).toContain("It is 21 degrees.");
});

test("a tool that fails is a span with an error and a line with the ids of agent, execution and step", async () => {
  const lookUp = () => {
    throw new Error("no wind");
  };
  server = await serveForTest({ workflows: { forecast: weatherWorkflow({ lookUp }) } });
  const answer = await server.post("/workflows/forecast/execute", { input: { city: "Paris" } });
  const executionId = answer.headers.get("x-execution-id");
  const lines = z
    .array(z.record(z.string(), z.unknown()))
    .parse(payloadOf(await server.get("/api/logs?agentId=forecaster")));
  expect(lines).toMatchObject([
    {
      level: "warn",
      msg: "the tool failed",
      agentId: "forecaster",
      executionId,
      workflowId: "forecast",
      stepPath: "ask",
      toolName: "weather",
      err: { message: "no wind" },
    } satisfies Fields,
  ]);
  const traceId = answer.headers.get("traceparent")?.split("-")[1] ?? "";
  const { spans } = dataOf(await server.get(`/api/traces/${traceId}`));
  expect(
    z
      .array(spanShape)
      .parse(spans)
      .find(({ name }) => name === "execute_tool weather")?.status,
  ).toBe("error");
});

test("a tool that waits for approval has not failed: nothing of it is a warning", async () => {
  const careful = new Agent({
    id: "careful",
    model: scriptedModel([{ toolCalls: [{ toolName: "pay", input: {} }] }, "paid"]),
    tools: { pay: tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "paid" }) },
  });
  const settle = createWorkflow({ id: "settle", input: z.object({}) }).andAgent({
    ...{ id: "ask", agent: careful, prompt: "go" },
  });
  server = await serveForTest({ workflows: { settle }, logs: { level: "debug" } });
  const started = await server.post("/workflows/settle/execute", { input: {} });
  expect(dataOf(started).status).toBe("suspended");
  const lines = z
    .array(z.looseObject({ level: z.string(), msg: z.string() }))
    .parse(payloadOf(await server.get("/api/logs?agentId=careful")));
  expect(lines.map(({ level, msg }) => [level, msg])).toContainEqual(["debug", "the tool call was left"]);
  expect(lines.filter(({ level }) => level !== "debug")).toEqual([]);
});

test("with tracing off tokens are counted all the same", async () => {
  server = await serveForTest({ workflows: { forecast: weatherWorkflow() }, tracing: false });
  const answer = await server.post("/workflows/forecast/execute", { input: { city: "Paris" } });
  expect(answer.headers.get("traceparent")).toBeNull();
  const metrics = (await server.get("/metrics")).text;
  expect(metrics).toContain(
    'andante_model_tokens_total{agent="forecaster",model="scripted",type="input"} 30',
  );
  expect(dataOf(await server.get("/api/traces"))).toEqual({ traces: [], nextCursor: null });
});
