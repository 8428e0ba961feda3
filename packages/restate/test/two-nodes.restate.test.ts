// Nodes as processes: the work of one that was killed is continued by another one, once, also where their clocks differ.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { Store } from "@andante/core/store";
import { restateStore } from "@andante/restate";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { isLong, startRestate } from "./restate-server.ts";
import { napTime } from "./shift-clock.ts";

const server = await startRestate();
const nodes: ChildProcess[] = [];
afterAll(async () => {
  for (const node of nodes) node.kill("SIGKILL");
  await server.remove();
});

interface NodeOptions {
  readonly lease: number;
  /** Milliseconds by which its clock is ahead. */
  readonly ahead?: number;
}

/** `port` is its own; Restate calls the first node. */
async function startNode(
  port: number,
  namespace: string,
  role: string,
  { lease, ahead = 0 }: NodeOptions,
): Promise<ChildProcess> {
  const { ingressUrl, adminUrl, endpointPort } = server;
  const file = path.join(import.meta.dirname, "node-process.ts");
  const url = `http://127.0.0.1:${endpointPort}`;
  const given = [ingressUrl, adminUrl, port, url, namespace, role, lease, ahead].map(String);
  const args = ["--conditions=andante-source", file, ...given];
  const node = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  nodes.push(node);
  const ended = once(node, "exit").then(() => Promise.reject(new Error("a node has ended when it started")));
  await Promise.race([once(node.stdout, "data"), ended]);
  ended.catch(() => undefined);
  return node;
}

/** A store for looks of this process; it closes with the test. */
async function storeOf(namespace: string): Promise<Store> {
  const store = restateStore(server.options(namespace, 0));
  await store.open();
  onTestFinished(() => store.close());
  return store;
}

async function rowOf(store: Store, executionId: string) {
  return (await store.state(executionId))?.execution;
}

test("executions of a killed node are taken over and complete on another one, each step once in the journal", async () => {
  const lease = 5_000;
  await startNode(server.endpointPort, "two-nodes", "wait", { lease });
  const store = await storeOf("two-nodes");
  const first = await startNode(0, "two-nodes", "start", { lease });
  const killed = performance.now();
  first.kill("SIGKILL");
  const recoveries = async () => (await rowOf(store, "e-0"))?.recoveries;
  await expect.poll(recoveries, { timeout: 60_000, interval: 50 }).toBe(1);
  expect(performance.now() - killed).toBeLessThan(isLong ? lease + 2_000 : 60_000);
  const completed = async () => (await store.list({ status: "completed", limit: 20 })).length;
  await expect.poll(completed, { timeout: 60_000, interval: 200 }).toBe(10);
  for (let n = 0; n < 10; n++) {
    const events = await store.events({ executionId: `e-${n}`, after: 0, limit: 100 });
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    const outcomes = events.filter(({ type }) => type === "step-complete").map(({ path: step }) => step);
    expect(outcomes).toEqual(["first", "second"]);
  }
}, 240_000);

// The time of a sleep is in the store alone, so it may be short; it is two minutes with ANDANTE_LONG=1.
test("a sleep ends in time on another node when its own is killed", async () => {
  // Nothing waits for the lease of the node that is killed.
  const lease = 60_000;
  await startNode(0, "naps", "wait", { lease });
  const killed = await startNode(0, "naps", "nap", { lease });
  const store = await storeOf("naps");
  await expect.poll(async () => (await store.state("nap"))?.timers.length).toBe(1);
  killed.kill("SIGKILL");
  const status = async () => (await rowOf(store, "nap"))?.status;
  await expect.poll(status, { timeout: napTime + 60_000, interval: 100 }).toBe("completed");
  const { startAt = 0, endAt } = (await rowOf(store, "nap")) ?? {};
  expect((endAt ?? 0) - startAt).toBeGreaterThanOrEqual(napTime);
  expect((endAt ?? 0) - startAt).toBeLessThan(napTime + (isLong ? 2_000 : lease / 4));
}, 240_000);

test("a node whose clock is an hour ahead ends no sleep early and takes no node for dead", async () => {
  // Shorter than an hour, and longer than other work on the machine holds a node up: only a wrong clock ends it.
  const lease = 60_000;
  await startNode(0, "clocks", "wait", { lease, ahead: 3_600_000 });
  const before = Date.now();
  await startNode(0, "clocks", "nap", { lease });
  const store = await storeOf("clocks");
  const statuses = async () =>
    [await rowOf(store, "nap"), await rowOf(store, "busy")].map((row) => row?.status);
  await expect
    .poll(statuses, { timeout: napTime + 60_000, interval: 100 })
    .toEqual(["completed", "completed"]);
  for (const id of ["nap", "busy"]) {
    const events = await store.events({ executionId: id, after: 0, limit: 100 });
    const times = events.map(({ timestamp }) => timestamp);
    // Restate's clock is that of this machine, and known to a second.
    expect(Math.min(...times)).toBeGreaterThan(before - 1_000);
    expect(Math.max(...times)).toBeLessThan(Date.now() + 1_000);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(napTime - 1_000);
    expect(await rowOf(store, id)).toMatchObject({ recoveries: 0 });
  }
  const { length } = (await store.events({ executionId: "busy", after: 0, limit: 100 })).filter(
    ({ type }) => type === "step-start",
  );
  expect(length).toBe(1);
}, 240_000);
