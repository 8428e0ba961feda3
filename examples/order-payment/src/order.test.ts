// Orders: a payment packs one once, others are not packed, and a crash anywhere packs one parcel.
import { memoryStore } from "@andante/core";
import { crashTest, TestClock } from "@andante/core/test";
import { serve } from "@andante/server";
import { expect, onTestFinished, test } from "vitest";
import { orderWith, stripeReceiver, withdrawn } from "./order.ts";
import { postPayment } from "./stripe.ts";

const secret = "whsec_of_the_test";

async function open() {
  const parcels: string[] = [];
  const order = orderWith(async ({ item }) => `parcel ${parcels.push(item)}`);
  const clock = new TestClock({ skipSleeps: false });
  const receivers = { stripe: stripeReceiver(secret) };
  const server = await serve({
    ...{ workflows: { order }, receivers, store: memoryStore(), clock },
    ...{ port: 0, handleSignals: false },
  });
  onTestFinished(() => server.close());
  const { andante, url } = server;
  const { executionId } = await andante.start("order", { order: "17", item: "teapot" });
  await andante.settled();
  return { andante, clock, executionId, parcels, url };
}

const payment = { id: "evt_1", order: "17", amount: 40 };

test("a payment packs its order, and the same webhook again does not", async () => {
  const { andante, executionId, parcels, url } = await open();
  expect((await postPayment(url, secret, payment)).status).toBe(202);
  await andante.settled();
  expect(await andante.state("order", executionId)).toMatchObject({
    ...{ status: "completed", result: { paid: 40, parcel: "parcel 1" } },
  });
  expect((await postPayment(url, secret, payment)).status).toBe(200);
  await andante.settled();
  expect(parcels).toEqual(["teapot"]);
});

test("a webhook with another signature, and the payment of another order, pack nothing", async () => {
  const { andante, executionId, parcels, url } = await open();
  expect((await postPayment(url, "whsec_of_a_stranger", payment)).status).toBe(401);
  expect((await postPayment(url, secret, { ...payment, order: "18" })).status).toBe(202);
  await andante.settled();
  expect((await andante.state("order", executionId)).status).toBe("suspended");
  expect(parcels).toEqual([]);
});

test("an order that is withdrawn, or unpaid for three days, is cancelled", async () => {
  const { andante, clock, executionId } = await open();
  const other = await andante.start("order", { order: "18", item: "cup" });
  await andante.settled();
  await andante.send(withdrawn, { order: "17" });
  await andante.settled();
  expect((await andante.state("order", executionId)).status).toBe("cancelled");
  clock.advance("3d");
  await andante.settled();
  expect((await andante.state("order", other.executionId)).status).toBe("cancelled");
});

test("a crash anywhere packs one parcel", async () => {
  const parcels = new Set<string>();
  const { differences } = await crashTest({
    workflow: orderWith(async ({ key }) => {
      parcels.add(key);
      return "parcel";
    }),
    input: { order: "17", item: "teapot" },
    resume: () => ({ order: "17", amount: 40 }),
    reset: () => parcels.clear(),
    observe: () => parcels.size,
  });
  expect(differences).toEqual([]);
});
