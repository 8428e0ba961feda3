// Executions of other nodes as clients of one node see them: on sockets, in streams and in the feed of changes.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { EventReader } from "../support/event-reader.ts";
import { call, type Fields, payloadOf } from "../support/responses.ts";
import { SocketClient } from "../support/socket-client.ts";
import { bearer, tokenFor } from "../support/tokens.ts";
import { bodiesUntil, followOn, type Named, startOn } from "./client.ts";
import { Cluster } from "./cluster.ts";
import type { NodeProcess } from "./node-process.ts";
import { readBodies } from "./side-log.ts";

let cluster: Cluster;
let operator: Record<string, string>;
let ada: Record<string, string>;
let bob: Record<string, string>;
beforeAll(async () => {
  [operator, ada, bob] = [
    bearer(await tokenFor("operator")),
    bearer(await tokenFor("ada")),
    bearer(await tokenFor("bob")),
  ];
  cluster = await Cluster.start({ nodes: 3, lease: 2000, settings: { auth: true } });
  // The first node shows the work of the others: it has no room to run any of it.
  await cluster.node(0).stop();
  const full = await cluster.replace(0, { running: 1 });
  const filling = { workflowId: "long", executionId: "fills-the-node" };
  // While it looks for abandoned work its only place is taken.
  await vi.waitFor(() => startOn(full, filling, 600_000, operator), { timeout: 30_000 });
});
afterAll(() => cluster.remove());

const messageSchema = z.object({
  type: z.string(),
  span: z.object({ traceId: z.string(), name: z.string() }),
});

/** Reads spans until so many executions of the workflow have ended; those of each, in the order in which they came. */
async function spansUntil(client: SocketClient, workflowId: string, ends: number): Promise<string[][]> {
  const shown: { traceId: string; text: string }[] = [];
  const last = `span-end invoke_workflow ${workflowId}`;
  while (shown.filter(({ text }) => text === last).length < ends) {
    const message = await client.next();
    if (message.type !== "OBSERVABILITY_EVENT") continue;
    const { type, span } = messageSchema.parse(message.data);
    shown.push({ traceId: span.traceId, text: `${type} ${span.name}` });
  }
  const byTrace = Map.groupBy(shown, ({ traceId }) => traceId);
  return [...byTrace.values()].map((each) => each.map(({ text }) => text));
}

const lineSchema = z.object({
  timestamp: z.string(),
  msg: z.string(),
  executionId: z.string(),
  run: z.string().optional(),
});
const linesIn = (message: Fields) => z.array(lineSchema).parse(message.logs);
const lineText = ({ executionId, timestamp, msg, run }: z.infer<typeof lineSchema>) =>
  `${executionId} ${timestamp} ${msg} ${run}`;

/** Reads lines until as many have come as are wanted; sorted by execution, each in the order in which they came. */
async function linesUntil(client: SocketClient, count: number): Promise<string[]> {
  const lines: z.infer<typeof lineSchema>[] = [];
  while (lines.length < count) lines.push(...linesIn(await client.next()));
  return byExecution(lines);
}

const byExecution = (lines: readonly z.infer<typeof lineSchema>[]) =>
  [...Map.groupBy(lines, ({ executionId }) => executionId)].sort().flatMap(([, each]) => each.map(lineText));

const changesSchema = z.object({
  executions: z.array(
    z.object({ executionId: z.string(), sequence: z.int(), status: z.string().optional() }),
  ),
  missed: z.int(),
});

/** Reads the feed until so many executions have completed; the numbers of each, in the order in which they came. */
async function changesUntil(feed: EventReader, ends: number): Promise<Map<string, number[]>> {
  const numbers = new Map<string, number[]>();
  const ended = new Set<string>();
  while (ended.size < ends) {
    const { executions, missed } = changesSchema.parse(await feed.until("changes"));
    expect(missed).toBe(0);
    for (const { executionId, sequence, status } of executions) {
      numbers.set(executionId, [...(numbers.get(executionId) ?? []), sequence]);
      if (status === "completed") ended.add(executionId);
    }
  }
  return numbers;
}

async function followChanges(node: NodeProcess, headers: Record<string, string>): Promise<EventReader> {
  const feed = new EventReader(await fetch(`${node.url}/api/changes`, { headers }), "plain");
  await feed.until("open");
  return feed;
}

