// Events by HTTP and with the client: receipts, refusals, who reaches which executions, and the lists.
import { createWorkflow, defineEvent } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createClient } from "../../packages/client/src/index.ts";
import { dataOf, errorOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const order = z.object({ order: z.string() });
const placed = defineEvent({ name: "order.placed", data: order, key: ({ data }) => data.order });
const paid = defineEvent({ name: "order.paid", data: order, key: ({ data }) => data.order });
const noted = defineEvent({ name: "noted", data: order });

const flow = createWorkflow({ id: "flow", input: order, on: { event: placed } }).andWaitFor({
  id: "payment",
  event: paid,
  key: ({ data }) => data.order,
});
const hostOf = () => ({ workflows: { flow }, events: { noted } });
const nothing = { started: [], woken: [], cancelled: [], skipped: [] };

test("an event starts an execution, another one continues it, and lists show both", async () => {
  const server = await serveForTest(hostOf());
  const first = await server.post("/events/order.placed", { data: { order: "1" }, id: "p1" });
  expect(first.status).toBe(202);
  expect(dataOf(first, 202)).toEqual({ ...nothing, eventId: "p1", duplicate: false, started: ["flow:p1"] });
  const again = await server.post("/events/order.placed", { data: { order: "1" }, id: "p1" });
  expect(dataOf(again, 202)).toEqual({ ...nothing, eventId: "p1", duplicate: true, started: ["flow:p1"] });
  const client = createClient({ baseUrl: server.url });
  await client.send("order.paid", { order: "1" });
  await expect
    .poll(async () => dataOf(await server.get("/api/executions/flow%3Ap1")))
    .toMatchObject({ status: "completed", result: { order: "1" }, cause: { eventId: "p1" } });
  const receipts = await client.events.sendAll([
    { name: "noted", data: { order: "1" }, key: "mine" },
    { name: "noted", data: { order: "2" } },
  ]);
  expect(receipts).toMatchObject([nothing, nothing]);
  const listed = await client.events.list({ unmatched: true });
  expect(listed.events.map(({ name, key, unmatched }) => [name, key, unmatched])).toEqual([
    ["noted", null, true],
    ["noted", "mine", true],
  ]);
  const [placedOne] = (await client.events.list({ id: "p1" })).events;
  expect(placedOne).toMatchObject({ started: ["flow:p1"], counts: { started: 1 }, data: { order: "1" } });
  const types = (await client.events.types()).map(({ name }) => name);
  expect(types.sort()).toEqual(["noted", "order.paid", "order.placed"]);
});

test("an event that cannot be sent is refused, and nothing is kept", async () => {
  const server = await serveForTest(hostOf());
  const unknown = await server.post("/events/order.piad", { data: {} });
  expect(errorOf(unknown, 404)).toBe("Event order.piad not found");
  expect(unknown.headers.get("x-error-code")).toBe("event-not-found");
  const wrong = await server.post("/events/order.paid", { data: { order: 1 } });
  expect(errorOf(wrong, 400)).toContain("order");
  errorOf(await server.post("/events/order.paid", { data: { order: "x".repeat(5_000_000) } }), 413);
  errorOf(await server.post("/events/order.paid", { data: { order: "1" }, id: 7 }), 400);
  errorOf(await server.post("/api/events", { events: [] }), 400);
  const mixed = [
    { name: "order.paid", data: { order: "1" } },
    { name: "none", data: {} },
  ];
  errorOf(await server.post("/api/events", { events: mixed }), 404);
  expect(listOf(dataOf(await server.get("/api/events")), "events")).toEqual([]);
  dataOf(await server.post("/events/order.paid", { data: { order: "1" }, id: "one" }), 202);
  const other = await server.post("/events/order.paid", { data: { order: "2" }, id: "one" });
  expect(errorOf(other, 409)).toContain("one");
  errorOf(await server.get("/api/events?limit=0"), 400);
  errorOf(await server.get("/api/events?cursor=x"), 400);
});

test("a caller reaches and sees only what is its own", async () => {
  const server = await serveForTest({ ...hostOf(), auth: provider() });
  const [ada, ben] = [bearer(await tokenFor("ada")), bearer(await tokenFor("ben"))];
  errorOf(await server.post("/events/order.placed", { data: { order: "1" } }), 401);
  const { started } = dataOf(
    await server.post("/events/order.placed", { data: { order: "1" }, id: "p", userId: "ben" }, ada),
    202,
  );
  const [executionId] = z.array(z.string()).parse(started);
  const path = `/api/executions/${encodeURIComponent(executionId ?? "")}`;
  expect(dataOf(await server.get(path, ada))).toMatchObject({ context: { userId: "ada" } });
  await expect.poll(async () => dataOf(await server.get(path, ada))).toMatchObject({ status: "suspended" });
  expect(dataOf(await server.get(path, ada))).toMatchObject({
    suspension: { events: [{ name: "order.paid", key: "1" }] },
  });
  const paidOne = { data: { order: "1" } };
  expect(dataOf(await server.post("/events/order.paid", paidOne, ben), 202)).toMatchObject(nothing);
  expect(listOf(dataOf(await server.get("/api/events", ben)), "events")).toHaveLength(1);
  expect(dataOf(await server.post("/events/order.paid", paidOne, ada), 202)).toMatchObject({
    woken: [executionId],
  });
});
