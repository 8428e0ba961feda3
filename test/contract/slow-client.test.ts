// Streams under fire: clients that read nothing, that go away, and that go away before they were answered.
import { request } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createWorkflow, type Workflow } from "@andante/core";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { Feed } from "../../packages/core/src/execution/stream/feed.ts";
import { heldOperation, wrapStore } from "../../packages/core/test/support/wrapped-store.ts";
import { ended } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { type Fields, textOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { storeForTest } from "../support/store-for-test.ts";

afterEach(() => vi.restoreAllMocks());

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

function memory(): number {
  if (typeof collectGarbage !== "function") throw new Error("no garbage collector to call");
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const branches = 500;
const steps = 20;
const payload = "x".repeat(1000);
const events = branches * steps * 2;

/** 20 000 events of 1 kB: a server that kept them for a client would need 20 MB. */
const flood = createWorkflow({ id: "flood", input: z.object({ door: z.string() }) })
  .andThen({
    id: "door",
    execute: async ({ data }) => {
      await gates.pass(data.door);
      return payload;
    },
  })
  .andAll({
    id: "all",
    steps: Array.from(
      { length: branches },
      (_, branch) => (chain: Workflow<{ parsed: { door: string }; output: string }>) => {
        let longer = chain;
        for (let step = 0; step < steps; step++) {
          longer = longer.andThen({ id: `${branch}-${step}`, execute: ({ data }) => data });
        }
        return longer;
      },
    ),
  })
  .andThen({ id: "forget", execute: () => "done" });

/** A stream whose client reads nothing until `read` is called. */
function silentClient(url: string, body: Fields) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    executionId: string;
    read(): Promise<string>;
  }>();
  const outgoing = request(
    url,
    { method: "POST", headers: { "content-type": "application/json" } },
    (incoming) => {
      incoming.pause();
      const read = async () => {
        let text = "";
        incoming.setEncoding("utf8");
        for await (const part of incoming) text += String(part);
        return text;
      };
      resolve({ executionId: String(incoming.headers["x-execution-id"]), read });
    },
  );
  outgoing.on("error", reject);
  outgoing.end(JSON.stringify(body));
  return promise;
}

test(`a client that reads nothing while ${events} events pass costs a bounded buffer, and misses none of them`, async () => {
  const server = await serveForTest({ workflows: { flood } });
  // Once without a client, so that compiled code and caches do not count.
  gates.open("warm");
  await server.post("/workflows/flood/execute", { input: { door: "warm" } });
  const before = memory();
  const client = await silentClient(`${server.url}/workflows/flood/stream`, { input: { door: "flood" } });
  gates.open("flood");
  await completed(server, client.executionId);
  // Garbage of the last commits is collected a little later; data kept for the client would stay.
  await expect.poll(() => (memory() - before) / 2 ** 20).toBeLessThan(8);

  const text = await client.read();
  const numbers = [...text.matchAll(/"sequence":(\d+)/g)].map(([, number]) => Number(number));
  expect(numbers.length).toBeGreaterThan(events);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(text).toMatch(/data: \{"type":"workflow-result"[^\n]*"status":"completed"[^\n]*\}\n\n$/);
}, 60_000);

async function completed(server: TestServer, executionId: string): Promise<void> {
  // Attaching near the end follows the execution without the 20 000 events before it.
  const stream = await server.stream(`/workflows/flood/executions/${executionId}/stream?after=${events}`);
  if (stream.status === 200) await stream.rest();
}

test("a client that goes away is noticed: its follower is gone, and the execution continues to its end", async () => {
  const server = await serveForTest();
  const gone = Promise.withResolvers<string>();
  const unfollow = Feed.prototype.unfollow;
  vi.spyOn(Feed.prototype, "unfollow").mockImplementation(function (this: Feed, executionId, follower) {
    unfollow.call(this, executionId, follower);
    if (!this.has(executionId)) gone.resolve(executionId);
  });
  const stream = await server.stream("/workflows/gated/stream", { input: { door: "gone" } });
  await stream.until("step-complete");
  await stream.drop();
  const executionId = stream.headers.get("x-execution-id") ?? "";
  expect(await gone.promise).toBe(executionId);
  gates.open("gone");
  expect(await ended(server, "gated", executionId)).toMatchObject({ status: "completed" });
});

test("a client that goes away before it was answered is noticed, too", async () => {
  const store = storeForTest();
  const creation = heldOperation(store.create);
  creation.hold();
  const held = wrapStore(store, {
    open: () => store.open(),
    close: () => store.close(),
    create: creation.run,
  });
  const server = await serveForTest({ store: held });
  const gone = Promise.withResolvers<string>();
  const unfollow = Feed.prototype.unfollow;
  vi.spyOn(Feed.prototype, "unfollow").mockImplementation(function (this: Feed, executionId, follower) {
    unfollow.call(this, executionId, follower);
    if (!this.has(executionId)) gone.resolve(executionId);
  });
  const controller = new AbortController();
  const answer = fetch(`${server.url}/workflows/approval/stream`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input: { topic: "x" }, options: { executionId: "unanswered" } }),
    signal: controller.signal,
  });
  await creation.asked;
  controller.abort();
  await expect(answer).rejects.toThrow();
  // The server has seen the connection close once a request that came after it is answered.
  await server.get("/workflows");
  creation.release();
  expect(await gone.promise).toBe("unanswered");
  const state = await server.get("/workflows/approval/executions/unanswered/state");
  expect(textOf(JSON.parse(state.text).data, "executionId")).toBe("unanswered");
});

test("HEAD on a stream leaves no follower behind", async () => {
  const server = await serveForTest();
  const unfollow = vi.spyOn(Feed.prototype, "unfollow");
  const follow = vi.spyOn(Feed.prototype, "follow");
  await server.post("/workflows/approval/execute", {
    input: { topic: "x" },
    options: { executionId: "head" },
  });
  const response = await fetch(`${server.url}/workflows/approval/executions/head/stream`, { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(follow).toHaveBeenCalledOnce();
  expect(unfollow).toHaveBeenCalledOnce();
});

test("a slow client of POST stream is released when the execution was paused, though its body finished meanwhile", async () => {
  const server = await serveForTest();
  const body = { input: { door: "slow-pause" }, options: { executionId: "slow-pause" } };
  const { events: slow } = await server.andante.stream("gated", body.input, body.options);
  await gates.arrival("slow-pause");
  const attached = await server.stream("/workflows/gated/executions/slow-pause/stream");
  await server.post("/workflows/gated/executions/slow-pause/suspend", {});
  await attached.until("workflow-suspended");
  gates.open("slow-pause");
  await attached.until("step-complete");
  const types: string[] = [];
  for await (const event of slow) types.push(event.type);
  expect(types.slice(-1)).toEqual(["workflow-result"]);
  await attached.drop();
}, 10_000);
