// Webhooks of other services over HTTP: verified on their bytes, kept once, answered after the commit.
import { createHmac } from "node:crypto";
import { createWorkflow, defineEvent } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { githubSignature, stripeSignature } from "@andante/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider } from "../support/tokens.ts";

const secret = "whsec_of_stripe";

async function shop(options: object = {}) {
  const held = Promise.withResolvers<void>();
  const paid = defineEvent({
    name: "order.paid",
    data: z.object({ order: z.string() }),
    key: ({ data }) => data.order,
  });
  const ship = createWorkflow({
    id: "ship",
    input: z.object({ order: z.string() }),
    on: { event: paid, input: ({ data }) => data },
  }).andThen({ id: "pack", execute: () => held.promise });
  const server = await serveForTest({
    workflows: { ship },
    receivers: {
      stripe: {
        verify: stripeSignature(secret),
        event: ({ body }) => {
          const { type, order } = z.object({ type: z.string(), order: z.string() }).parse(body);
          return type === "paid" ? paid.from({ order }) : undefined;
        },
      },
      github: { verify: githubSignature("hub"), event: () => paid.from({ order: "from GitHub" }) },
      own: {
        verify: ({ headers }) => {
          if (headers.get("x-own") !== "yes") throw new Error("a secret reason");
          return {};
        },
        event: ({ body }) => ({ event: "order.paid", data: body }),
      },
    },
    ...options,
  });
  const send = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/receive/${path}`, { method: "POST", body, headers });
  const stripe = (body: string, at = Math.floor(Date.now() / 1000)) =>
    send("stripe", body, {
      "stripe-signature": `t=${at},v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`,
    });
  const orders = async () => {
    const { executions } = await server.andante.list({ workflowId: "ship" });
    return executions.length;
  };
  return { server, send, stripe, orders, release: () => held.resolve() };
}

// With a space, an escape and a line break that a second serialisation would not keep.
const body = '{"id":"evt_1", "type":"paid","order":"caf\\u00e9"}\n';

test("a webhook becomes an event once: five at once, and another one later", async () => {
  const { stripe, orders, release } = await shop();
  const first = await Promise.all(Array.from({ length: 5 }, () => stripe(body)));
  expect(first.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 202]);
  const again = await stripe(body, Math.floor(Date.now() / 1000) - 200);
  expect([again.status, await again.json()]).toEqual([
    200,
    { success: true, data: { duplicate: true, eventIds: ["stripe:evt_1"] } },
  ]);
  // The workflow still runs: the answer did not wait for it.
  expect(await orders()).toBe(1);
  const times: number[] = [];
  for (let number = 2; number < 12; number++) {
    const start = performance.now();
    expect((await stripe(body.replace("evt_1", `evt_${number}`))).status).toBe(202);
    times.push(performance.now() - start);
  }
  // The fastest of ten: others share the machine.
  expect(Math.min(...times)).toBeLessThan(200);
  expect(await orders()).toBe(11);
  release();
});

test("a webhook that its sender repeats for 70 hours is one event", async () => {
  const clock = new TestClock({ skipSleeps: false });
  const { server, stripe, orders, release } = await shop({ clock });
  release();
  const at = Math.floor(Date.now() / 1000);
  expect((await stripe(body, at)).status).toBe(202);
  // The events after one of them are old by then, and their data is gone.
  for (let hours = 0; hours < 70; hours += 10) {
    clock.advance("10h");
    await server.andante.settled();
    const again = await stripe(body, at);
    expect([again.status, await again.json()]).toMatchObject([200, { data: { duplicate: true } }]);
  }
  expect(await orders()).toBe(1);
  expect(dataOf(await server.get("/api/events"))).toMatchObject({ events: [{ eventId: "stripe:evt_1" }] });
});

test("a signature that does not fit is 401, and nothing is kept", async () => {
  const { server, send, stripe, orders } = await shop();
  const at = Math.floor(Date.now() / 1000);
  for (const response of [
    await send("stripe", body),
    await send("stripe", body, { "stripe-signature": `t=${at},v1=${"0".repeat(64)}` }),
    await stripe(body, at - 400),
    await send("own", "{}", { "x-own": "no" }),
  ]) {
    const text = await response.text();
    expect([response.status, response.headers.get("x-error-code")]).toEqual([401, "webhook-signature"]);
    expect(text).not.toContain("a secret reason");
  }
  expect((await send("nobody", body)).status).toBe(404);
  expect((await send("__proto__", body)).status).toBe(404);
  expect((await send("stripe", "x".repeat(1024 * 1024 + 1))).status).toBe(413);
  expect(await orders()).toBe(0);
  expect(dataOf(await server.get("/api/events"))).toMatchObject({ events: [] });
});

test("data that does not fit the event is 400, and a webhook that means no event is 200", async () => {
  const { send, stripe, orders } = await shop();
  const misfit = await send("own", '{"order":1}', { "x-own": "yes" });
  expect([misfit.status, misfit.headers.get("x-error-code")]).toEqual([400, "event-data"]);
  expect((await stripe('{"id":"evt_2","type":"refunded","order":"1"}')).status).toBe(200);
  expect(await orders()).toBe(0);
});

test("ids are those of the sender, or a hash of the body; receivers do not share them", async () => {
  const { send, orders } = await shop();
  const hub = (delivery: string) =>
    send("github", "{}", {
      "x-hub-signature-256": `sha256=${createHmac("sha256", "hub").update("{}").digest("hex")}`,
      "x-github-delivery": delivery,
    });
  expect([(await hub("a")).status, (await hub("a")).status, (await hub("b")).status]).toEqual([
    202, 200, 202,
  ]);
  const own = () => send("own", '{"order":"1"}', { "x-own": "yes" });
  expect([(await own()).status, (await own()).status]).toEqual([202, 200]);
  expect(await orders()).toBe(3);
});

test("receivers work where every route needs a token, and authorize denies everything", async () => {
  const { stripe } = await shop({ auth: provider({ defaultPrivate: true }), authorize: () => false });
  expect((await stripe(body)).status).toBe(202);
});