test("clients see executions of other nodes once, in order and without a gap, also when the node is killed", async () => {
  const all = Array.from(
    { length: 5 },
    (_, n): Named => ({ workflowId: "spoken", executionId: `live-${n}` }),
  );
  const [shows, runs, continues] = [cluster.node(0), cluster.node(1), cluster.node(2)];
  const spans = await SocketClient.connect(shows, "/ws/observability?entityId=spoken", operator);
  const changes = await followChanges(shows, operator);
  const followLines = (node: NodeProcess) =>
    SocketClient.connect(node, "/ws/logs?workflowId=spoken&limit=1000", operator);
  const ran = (bodies: number) =>
    bodiesUntil(cluster, (lines) =>
      all.every(
        ({ executionId }) => lines.filter((line) => line.executionId === executionId).length >= bodies,
      ),
    );
  const lines = [await followLines(shows)];
  await Promise.all(all.map((named) => startOn(runs, named, 100, ada)));
  const streams = await Promise.all(all.map((named) => followOn(shows, named, undefined, ada)));
  const seen = [spansUntil(spans, "spoken", all.length), changesUntil(changes, all.length)] as const;
  // Some connect while the others are at work, to a node that does not run them and to one that soon will.
  for (const bodies of [2, 4, 6, 8]) {
    await ran(bodies);
    lines.push(await followLines(shows), await followLines(continues));
  }
  await runs.kill();
  for (const bodies of [14, 20]) {
    await ran(bodies);
    lines.push(await followLines(shows));
  }
  for (const stream of streams) {
    const events = await stream.rest();
    const numbers = events.slice(0, -1).map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
  }
  const steps = Array.from({ length: 30 }, (_, index) => `step s${index + 1}`);
  const trace = [
    "span-start invoke_workflow spoken",
    ...steps.flatMap((step) => [`span-start ${step}`, `span-end ${step}`]),
    "span-end invoke_workflow spoken",
  ];
  expect(await seen[0]).toEqual(all.map(() => trace));
  const numbers = await seen[1];
  for (const { executionId } of all) {
    const told = numbers.get(executionId) ?? [];
    expect([executionId, told]).toEqual([executionId, [...new Set(told)].sort((a, b) => a - b)]);
  }
  // Log lines that were not written yet died with their node; the rest is in the store.
  const kept = z
    .array(lineSchema)
    .parse(
      payloadOf(await call(`${continues.url}/api/logs?workflowId=spoken&limit=1000`, { headers: operator })),
    );
  const bodies = readBodies(cluster.log).filter(({ executionId }) => executionId.startsWith("live-"));
  const alive = bodies.filter(({ pid }) => pid === continues.pid).length;
  expect(alive).toBeGreaterThan(all.length);
  expect(kept.length).toBeGreaterThanOrEqual(alive);
  for (const client of lines) expect(await linesUntil(client, kept.length)).toEqual(byExecution(kept));
  for (const client of [spans, ...lines]) client.socket.close();
  await changes.drop();
  await cluster.replace(1);
});

test("a caller sees executions of other nodes within its permissions alone", async () => {
  const [shows, runs] = [cluster.node(0), cluster.node(1)];
  const spans = await SocketClient.connect(shows, "/ws/observability", ada);
  const lines = await SocketClient.connect(shows, "/ws/logs", ada);
  const changes = await followChanges(shows, ada);
  const everything = await followChanges(shows, operator);
  const start = (workflowId: string, executionId: string, who: Record<string, string>) =>
    startOn(runs, { workflowId, executionId }, 0, who);
  await start("spoken", "of-bob", bob);
  await start("fan", "of-ada-but-closed", ada);
  await changesUntil(everything, 2);
  await start("spoken", "of-ada", ada);
  await changesUntil(everything, 1);
  // Events that it may not see would have come before.
  expect([...(await changesUntil(changes, 1)).keys()]).toEqual(["of-ada"]);
  const [trace = [], ...others] = await spansUntil(spans, "spoken", 1);
  expect([trace.length, others]).toEqual([62, []]);
  const isLast = ({ executionId, run }: z.infer<typeof lineSchema>) =>
    executionId === "of-ada" && run === "s30";
  const told = await lines.until((message) => linesIn(message).some(isLast));
  const ids = told.flatMap(linesIn).map(({ executionId }) => executionId);
  expect([...new Set(ids)].filter((id) => !id.startsWith("live-"))).toEqual(["of-ada"]);
  const attach = (workflowId: string, executionId: string) =>
    followOn(shows, { workflowId, executionId }, undefined, ada);
  expect((await attach("spoken", "of-bob")).status).toBe(403);
  expect((await attach("fan", "of-ada-but-closed")).status).toBe(403);
  const own = await attach("spoken", "of-ada");
  expect((await own.rest()).at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
  for (const client of [spans, lines]) client.socket.close();
  for (const feed of [changes, everything]) await feed.drop();
});
