// /ws/observability: spans and lines of whole traces, by the entity that began them, and nothing else unasked.
import { createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf, type Fields, timestamp } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { weatherWorkflow } from "../support/weather-workflow.ts";

let server: TestServer;

const other = createWorkflow({ id: "other", input: z.unknown() }).andThen({
  id: "speak",
  execute: ({ logger }) => logger.info({}, "from the other"),
});
const start = (workflow: string) =>
  server.post(`/workflows/${workflow}/execute`, { input: { city: "Paris" } });
const dataIn = (message: Fields) => z.record(z.string(), z.unknown()).parse(message.data);
const spanIn = (message: Fields) => z.record(z.string(), z.unknown()).parse(dataIn(message).span);
const endsTrace = (workflow: string) => (message: Fields) =>
  message.type === "OBSERVABILITY_EVENT" &&
  dataIn(message).type === "span-end" &&
  spanIn(message).name === `invoke_workflow ${workflow}`;

test("only the two envelopes come; spans with start and end as the trace shows them, lines as the log does", async () => {
  server = await serveForTest({ workflows: { forecast: weatherWorkflow(), other } });
  const client = await SocketClient.connect(server, "/ws/observability");
  const answer = await start("forecast");
  const messages = await client.until(endsTrace("forecast"));
  expect(new Set(messages.map(({ type }) => type))).toEqual(
    new Set(["OBSERVABILITY_EVENT", "OBSERVABILITY_LOG"]),
  );
  for (const message of messages) {
    expect(Object.keys(message)).toEqual(["type", "success", "data"]);
    expect(message.success).toBe(true);
  }
  const lines = messages.filter(({ type }) => type === "OBSERVABILITY_LOG").map(dataIn);
  const executionId = answer.headers.get("x-execution-id");
  expect(lines).toMatchObject([{ timestamp, level: "info", msg: "preparing", executionId }]);
  const events = messages.filter(({ type }) => type === "OBSERVABILITY_EVENT");
  const ended = events.filter((message) => dataIn(message).type === "span-end").map(spanIn);
  const begun = events.filter((message) => dataIn(message).type === "span-start").map(spanIn);
  const traceId = answer.headers.get("traceparent")?.split("-")[1] ?? "";
  const { spans } = dataOf(await server.get(`/api/traces/${traceId}`));
  const byId = (a: Fields, b: Fields) => String(a.spanId).localeCompare(String(b.spanId));
  expect(ended.sort(byId)).toEqual(z.array(z.record(z.string(), z.unknown())).parse(spans).sort(byId));
  const idsOf = (list: Fields[]) => list.map(({ spanId }) => spanId);
  expect(idsOf(begun.sort(byId))).toEqual(idsOf(ended));
});

test.each(["entityType=workflow&entityId=forecast", "entityId=forecast"])(
  "%s shows the whole trace of that workflow, its agent's spans too, and nothing of others",
  async (query) => {
    server = await serveForTest({ workflows: { forecast: weatherWorkflow(), other } });
    const client = await SocketClient.connect(server, `/ws/observability?${query}`);
    await start("other");
    const answer = await start("forecast");
    await start("other");
    server.andante.logger.info({}, "of the server itself");
    const messages = await client.until(endsTrace("forecast"));
    const executionId = answer.headers.get("x-execution-id");
    for (const message of messages) {
      const about = message.type === "OBSERVABILITY_LOG" ? dataIn(message) : spanIn(message);
      expect(about.executionId).toBe(executionId);
    }
    const names = messages
      .filter(({ type }) => type === "OBSERVABILITY_EVENT")
      .map((message) => spanIn(message).name);
    for (const name of ["step ask", "invoke_agent forecaster", "chat scripted", "execute_tool weather"]) {
      expect(names).toContain(name);
    }
  },
);

test("an agent inside a workflow is no root: its filter does not show the workflow's trace", async () => {
  server = await serveForTest({ workflows: { forecast: weatherWorkflow() } });
  const agent = await SocketClient.connect(server, "/ws/observability?entityType=agent&entityId=forecaster");
  const all = await SocketClient.connect(server, "/ws/observability");
  await start("forecast");
  await all.until(endsTrace("forecast"));
  agent.send({ type: "PING" });
  expect(await agent.next()).toMatchObject({ type: "PONG" });
  // A line of the agent called alone is its own trace.
  server.andante.logger.info({ agentId: "forecaster" }, "alone");
  expect(await agent.next()).toMatchObject({ type: "OBSERVABILITY_LOG", data: { msg: "alone" } });
});

test("PING is answered by PONG; anything else is not answered", async () => {
  server = await serveForTest();
  const client = await SocketClient.connect(server, "/ws/observability");
  for (const message of ["what", "{", "null", "[]", { type: "HELLO" }]) client.send(message);
  client.send({ type: "PING" });
  expect(await client.next()).toEqual({ type: "PONG", success: true, data: { timestamp } });
  client.send("PING");
  expect(await client.next()).toEqual({ type: "PONG", success: true, data: { timestamp } });
});

test("an entityType that is none is refused with 400", async () => {
  server = await serveForTest();
  const { status, body } = await refusal(server, "/ws/observability?entityType=robot");
  expect(status).toBe(400);
  expect(body).toEqual({ success: false, error: expect.stringContaining("query.entityType") });
});
