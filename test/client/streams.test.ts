// Streams of executions under a network that breaks: every journaled event comes once and in order.
import { createClient } from "@andante/client";
import type { RunningServer } from "@andante/server";
import { expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { workflows } from "./workflows.ts";

type Host = RunningServer<typeof workflows>;
const server = await serveForTest({ workflows });

/** The same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function journalOf(on: TestServer, workflowId: string, executionId: string) {
  const events = await on.andante.events(workflowId, executionId, { limit: 10_000 });
  return events.map(({ sequence, type }) => `${sequence} ${type}`);
}

const named = (events: readonly { readonly type: string; readonly sequence?: number }[]) =>
  events.filter((event) => event.sequence !== undefined).map(({ sequence, type }) => `${sequence} ${type}`);

// A second or two of work, which take longer where other tests have the processors.
const patient = { timeout: 120_000 };

test("a hundred cuts at random: every event once, in order, and the result last", patient, async () => {
  const proxy = await CuttingProxy.to(server.url);
  const random = randomFrom(20_261_115);
  // Some are cut before the headers have come, most somewhere inside an event.
  proxy.allowance = () => (proxy.cuts < 100 ? Math.floor(random() * 5000) : undefined);
  const andante = createClient<Host>({ baseUrl: proxy.url });
  const stream = andante.workflow("count").stream<{ counted: { item: number } }>({ items: 350 });
  const events = [];
  const items: number[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === "counted") items.push(event.data.item);
  }
  expect(proxy.cuts).toBe(100);
  expect(named(events)).toEqual(await journalOf(server, "count", stream.executionId));
  expect(items).toEqual(Array.from({ length: 350 }, (_, item) => item));
  expect(events.at(-1)).toMatchObject({ type: "workflow-result", status: "completed", result: 350 });
  expect(events.filter(({ type }) => type === "workflow-result")).toHaveLength(1);
});

test("a restart of the server in the middle, and cuts before and after it", patient, async () => {
  const file = temporaryFile();
  const first = await serveForTest({ workflows, store: file.open() });
  const proxy = await CuttingProxy.to(first.url);
  const random = randomFrom(7);
  proxy.allowance = () => (proxy.cuts < 15 ? Math.floor(random() * 2500) : undefined);
  const andante = createClient<Host>({ baseUrl: proxy.url });
  const stream = andante.workflow("count").stream({ items: 60, door: "restart" });
  const events = [];
  let restarted: Promise<TestServer> | undefined;
  const restart = async () => {
    await first.close();
    const second = await serveForTest({ workflows, store: file.open() });
    proxy.retarget(second.url);
    gates.open("restart");
    return second;
  };
  for await (const event of stream) {
    events.push(event);
    const isHeld = event.type === "step-start" && event.stepPath === "each[5]/one";
    if (isHeld) restarted ??= restart();
  }
  const second = await restarted;
  if (second === undefined) throw new Error("the door was not reached");
  expect(named(events)).toEqual(await journalOf(second, "count", stream.executionId));
  expect(events.at(-1)).toMatchObject({ type: "workflow-result", status: "completed", result: 60 });
});

test("the stream that starts an execution ends where that is suspended, also after a cut", async () => {
  const proxy = await CuttingProxy.to(server.url);
  const andante = createClient<Host>({ baseUrl: proxy.url });
  for (const allowance of [500, 900, 1100, 1300, 1500, 1700, 1900, 2100]) {
    const allowances = [allowance];
    proxy.allowance = () => allowances.pop();
    // A connection of the round before would be used again.
    proxy.cut();
    const stream = andante.workflow("refund").stream({ order: 12 });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(named(events)).toEqual(await journalOf(server, "refund", stream.executionId));
    expect(events.slice(-2)).toMatchObject([
      { type: "workflow-suspended", suspension: { stepId: "approve", data: { order: 12 } } },
      { type: "workflow-result", status: "suspended", suspension: { stepId: "approve" }, result: null },
    ]);
  }
  expect(proxy.cuts).toBeGreaterThan(5);
});

test("following an execution continues through suspensions to its end, from any event", async () => {
  const andante = createClient<Host>({ baseUrl: server.url });
  const refund = await andante.workflow("refund").start({ order: 1 });
  const events = [];
  for await (const event of refund.stream({ after: 2 })) {
    events.push(event);
    if (event.type === "workflow-suspended") await refund.startResume({ approved: true });
  }
  expect(named(events)).toEqual((await journalOf(server, "refund", refund.executionId)).slice(2));
  const last = events.at(-1);
  expect(last).toMatchObject({ status: "completed", result: { order: 1, approved: true } });
  const again = [];
  const after = events.findLast((event) => "sequence" in event)?.sequence;
  for await (const event of andante.execution(refund.executionId).stream({ after })) again.push(event);
  expect(again, "nothing is left but the result").toEqual([last]);
});

test("an abort ends a stream with its reason, also while it waits to re-attach", async () => {
  const proxy = await CuttingProxy.to(server.url);
  const andante = createClient<Host>({ baseUrl: proxy.url });
  const leave = new AbortController();
  const read = async () => {
    for await (const { type } of andante.workflow("held").stream({ door: "left" }, { signal: leave.signal }))
      if (type === "step-start") {
        proxy.retarget("http://127.0.0.1:9");
        proxy.cut();
        setTimeout(() => leave.abort(new Error("enough")), 20);
      }
  };
  await expect(read()).rejects.toThrow("enough");
  gates.open("left");
});

test("a server that does not come back is an error after a while", async () => {
  const proxy = await CuttingProxy.to(server.url);
  const andante = createClient<Host>({ baseUrl: proxy.url, retryFor: 100 });
  const read = async () => {
    for await (const { type } of andante.workflow("held").stream({ door: "gone" }))
      if (type === "step-start") {
        proxy.retarget("http://127.0.0.1:9");
        proxy.cut();
      }
  };
  await expect(read()).rejects.toMatchObject({ name: "AndanteApiError", status: 0, code: "unreachable" });
  gates.open("gone");
});
