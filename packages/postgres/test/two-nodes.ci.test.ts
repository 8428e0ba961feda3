// Two nodes on one database, as their callers see them.
import { Agent, type Andante, createAndante, createWorkflow, workflowTool } from "@andante/core";
import type { SpanEvent } from "@andante/core/internal";
import { type Crash, crashingStore, type ScriptedTurn, scriptedModel, TestClock } from "@andante/core/test";
import { postgresStore } from "@andante/postgres";
import { tool } from "ai";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { checkMessagesAtOnce, heldAgent } from "../../core/test/support/two-messages.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

let server: PostgresServer;
const nodes: Andante[] = [];
beforeAll(async () => {
  server = await startPostgres();
  for (let count = 0; count < 2; count++) {
    const store = postgresStore({ url: server.url, schema: "nodes" });
    const node = createAndante({ store, workflows: { gate }, agents, logs: { level: "info" } });
    nodes.push(node);
    await node.ready();
  }
});
afterAll(async () => {
  for (const node of nodes) await node.close({ grace: 0 });
  await server.remove();
});

const held = heldAgent();
const agents = {
  clerk: new Agent({ id: "clerk", model: scriptedModel(["one", "two"]) }),
  held: held.agent,
};

const gate = createWorkflow({ id: "gate", input: z.unknown() })
  .andThen({ id: "ask", execute: ({ resumeData, suspend }) => resumeData ?? suspend() })
  .andThen({
    id: "tell",
    execute: ({ data, logger }) => {
      logger.info({ said: data }, "the gate was opened");
      return data;
    },
  });

test("an execution of one node is followed and resumed on the other, and its lines are seen on both", async () => {
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  const seen = nodes.map((node) => {
    const lines: string[] = [];
    const { stop } = node.logs.follow(({ record }) => lines.push(JSON.parse(record).msg));
    return { lines, stop };
  });
  const { executionId, status } = await a.execute("gate", {});
  expect(status).toBe("suspended");
  const stream = await a.attach("gate", executionId);
  const resumed = await b.resume("gate", executionId, "open");
  expect(resumed).toMatchObject({ status: "completed", result: "open" });
  const types: string[] = [];
  for await (const { type } of stream?.events ?? []) types.push(type);
  const journal = (await b.events("gate", executionId)).map(({ type }) => type);
  expect(types).toEqual([...journal, "workflow-result"]);
  for (const { lines, stop } of seen) {
    const found = () => lines.filter((line) => line === "the gate was opened");
    await expect.poll(found).toHaveLength(1);
    stop();
  }
});

test("changes on one are published on the other, and both count them together", async () => {
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  const told: string[] = [];
  const leave = b.live.changes.follow({
    receive: (change) => told.push(`${change.executionId} ${change.status}`),
    stop: () => undefined,
  });
  const { rollups, waiting } = b.live;
  const counted = async () => {
    const now = Math.ceil(Date.now() / 60_000);
    const range = { from: now - 10, to: now + 1, workflowId: "gate" };
    await a.live.rollups?.totals({ ...range, of: "executions" });
    const totals = await rollups?.totals({ ...range, of: "executions" });
    return totals?.find(({ kind }) => kind === "started")?.count ?? 0;
  };
  const before = await counted();
  const { executionId } = await a.execute("gate", {});
  await b.execute("gate", {});
  await expect.poll(() => told).toContain(`${executionId} suspended`);
  expect(await counted()).toBe(before + 2);
  const { items } = await waiting({ limit: 10, workflowId: "gate" });
  expect(items.map((item) => item.executionId)).toContain(executionId);
  leave();
});

test("the spans of one, of executions and of agents, are seen on both, once", async () => {
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  const seen = nodes.map((node) => {
    const events: SpanEvent[] = [];
    return { events, stop: node.traces.follow((event) => events.push(event)) };
  });
  const started = await a.execute("gate", {}, { userId: "ada" });
  await b.resume("gate", started.executionId, "open");
  await a.agents.text("clerk", "hello", { userId: "ada" });
  const namesOf = (events: readonly SpanEvent[], type: SpanEvent["type"]) =>
    events.filter((event) => event.type === type).map(({ span }) => span.name);
  const [own, other] = seen;
  const workflow = ["step ask", "step tell", "invoke_workflow gate"];
  for (const each of [own, other]) {
    const ended = () => namesOf(each?.events ?? [], "span-end");
    await expect.poll(ended).toEqual(expect.arrayContaining(workflow));
    await expect.poll(() => ended().length).toBeGreaterThan(workflow.length + 1);
    expect(namesOf(each?.events ?? [], "span-start").toSorted()).toEqual(ended().toSorted());
    expect(new Set(each?.events.map(({ userId }) => userId))).toEqual(new Set(["ada"]));
  }
  const ofAgent = (events: readonly SpanEvent[] = []) =>
    events
      .filter(({ type, span }) => type === "span-end" && span.entityType === "agent")
      .map(({ span }) => span);
  expect(ofAgent(own?.events).length).toBeGreaterThan(1);
  expect(ofAgent(other?.events)).toEqual(ofAgent(own?.events));
  for (const { stop } of seen) stop();
});

