// Reads of several executions or pages end between two of them when the client is gone.
import { createAndante, createLogger, createWorkflow, memoryStore } from "@andante/core";
import type { Store } from "@andante/core/store";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { wrapStore } from "../../../core/test/support/wrapped-store.ts";
import { createApp } from "../app.ts";
import { countsOfList } from "./activity-of-list.ts";
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
