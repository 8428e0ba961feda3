// Two nodes on one Restate server notify each other: neither waits for its own look into the store, nor for a lease.
import { type Andante, createAndante, createWorkflow } from "@andante/core";
import { restateStore } from "@andante/restate";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { type RestateServer, startRestate } from "./restate-server.ts";

let server: RestateServer;
beforeAll(async () => {
  server = await startRestate();
});
afterAll(() => server.remove());

/** `port` is its own; Restate calls the first node. */
function storeOn(port: number, namespace: string) {
  const { ingressUrl, adminUrl, endpointPort } = server;
  const endpoint = { port, url: `http://127.0.0.1:${endpointPort}` };
  return restateStore({ ingressUrl, adminUrl, endpoint, namespace, lease: 60_000 });
}

async function twoStores(namespace: string) {
  const stores = [server.endpointPort, server.otherPorts[0]].map((port) => storeOn(port, namespace));
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

test("a cancel on one node stops a body on the other at once, and its events are followed there", async () => {
  let stopped: number | undefined;
  const begun = Promise.withResolvers<void>();
  const endless = createWorkflow({ id: "endless", input: z.object({}) })
    .andThen({ id: "first", execute: () => ({}) })
    .andThen({
      id: "body",
      execute: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            stopped = performance.now();
            reject(signal.reason);
          });
          begun.resolve();
        }),
    });
  const nodes: Andante[] = [];
  for (const port of [server.endpointPort, server.otherPorts[0]]) {
    const node = createAndante({ store: storeOn(port, "bodies"), workflows: { endless } });
    await node.ready();
    nodes.push(node);
  }
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  await a.start("endless", {}, { executionId: "e" });
  await begun.promise;
  const stream = await b.attach("endless", "e");
  const types: string[] = [];
  const followed = (async () => {
    for await (const { type } of stream?.events ?? []) types.push(type);
  })();
  const start = performance.now();
  await b.cancel("endless", "e");
  await expect.poll(() => stopped).toBeDefined();
  // Without a hint the node looks into the store every two seconds.
  expect((stopped ?? 0) - start).toBeLessThan(1_500);
  await followed;
  const journal = (await a.events("endless", "e")).map(({ type }) => type);
  expect(types).toEqual([...journal, "workflow-result"]);
  for (const node of [b, a]) await node.close({ grace: 0 });
});
