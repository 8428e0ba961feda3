// The work of a node that was killed is continued by another one, once.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { restateStore } from "@andante/restate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RestateServer, startRestate } from "./restate-server.ts";

let server: RestateServer;
const nodes: ChildProcess[] = [];
beforeAll(async () => {
  server = await startRestate();
});
afterAll(async () => {
  for (const node of nodes) node.kill("SIGKILL");
  await server.remove();
});

/** `port` is its own; Restate calls the first node. */
async function startNode(port: number, role: string): Promise<ChildProcess> {
  const { ingressUrl, adminUrl, endpointPort } = server;
  const file = path.join(import.meta.dirname, "node-process.ts");
  const url = `http://127.0.0.1:${endpointPort}`;
  const args = ["--conditions=andante-source", file, ingressUrl, adminUrl, String(port), url, role];
  const node = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  nodes.push(node);
  await once(node.stdout, "data");
  return node;
}

test("executions of a killed node complete on another one, each step once in the journal", async () => {
  const { ingressUrl, adminUrl, endpointPort, otherPorts } = server;
  await startNode(endpointPort, "wait");
  const first = await startNode(otherPorts[0], "start");
  first.kill("SIGKILL");
  const endpoint = { port: otherPorts[1], url: `http://127.0.0.1:${endpointPort}` };
  const store = restateStore({ ingressUrl, adminUrl, endpoint, namespace: "two-nodes" });
  await store.open();
  const completed = async () => (await store.list({ status: "completed", limit: 20 })).length;
  await expect.poll(completed, { timeout: 20_000, interval: 200 }).toBe(10);
  for (let n = 0; n < 10; n++) {
    const events = await store.events({ executionId: `e-${n}`, after: 0, limit: 100 });
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    const outcomes = events.filter(({ type }) => type === "step-complete").map(({ path: step }) => step);
    expect(outcomes).toEqual(["first", "second"]);
  }
  await store.close();
}, 60_000);
