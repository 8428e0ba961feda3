// Two nodes on one Restate server notify each other: neither waits for its own look into the store, nor for a lease.
import { randomUUID } from "node:crypto";
import { Agent, type Andante, type AndanteOptions, createAndante, createWorkflow } from "@andante/core";
import type { Store } from "@andante/core/store";
import { restateStore } from "@andante/restate";
import { afterAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../core/test/support/controlled-model.ts";
import { checkMessagesAtOnce, heldAgent } from "../../core/test/support/two-messages.ts";
import { mortalStore } from "../../core/test/support/wrapped-store.ts";
import { isLong, startRestate } from "./restate-server.ts";

const server = await startRestate();
afterAll(() => server.remove());

/** `port` is its own; Restate calls the first node. */
function storeOn(port: number, namespace: string) {
  return restateStore({ ...server.options(namespace, port), lease: 60_000 });
}

async function twoStores(namespace: string) {
  const stores = server.ports.slice(0, 2).map((port) => storeOn(port, namespace));
  const heard = { wrote: vi.fn(), stop: vi.fn(), offered: vi.fn() };
  const [a, b] = stores;
  if (a === undefined || b === undefined) throw new Error("there are no stores");
  a.clusterChannel?.listen(heard);
  for (const store of stores) await store.open();
  return { a, b, heard };
}

test("a request to stop a turn and the end of a node reach the other one", async () => {
  const { a, b, heard } = await twoStores("stop");
  b.clusterChannel?.askToStop("turn-1");
  await expect.poll(() => heard.stop.mock.calls).toEqual([["turn-1"]]);
  expect(heard.offered).not.toHaveBeenCalled();
  await b.close();
  await expect.poll(() => heard.offered.mock.calls.length).toBe(1);
  expect(heard.stop).toHaveBeenCalledOnce();
  await a.close();
});

test("writes of one node are named to the other, its own are not, and nothing is lost between two calls", async () => {
  const { a, b, heard } = await twoStores("wrote");
  const named = () => new Set(heard.wrote.mock.calls.flatMap(([ids]) => [...(ids ?? [])]));
  const ids = Array.from({ length: 30 }, (_, number) => `e-${number}`);
  const claim = { owner: "b", token: "token" };
  const gone = (executionId: string) => ({ executionId, ...claim, offer: false });
  // They know of each other once both wait.
  const first = async () => {
    await b.release(gone("first"));
    return named().has("first");
  };
  await expect.poll(first).toBe(true);
  for (const id of ids) await b.release(gone(id));
  await a.release(gone("own"));
  await expect.poll(() => [...named()]).toEqual(["first", ...ids]);
  await Promise.all([a.close(), b.close()]);
});

/** Two nodes on one server; Restate calls the first. */
async function twoNodes(namespace: string, options: Pick<AndanteOptions, "workflows" | "agents">) {
  const nodes: Andante[] = [];
  for (const port of server.ports.slice(0, 2)) {
    const node = createAndante({ store: storeOn(port, namespace), ...options });
    await node.ready();
    nodes.push(node);
  }
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  return [a, b] as const;
}

test("an execution of a node that stops continues on the other one long before its lease ends", async () => {
  let bodies = 0;
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const body = createWorkflow({ id: "body", input: z.object({}) }).andThen({
    id: "body",
    execute: ({ signal }) => {
      begun[bodies]?.resolve();
      // The first one ends with its node.
      if (bodies++ > 0) return "done";
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  const [a, b] = await twoNodes("stops", { workflows: { body } });
  await b.start("body", {}, { executionId: "e" });
  await begun[0]?.promise;
  await expect.poll(async () => (await a.health()).nodes).toBe(2);
  await b.close({ grace: 0 });
  const closed = performance.now();
  await begun[1]?.promise;
  // The lease is a minute.
  expect(performance.now() - closed).toBeLessThan(isLong ? 1_000 : 30_000);
  await expect.poll(async () => (await a.state("body", "e")).status).toBe("completed");
  expect(bodies).toBe(2);
  await a.close({ grace: 0 });
});

test("a conversation of one node is read and continued on the other", async () => {
  const model = controlledModel((_, number) => ({ text: [`reply ${number}`] }));
  const [a, b] = await twoNodes("talks", { agents: { clerk: new Agent({ id: "clerk", model }) } });
  const say = async (node: Andante, id: string) => {
    const message = { id, role: "user", parts: [{ type: "text", text: id }] };
    for await (const _ of await node.agents.chat("clerk", [message], { conversationId: "talk" }));
  };
  await say(a, "m1");
  await say(b, "m2");
  const { messages } = await a.conversations.messages("talk");
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(model.asked[1]?.prompt.filter(({ role }) => role === "user")).toHaveLength(2);
  expect((await b.conversations.messages("talk")).messages).toEqual(messages);
  for (const node of [b, a]) await node.close({ grace: 0 });
});

test("logs, traces and spans of each node are found on both", async () => {
  const { a, b } = await twoStores("observed");
  const none = { workflowId: null, executionId: null, agentId: null, conversationId: null, userId: null };
  for (const [place, store] of [a, b].entries()) {
    const [traceId, rootSpanId] = [`trace-${place}`, `span-${place}`];
    const ended = { traceId, rootSpanId, startAt: place, endAt: 9, status: "completed" } as const;
    await store.observations.append({
      logs: [{ ...none, id: place + 1, timestamp: 1, level: 1, record: `"${place}"` }],
      roots: [{ ...none, ...ended, entityType: "workflow", entityId: "publish" }],
      chunks: [{ traceId, rootSpanId, timestamp: 9, spans: `"${place}"` }],
    });
  }
  for (const [place, { observations }] of [a, b].entries()) {
    const other = 1 - place;
    expect((await observations.logs({ limit: 10 })).map(({ record }) => record)).toEqual(['"0"', '"1"']);
    expect((await observations.traces({ limit: 10 })).map(({ startAt }) => startAt)).toEqual([1, 0]);
    const elsewhere = { from: 0, limit: 10 };
    const [logs, spans] = [
      await observations.logsElsewhere?.(elsewhere),
      await observations.spansElsewhere?.(elsewhere),
    ];
    expect(logs?.map(({ record }) => record)).toEqual([`"${other}"`]);
    expect(spans?.map((chunk) => chunk.spans)).toEqual([`"${other}"`]);
  }
  await Promise.all([a.close(), b.close()]);
});

test("of many uses of one approval on two nodes one succeeds", async () => {
  const { a, b } = await twoStores("approvals");
  const use = ({ approvals }: Store) =>
    approvals.use({ key: randomUUID(), approval: "one", expiresAt: 2_000, at: 1_000 });
  const uses = await Promise.all(Array.from({ length: 20 }, (_, index) => use(index % 2 === 0 ? a : b)));
  expect(uses.filter(Boolean)).toHaveLength(1);
  await Promise.all([a.close(), b.close()]);
});

test("an execution that ends its process six times is given up", async () => {
  let runs = 0;
  const begun: PromiseWithResolvers<void>[] = [];
  const deadly = createWorkflow({ id: "deadly", input: z.object({}) }).andThen({
    id: "body",
    execute: () => {
      begun[runs++]?.resolve();
      return new Promise<never>(() => undefined);
    },
  });
  const shared = storeOn(server.ports[0], "deadly");
  await shared.open();
  for (let life = 0; life < 6; life++) {
    begun.push(Promise.withResolvers<void>());
    const { store, die } = mortalStore(shared);
    const node = createAndante({ store, workflows: { deadly } });
    if (life === 0) await node.start("deadly", {}, { executionId: "e" });
    await begun[life]?.promise;
    await die();
    await node.close({ grace: 0 });
  }
  const last = createAndante({ store: mortalStore(shared).store, workflows: { deadly } });
  await expect.poll(async () => (await last.state("deadly", "e")).status, { timeout: 30_000 }).toBe("error");
  expect(runs).toBe(6);
  await last.close({ grace: 0 });
  await shared.close();
}, 120_000);

test("of two messages at once on two nodes one waits for the turn of the other", async () => {
  const held = heldAgent();
  const nodes = await twoNodes("messages", { agents: { held: held.agent } });
  await checkMessagesAtOnce(nodes, held);
  for (const node of nodes.toReversed()) await node.close({ grace: 0 });
});

test("a cancel on one node stops a body on the other at once, and its events are followed there", async () => {
  const [begun, stopped] = [new Set<string>(), new Set<string>()];
  const endless = createWorkflow({ id: "endless", input: z.object({}) })
    .andThen({ id: "first", execute: () => ({}) })
    .andThen({
      id: "body",
      execute: ({ executionId, signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            stopped.add(executionId);
            reject(signal.reason);
          });
          begun.add(executionId);
        }),
    });
  const [a, b] = await twoNodes("bodies", { workflows: { endless } });
  const ids = Array.from({ length: 6 }, (_, number) => `e-${number}`);
  for (const executionId of ids) await a.start("endless", {}, { executionId });
  await expect.poll(() => begun.size).toBe(ids.length);
  const stream = await b.attach("endless", "e-0");
  const types: string[] = [];
  const followed = (async () => {
    for await (const { type, timestamp } of stream?.events ?? []) {
      types.push(type);
      if (types.length > 3) expect(Date.now() - Date.parse(timestamp)).toBeLessThan(isLong ? 2_500 : 30_000);
    }
  })();
  const start = performance.now();
  for (const id of ids) {
    await b.cancel("endless", id);
    await expect.poll(() => stopped).toContain(id);
  }
  // Without hints the node looks into the store every two seconds: each but the first would wait for a whole period.
  expect(performance.now() - start).toBeLessThan(8_000);
  await followed;
  const journal = (await a.events("endless", "e-0")).map(({ type }) => type);
  expect(types).toEqual([...journal, "workflow-result"]);
  for (const node of [b, a]) await node.close({ grace: 0 });
});
