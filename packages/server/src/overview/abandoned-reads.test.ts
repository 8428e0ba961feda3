// Reads of several executions or pages end between two of them when the client is gone.
import { createAndante, createLogger, createWorkflow, memoryStore } from "@andante/core";
import type { Store } from "@andante/core/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { wrapStore } from "../../../core/test/support/wrapped-store.ts";
import { createApp } from "../app.ts";
import { readActivity } from "./activity.ts";
import { countsOfList } from "./activity-of-list.ts";
import { readInbox } from "./inbox.ts";
import { readStepActivity } from "./step-activity.ts";

const logger = createLogger({ level: "silent" });
const short = createWorkflow({ id: "short", input: z.object({}) }).andThen({ id: "one", execute: () => 1 });
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const options = { userId: "ada", traceparent: `00-${traceId}-00f067aa0ba902b7-01` };

/** A store whose reads of journals count from `begin` on, and abort the signal that it returns. */
async function abandonedStore() {
  const controller = new AbortController();
  const inner = memoryStore();
  await inner.open();
  onTestFinished(() => inner.close());
  let [isCounting, reads] = [false, 0];
  const events: Store["events"] = async (query) => {
    if (isCounting) {
      reads++;
      controller.abort("Client connection prematurely closed.");
    }
    return await inner.events(query);
  };
  const begin = () => {
    isCounting = true;
    return controller.signal;
  };
  return { store: wrapStore(inner, { events }), reads: () => reads, begin };
}

test("the spans of a trace are not read to the end for a client that is gone", async () => {
  const { store, reads, begin } = await abandonedStore();
  const app = createApp({ workflows: { short }, store, logger });
  onTestFinished(() => app.close());
  for (let count = 0; count < 2; count++) await app.andante.execute("short", {}, options);
  const url = `http://any.host/api/traces/${traceId}`;
  const whole = await app.fetch(new Request(url));
  expect(whole.status).toBe(200);
  const response = await app.fetch(new Request(url, { signal: begin() }));
  expect([response.status, reads()]).toEqual([499, 1]);
});

test("the steps of runs are not counted to the end for a client that is gone", async () => {
  const { store, reads, begin } = await abandonedStore();
  const andante = createAndante({ workflows: { short }, store, logger });
  onTestFinished(() => andante.close());
  for (let count = 0; count < 2; count++) await andante.execute("short", {}, options);
  const query = { workflowId: "short", userId: "ada", from: new Date(0), to: new Date(8.64e15) };
  await expect(readStepActivity(andante, query, begin())).rejects.toBe(
    "Client connection prematurely closed.",
  );
  expect(reads()).toBe(1);
});

const gone = new Error("gone");

test("the inbox is not read for a client that is gone, and no examples are made of it", async () => {
  const ready = vi.fn(async () => undefined);
  const schema = vi.fn(() => undefined);
  const item = Object.defineProperty({}, "suspension", { get: () => ({ resumeSchema: schema() }) });
  const controller = new AbortController();
  const waiting = vi.fn(async () => ({ items: [item], nextCursor: null }));
  const read = () => readInbox(Object({ ready, live: { waiting } }), { limit: 1 }, controller.signal);
  expect(await read()).toMatchObject({ more: false });
  expect([waiting, schema].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  waiting.mockImplementationOnce(async () => {
    controller.abort(gone);
    return { items: [item], nextCursor: null };
  });
  await expect(read()).rejects.toBe(gone);
  expect([waiting, schema].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
  await expect(read()).rejects.toBe(gone);
  expect(waiting).toHaveBeenCalledTimes(2);
});

test("the route of the inbox passes on that its client is gone", async () => {
  const { store } = await abandonedStore();
  const app = createApp({ workflows: { short }, store, logger });
  onTestFinished(() => app.close());
  await app.andante.ready();
  const waiting = vi.spyOn(app.andante.store, "waiting");
  const controller = new AbortController();
  const [reached, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  vi.spyOn(app.andante, "ready").mockImplementationOnce(() => {
    reached.resolve();
    return ready.promise;
  });
  const response = app.fetch(new Request("http://any.host/api/inbox", { signal: controller.signal }));
  await reached.promise;
  controller.abort();
  ready.resolve();
  expect((await response).status).toBe(499);
  expect(waiting).not.toHaveBeenCalled();
});

test("the counts of several workflows are read one after another, until the client is gone", async () => {
  const controller = new AbortController();
  const asked: unknown[] = [];
  const overTime = async ({ workflowId }: { workflowId: string }) => {
    asked.push(workflowId);
    if (workflowId === "b") controller.abort(gone);
    return [];
  };
  const andante = Object({
    ready: async () => undefined,
    live: { rollups: { overTime, totals: async () => [] } },
  });
  const query = { from: new Date(0), to: new Date(1), points: 1 };
  const count = (workflowIds: string[]) =>
    readActivity(andante, { ...query, parts: [{ userId: undefined, workflowIds }] }, controller.signal);
  expect(await count(["a", "c"])).toMatchObject({ complete: true });
  await expect(count(["a", "b", "c"])).rejects.toBe(gone);
  expect(asked).toEqual(["a", "c", "a", "b"]);
});

test("executions are not counted to the end for a client that is gone", async () => {
  const controller = new AbortController();
  const cursors: unknown[] = [];
  const list = async ({ cursor }: { cursor: string | undefined }) => {
    cursors.push(cursor);
    controller.abort(new Error("gone"));
    return { executions: [], nextCursor: cursors.length < 3 ? "next" : null };
  };
  const span = { from: new Date(0), to: new Date(1) };
  await expect(countsOfList(Object({ list }), {}, span, controller.signal)).rejects.toThrow("gone");
  expect(cursors).toEqual([undefined]);
});