test("of two messages at once on two nodes one waits for the turn of the other", async () => {
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  await checkMessagesAtOnce([a, b], held);
});

test("a node decides at the deadline of a call whose own node was killed, and the reply continues", async () => {
  const ran: string[] = [];
  const start = async (reply: ScriptedTurn, crash?: Crash) => {
    const kept = postgresStore({ url: server.url, schema: "deadlines" });
    await kept.open();
    onTestFinished(() => kept.close());
    const teller = new Agent({
      id: "teller",
      model: scriptedModel([reply]),
      tools: { refund: tool({ inputSchema: z.object({}), execute: () => void ran.push("refund") }) },
      toolApproval: { refund: { type: "user-approval", deadline: "2d", onDeadline: "approve" } },
    });
    const life = crashingStore(kept, crash);
    const clock = new TestClock({ start: 1_000_000, skipSleeps: false });
    const node = createAndante({ store: life.store, agents: { teller }, clock });
    onTestFinished(() => node.close({ grace: 0 }));
    await node.ready();
    return { node, life, clock };
  };
  // The write that lets the call wait is the last one of its node.
  const asking = { toolCalls: [{ toolName: "refund" }] };
  const a = await start(asking, { write: 3, variant: "unacknowledged" });
  const b = await start("Paid back.");
  const talk = { conversationId: "refund-1", userId: "ada" };
  const asked = a.node.agents.text("teller", "It arrived broken.", talk).catch(() => undefined);
  await Promise.race([a.life.crash, asked]);
  expect(a.life.crashed).toBe(true);
  const waiting = async () => (await b.node.live.waiting({ limit: 10 })).items;
  await expect.poll(waiting).toHaveLength(1);
  await a.life.bury();
  b.clock.advance("2d");
  const texts = async () => {
    const { messages } = await b.node.conversations.messages("refund-1");
    return JSON.stringify(messages);
  };
  await expect.poll(texts, { timeout: 10_000 }).toContain("Paid back.");
  expect(ran).toEqual(["refund"]);
});

test("a workflow of a tool that ends on one node continues the reply of another one that has gone", async () => {
  const published: string[] = [];
  const start = async (reply: ScriptedTurn) => {
    const publish = createWorkflow({ id: "publish", input: z.object({}) })
      .andThen({ id: "ask", execute: ({ resumeData, suspend }) => resumeData ?? suspend("Publish?") })
      .andThen({ id: "publish", execute: () => published.push("tea") });
    const tools = { publish: workflowTool(publish) };
    const editor = new Agent({ id: "editor", model: scriptedModel([reply]), tools });
    const store = postgresStore({ url: server.url, schema: "tools" });
    const node = createAndante({ store, agents: { editor }, workflows: { publish } });
    onTestFinished(() => node.close({ grace: 0 }));
    await node.ready();
    return node;
  };
  const a = await start({ toolCalls: [{ toolName: "publish" }] });
  const b = await start("It is published.");
  await a.agents.text("editor", "Publish it.", { conversationId: "tools-1", userId: "ada" });
  await a.close({ grace: 0 });
  const [item] = (await b.live.waiting({ limit: 10 })).items;
  expect(item).toMatchObject({ workflowId: "publish", conversationId: "tools-1", userId: "ada" });
  await b.resume("publish", item?.executionId ?? "", true);
  const reply = async () => (await b.conversations.messages("tools-1")).messages.at(-1)?.parts;
  await expect
    .poll(reply, { timeout: 10_000 })
    .toEqual(expect.arrayContaining([expect.objectContaining({ text: "It is published." })]));
  expect(published).toEqual(["tea"]);
});
