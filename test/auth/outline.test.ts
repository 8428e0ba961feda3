// Callers without a token, where the contract leaves logs and sockets open: which definition, when, the level, and
// the message in the code. Nothing about a user, and no text of an error.
import { createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  converse,
  headersOf,
  ownersIn,
  serveOwnedData,
  speak,
  tokens,
} from "../support/ownership-fixture.ts";
import { dataOf, errorOf, listOf, payloadOf, timestamp } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { SocketClient } from "../support/socket-client.ts";
import { provider } from "../support/tokens.ts";

const lineKeys = ["timestamp", "level", "msg", "workflowId", "agentId"];
const lines = z.array(z.record(z.string(), z.unknown()));
const logsOf = async (server: TestServer, query = "") =>
  lines.parse(payloadOf(await server.get(`/api/logs?limit=1000${query}`)));

/** Its log lines contain all texts that only their user may read. */
const telling = createWorkflow({
  id: "telling",
  input: z.object({ text: z.string() }),
  hooks: {
    onEnd: () => {
      throw new Error("hook of-alice");
    },
  },
}).andThen({
  id: "tell",
  execute: ({ data, logger }) => {
    logger.warn(
      { ...data, workflowId: { of: "of-alice" }, err: new Error(data.text), stepPath: "of-alice" },
      "told",
    );
    return data;
  },
});

async function tell(server: TestServer): Promise<void> {
  const options = {
    userId: "of-alice",
    conversationId: "conversation-of-alice",
    executionId: "execution-of-alice",
  };
  await server.andante.execute("telling", { text: "of-alice" }, options);
}

test("over HTTP a line is its time, level, msg and definition", async () => {
  const server = await serveForTest({ workflows: { telling }, auth: provider() });
  await tell(server);
  const shown = await logsOf(server);
  for (const line of shown) expect(lineKeys).toEqual(expect.arrayContaining(Object.keys(line)));
  expect(shown).toContainEqual({ timestamp, level: "warn", msg: "told" });
  expect(shown).toContainEqual({ timestamp, level: "error", msg: "a hook failed", workflowId: "telling" });
  expect(ownersIn(JSON.stringify(shown))).toEqual([]);
  expect(await logsOf(server, "&workflowId=telling")).not.toEqual([]);
  expect(await logsOf(server, "&conversationId=conversation-of-alice")).toEqual([]);
});

test("on sockets too, and a span is its definition, name, times and status", async () => {
  const server = await serveForTest({ workflows: { telling }, auth: provider() });
  const logs = await SocketClient.connect(server, "/ws/logs");
  const all = await SocketClient.connect(server, "/ws/observability");
  await logs.next();
  await tell(server);
  const [update] = await logs.until((message) => JSON.stringify(message).includes("told"));
  expect(update).toMatchObject({ type: "update" });
  const messages = await all.until((message) => JSON.stringify(message).includes('"status":"ok"'));
  expect(ownersIn(JSON.stringify([update, messages]))).toEqual([]);
  const span = { entityType: "workflow", entityId: "telling", startTime: timestamp };
  const begun = { ...span, endTime: null, duration: null, status: "unset" };
  expect(messages[0]).toEqual({
    type: "OBSERVABILITY_EVENT",
    success: true,
    data: { type: "span-start", span: { ...begun, name: "invoke_workflow telling" } },
  });
  const told = { type: "OBSERVABILITY_LOG", success: true, data: { timestamp, level: "warn", msg: "told" } };
  expect(messages).toContainEqual(told);
  const filtered = await SocketClient.connect(server, "/ws/logs?conversationId=conversation-of-alice");
  expect(await filtered.next()).toMatchObject({ type: "initial", logs: [] });
});

test("no message of ours holds the text of any error", async () => {
  const server = await serveForTest({ auth: provider(), logs: { level: "debug" } });
  const alice = headersOf("alice");
  errorOf(await server.post("/workflows/failing/execute", { input: {} }, alice), 500);
  for (const [agent, input] of [
    ["failing", "500"],
    ["cut", "x"],
    ["adder", "add badly"],
  ]) {
    await server.post(`/agents/${agent}/text`, { input }, alice);
    await (await server.stream(`/agents/${agent}/stream`, { input }, alice)).rest();
  }
  const whole = await server.andante.logs.list({ limit: 1000 });
  expect(JSON.stringify(whole)).toContain("hunter2");
  const shown = await logsOf(server);
  expect(shown.length).toBeGreaterThan(5);
  expect(JSON.stringify(shown)).not.toContain("hunter2");
  expect(shown).toContainEqual(expect.objectContaining({ agentId: "adder" }));
});

test("a caller with a token sees its own whole: errors, causes and stacks", async () => {
  const server = await serveOwnedData("no authorize");
  await speak(server);
  const { text } = await server.get("/api/logs", headersOf("alice"));
  for (const part of ["trouble of-alice", "cause of-alice", "ownership-fixture.ts"])
    expect(text).toContain(part);
  const client = await SocketClient.connect(server, `/ws/logs?token=${tokens.alice}`);
  const kept = JSON.stringify(await client.next());
  for (const part of ["trouble of-alice", "cause of-alice", "ownership-fixture.ts"])
    expect(kept).toContain(part);
});

test("without authentication everyone sees everything, unless the host decides otherwise", async () => {
  const open = await serveForTest({ workflows: { telling } });
  await tell(open);
  const shown = await logsOf(open);
  expect(JSON.stringify(shown)).toContain("outline.test.ts");
  expect(shown).toContainEqual(expect.objectContaining({ userId: "of-alice", msg: "told" }));
  const closed = await serveForTest({ workflows: { telling }, authorize: () => "own" });
  await tell(closed);
  expect(await logsOf(closed)).toEqual([]);
});

test("traces that the host has made public show a caller without a token nothing", async () => {
  for (const host of ["no authorize", "own", "all", "operators"]) {
    const server = await serveOwnedData(host, { publicRoutes: ["GET /api/*"] });
    await speak(server);
    await converse(server);
    const all = await server.andante.traces.list();
    expect(listOf(dataOf(await server.get("/api/traces")), "traces")).toEqual([]);
    errorOf(await server.get(`/api/traces/${all.traces[0]?.traceId}`), 404);
  }
});
