// Deliveries of events to endpoints on one store: kept with the commit, signed, in order, tried again, and inspected.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type DeliveryRecord, deliveryIdOf, deliveryRow } from "../../src/delivery/delivery-record.ts";
import type { EndpointOptions } from "../../src/delivery/endpoint-options.ts";
import { newSecret, readSecret, signatureOf } from "../../src/delivery/webhook-signature.ts";
import { type Andante, createAndante, createWorkflow } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { sharedStore } from "../support/shared-store.ts";
import { wrapStore } from "../support/wrapped-store.ts";

export const secret = newSecret();

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: { readonly type: string; readonly data: Record<string, unknown> };
}

const answerBody = "a body that no delivery keeps";

type Reply = { readonly status: number; readonly headers?: Record<string, string> };

/** A receiver on this machine. `reply` decides about each request. */
export async function receiver(
  reply: (request: Received, count: number) => Reply | Promise<Reply> = () => ({ status: 204 }),
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const body = Buffer.concat(chunks).toString();
      const one: Received = { headers: request.headers, body, event: JSON.parse(body) };
      received.push(one);
      const { status, headers = {} } = await reply(one, received.length);
      response.writeHead(status, headers).end(answerBody);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { received, url: `http://127.0.0.1:${port}/hook`, close };
}

let count = 0;
function approval(id = `approval-${process.pid}-${++count}`) {
  return createWorkflow({ id, input: z.unknown() }).andThen({
    id: "gate",
    execute: ({ resumeData, suspend }) => resumeData ?? suspend("Publish?", { draft: 1 }, { to: "ada" }),
  });
}

const endpointAt = (
  url: string,
  more: Partial<EndpointOptions> = {},
): Readonly<Record<string, EndpointOptions>> => ({
  crm: { url, secret, allowPrivate: true, ...more },
});
const until = (isSo: () => unknown) => expect.poll(isSo, { timeout: 30_000 }).toBeTruthy();
const statesOf = async (andante: Pick<Andante, "deliveries">) =>
  (await andante.deliveries.list()).deliveries.map(({ type, state, attempts }) => [type, state, attempts]);

/** An Andante over a store that is used by itself, with a clock that only moves by hand. */
async function opened(
  makeStore: () => Store,
  options: {
    readonly url: string;
    readonly more?: Partial<EndpointOptions>;
  },
) {
  const store = makeStore();
  await store.open();
  const clock = new TestClock({ start: 1_800_000_000_000, skipSleeps: false });
  const workflow = approval();
  const join = sharedStore(store);
  const make = (operations: Partial<Store> = {}, endpoints = endpointAt(options.url, options.more)) =>
    createAndante({ ...{ workflows: { workflow }, store: join(operations), clock }, endpoints });
  const made: Pick<Andante, "close">[] = [];
  const node = (operations?: Partial<Store>, endpoints?: Readonly<Record<string, EndpointOptions>>) => {
    const one = make(operations, endpoints);
    made.push(one);
    return one;
  };
  const close = async () => {
    for (const each of made) await each.close({ grace: 0 });
    await store.close();
  };
  return { store, clock, workflow, node, close };
}

export function webhookCases(name: string, makeStore: () => Store): void {
  describe(`deliveries on ${name}`, () => casesOn(makeStore));
}

function casesOn(makeStore: () => Store): void {
  test("a suspension and the end are sent in their order, signed, with ids of their own", async () => {
    const at = await receiver();
    const workflow = approval();
    const andante = createAndante({
      ...{ store: makeStore(), workflows: { workflow } },
      endpoints: endpointAt(at.url, { content: "full" }),
    });
    const { executionId } = await andante.execute(workflow.id, { a: 1 });
    await andante.resume(workflow.id, executionId, "yes");
    await until(() => at.received.length === 2);
    expect(at.received.map(({ event }) => event)).toMatchObject([
      {
        type: "execution.suspended",
        data: { executionId, stepPath: "gate", reason: "Publish?", to: "ada", data: { draft: 1 } },
      },
      { type: "execution.ended", data: { executionId, status: "completed", result: "yes" } },
    ]);
    for (const { headers, body } of at.received) {
      const id = String(headers["webhook-id"]);
      const timestamp = Number(headers["webhook-timestamp"]);
      const key = readSecret(secret) ?? Buffer.alloc(0);
      expect(headers["webhook-signature"]).toBe(signatureOf({ id, timestamp, body }, key));
    }
    expect(new Set(at.received.map(({ headers }) => headers["webhook-id"])).size).toBe(2);
    await expect
      .poll(() => statesOf(andante))
      .toEqual([
        ["execution.suspended", "delivered", 1],
        ["execution.ended", "delivered", 1],
      ]);
    await andante.close({ grace: 0 });
    await at.close();
  });

  describe("a receiver in trouble", () => {
    test("is tried ten times on the schedule of Standard Webhooks, with one id and the time of each attempt", {
      timeout: 60_000,
    }, async () => {
      const at = await receiver(() => ({ status: 500 }));
      const { store, clock, workflow, node, close } = await opened(makeStore, {
        url: at.url,
        more: { on: ["execution.ended"] },
      });
      const andante = node();
      const { executionId } = await andante.execute(workflow.id, null);
      await andante.resume(workflow.id, executionId, 1);
      await andante.settled();
      const [second, minute, hour] = [1, 60, 3600];
      const delays = [
        5 * second,
        5 * minute,
        30 * minute,
        2 * hour,
        5 * hour,
        10 * hour,
        14 * hour,
        20 * hour,
        24 * hour,
      ];
      for (const [index, delay] of delays.entries()) {
        expect(at.received).toHaveLength(index + 1);
        clock.advance(delay * 1000 - 1);
        await andante.settled();
        expect(at.received).toHaveLength(index + 1);
        // Up to a tenth later.
        clock.advance(delay * 100 + 1);
        await andante.settled();
      }
      await until(() => at.received.length === 10);
      await andante.settled();
      expect(await statesOf(andante)).toEqual([["execution.ended", "failed", 10]]);
      const { deliveries } = await andante.deliveries.list();
      const [kept] = await store.schedules.list({ kind: "delivery", limit: 1 });
      const row = await store.schedules.read(kept?.scheduleId ?? "");
      expect(JSON.stringify(row)).toContain("500");
      expect(JSON.stringify([deliveries, row])).not.toContain(answerBody);
      expect(new Set(at.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
      expect(new Set(at.received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(10);
      expect(new Set(at.received.map(({ body }) => body)).size).toBe(1);
      await close();
      await at.close();
    });

    test("Retry-After is honoured, a redirect is a failure that is not followed", async () => {
      const replies: Reply[] = [
        { status: 503, headers: { "retry-after": "600" } },
        { status: 302, headers: { location: "/elsewhere" } },
        { status: 200 },
      ];
      const at = await receiver((_, index) => replies[index - 1] ?? { status: 200 });
      const { clock, workflow, node, close } = await opened(makeStore, {
        url: at.url,
        more: { on: ["execution.ended"] },
      });
      const andante = node();
      const { executionId } = await andante.execute(workflow.id, null);
      await andante.resume(workflow.id, executionId, 1);
      await andante.settled();
      clock.advance(599_000);
      await andante.settled();
      expect(at.received).toHaveLength(1);
      clock.advance(1_001);
      await andante.settled();
      expect(at.received).toHaveLength(2);
      clock.advance("10m");
      await andante.settled();
      const [first] = (await andante.deliveries.list()).deliveries;
      const detail = await andante.deliveries.get(first?.deliveryId ?? "");
      expect(detail).toMatchObject({ state: "delivered", attempts: 3, lastStatus: 200 });
      expect(detail.history.map(({ status }) => status)).toEqual([503, 302, 200]);
      expect(at.received.every(({ headers }) => headers["webhook-id"] === detail.messageId)).toBe(true);
      await close();
      await at.close();
    });

    test("410 disables the endpoint at once; it can be enabled, and the delivery sent again", async () => {
      let status = 410;
      const at = await receiver(() => ({ status }));
      const { workflow, node, close } = await opened(makeStore, {
        url: at.url,
        more: { on: ["execution.ended"] },
      });
      const andante = node();
      const end = async () => {
        const { executionId } = await andante.execute(workflow.id, null);
        await andante.resume(workflow.id, executionId, 1);
        await andante.settled();
      };
      await end();
      expect(await andante.endpoints.get("crm")).toMatchObject({
        state: "disabled",
        note: "It responded with 410",
      });
      await end();
      expect(at.received).toHaveLength(1);
      status = 204;
      expect(await andante.endpoints.enable("crm")).toMatchObject({ state: "active", failingSince: null });
      const [failed] = (await andante.deliveries.list({ state: "failed" })).deliveries;
      await andante.deliveries.redeliver(failed?.deliveryId ?? "");
      await andante.settled();
      expect(at.received.map(({ headers }) => headers["webhook-id"])).toEqual([
        failed?.messageId,
        failed?.messageId,
      ]);
      expect(await statesOf(andante)).toEqual([["execution.ended", "delivered", 1]]);
      await close();
      await at.close();
    });

    test("five days of failures disable it", async () => {
      const at = await receiver(() => ({ status: 500 }));
      const { clock, workflow, node, close } = await opened(makeStore, {
        url: at.url,
        more: { on: ["execution.ended"] },
      });
      const andante = node();
      for (let day = 0; day <= 5; day++) {
        const { executionId } = await andante.execute(workflow.id, null);
        await andante.resume(workflow.id, executionId, 1);
        await andante.settled();
        const { state } = await andante.endpoints.get("crm");
        expect(state).toBe(day < 5 ? "active" : "disabled");
        clock.advance("1d");
        await andante.settled();
      }
      await close();
      await at.close();
    });
  });

  test("an event waits for the one before it, of the same execution alone", async () => {
    const at = await receiver(({ event }) => ({
      status: event.data.reason === "Publish?" && event.data.executionId === "slow" ? 500 : 200,
    }));
    const { clock, workflow, node, close } = await opened(makeStore, { url: at.url });
    const andante = node();
    for (const executionId of ["slow", "fast"]) {
      await andante.execute(workflow.id, null, { executionId });
      await andante.resume(workflow.id, executionId, 1);
    }
    await andante.settled();
    const of = (id: string) =>
      at.received.filter(({ event }) => event.data.executionId === id).map(({ event }) => event.type);
    expect(of("fast")).toEqual(["execution.suspended", "execution.ended"]);
    expect(of("slow")).toEqual(["execution.suspended"]);
    for (let days = 0; days < 48; days++) {
      clock.advance("2h");
      await andante.settled();
    }
    expect(of("slow").slice(-2)).toEqual(["execution.suspended", "execution.ended"]);
    await close();
    await at.close();
  });

  test("an event that another process sends is not sent by the one that has sent the event before it", async () => {
    const [first, second, asked, gate] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
    const at = await receiver(async ({ event }) => {
      await (event.type === "execution.ended" ? second : first)?.promise;
      return { status: 204 };
    });
    const { store, clock, workflow, node, close } = await opened(makeStore, { url: at.url });
    let holds = false;
    const one = node({
      schedules: {
        ...store.schedules,
        read: async (scheduleId) => {
          if (holds && scheduleId.includes("-d.")) {
            asked?.resolve();
            await gate?.promise;
          }
          return store.schedules.read(scheduleId);
        },
      },
    });
    const { executionId } = await one.execute(workflow.id, null);
    await until(() => at.received.length === 1);
    await one.resume(workflow.id, executionId, 1);
    // The end waits for the suspension, and both processes find it due in a moment.
    const isPutOff = ({ type, nextAt }: { type: string; nextAt: string | null }) =>
      type === "execution.ended" && nextAt !== null && Date.parse(nextAt) > clock.now();
    await until(async () => (await one.deliveries.list()).deliveries.some(isPutOff));
    holds = true;
    first?.resolve();
    await asked?.promise;
    const two = node();
    await two.ready();
    clock.advance("5s");
    await until(() => at.received.length === 2);
    gate?.resolve();
    await one.settled();
    second?.resolve();
    await two.settled();
    expect(at.received.map(({ event }) => event.type)).toEqual(["execution.suspended", "execution.ended"]);
    expect(await statesOf(two)).toEqual([
      ["execution.suspended", "delivered", 1],
      ["execution.ended", "delivered", 1],
    ]);
    await close();
    await at.close();
  });

  test("a process whose code has no such endpoint leaves its deliveries to one whose code has it", async () => {
    let status = 500;
    const at = await receiver(() => ({ status }));
    const { store, clock, workflow, node, close } = await opened(makeStore, {
      url: at.url,
      more: { on: ["execution.ended"] },
    });
    // The new process is slow after its first attempt: the old one looks first.
    let looks = true;
    const old = node({}, {});
    const next = node({ due: (query) => (looks ? store.due(query) : Promise.resolve([])) });
    const { executionId } = await next.execute(workflow.id, null);
    await next.resume(workflow.id, executionId, 1);
    await next.settled();
    expect(at.received).toHaveLength(1);
    looks = false;
    clock.advance("70s");
    await old.settled();
    expect(await statesOf(next)).toEqual([["execution.ended", "pending", 1]]);
    [looks, status] = [true, 204];
    await until(() => at.received.length === 2);
    await next.settled();
    expect(await statesOf(next)).toEqual([["execution.ended", "delivered", 2]]);
    // Without such a process it is not kept for ever.
    const second = await next.execute(workflow.id, null);
    status = 500;
    await next.resume(workflow.id, second.executionId, 1);
    await next.settled();
    looks = false;
    const failed = async () => (await next.deliveries.list({ state: "failed" })).deliveries;
    await until(async () => {
      clock.advance("1m");
      await old.settled();
      return (await failed()).length === 1;
    });
    expect((await failed())[0]).toMatchObject({
      executionId: second.executionId,
      lastError: "the endpoint is removed",
    });
    await close();
    await at.close();
  });

  test("a reminder that waits for an event before it is one reminder, however long it waits", async () => {
    let status = 500;
    const at = await receiver(() => ({ status }));
    const store = makeStore();
    const clock = new TestClock({ start: 1_800_000_000_000, skipSleeps: false });
    const workflow = createWorkflow({ id: "reminded-late", input: z.unknown() }).andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend("Pay?", null, { remind: "1m" }),
    });
    const andante = createAndante({ workflows: { workflow }, store, clock, endpoints: endpointAt(at.url) });
    await andante.execute("reminded-late", null);
    const pass = async (minutes: number) => {
      for (let passed = 0; passed < minutes; passed++) {
        await andante.settled();
        clock.advance("1m");
      }
      await andante.settled();
    };
    await pass(20);
    status = 204;
    await pass(20);
    const delivered = (await andante.deliveries.list({ state: "delivered" })).deliveries;
    const reminders = delivered.filter(({ type }) => type === "suspension.reminder");
    // One for the time of the failures, and one for each minute after the receiver has returned.
    const first = reminders.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))[0]?.createdAt ?? "";
    expect(
      reminders.filter(({ createdAt }) => Date.parse(createdAt) < 1_800_000_000_000 + 20 * 60_000),
    ).toEqual([expect.objectContaining({ createdAt: first })]);
    await andante.close({ grace: 0 });
    await at.close();
  });

  describe("the reminder of a step that is resumed", () => {
    const remindedBy = async (reply: Parameters<typeof receiver>[0]) => {
      const at = await receiver(reply);
      const store = makeStore();
      await store.open();
      const clock = new TestClock({ start: 1_800_000_000_000, skipSleeps: false });
      const workflow = createWorkflow({ id: "resumed", input: z.unknown() }).andThen({
        id: "gate",
        execute: ({ resumeData, suspend }) => resumeData ?? suspend("Pay?", null, { remind: "1m" }),
      });
      const made = (operations: Partial<Store>) =>
        createAndante({
          ...{ workflows: { workflow }, store: wrapStore(store, operations), clock },
          endpoints: endpointAt(at.url),
        });
      return { at, store, clock, made, types: () => at.received.map(({ event }) => event.type) };
    };

    test("is not tried again, and the end does not wait for it", async () => {
      const { at, store, clock, made, types } = await remindedBy(({ event }) => ({
        status: event.type === "suspension.reminder" ? 500 : 204,
      }));
      const andante = made({});
      const { executionId } = await andante.execute("resumed", null);
      await andante.settled();
      clock.advance("1m");
      await andante.settled();
      clock.advance("6s");
      await andante.settled();
      const before = ["execution.suspended", "suspension.reminder", "suspension.reminder"];
      expect(types()).toEqual(before);
      await andante.resume("resumed", executionId, "paid");
      await andante.settled();
      expect(types()).toEqual([...before, "execution.ended"]);
      for (let minutes = 0; minutes < 7; minutes++) {
        clock.advance("1m");
        await andante.settled();
      }
      expect(types()).toEqual([...before, "execution.ended"]);
      const [failed] = (await andante.deliveries.list({ state: "failed" })).deliveries;
      expect(failed).toMatchObject({ type: "suspension.reminder", lastError: "its step waits no longer" });
      // By hand it is sent all the same.
      await andante.deliveries.redeliver(failed?.deliveryId ?? "");
      await andante.settled();
      expect(types()).toEqual([...before, "execution.ended", "suspension.reminder"]);
      await andante.close({ grace: 0 });
      await store.close();
      await at.close();
    });

    test("is not sent behind the end", async () => {
      const { at, store, clock, made, types } = await remindedBy(() => ({ status: 204 }));
      const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const andante = made({
        schedules: {
          ...store.schedules,
          change: async (change) => {
            if (change.row?.body.includes("suspension.reminder") && change.expected !== null) {
              asked.resolve();
              await gate.promise;
            }
            return store.schedules.change(change);
          },
        },
      });
      const { executionId } = await andante.execute("resumed", null);
      await andante.settled();
      clock.advance("1m");
      await asked.promise;
      await andante.resume("resumed", executionId, "paid");
      await until(() => types().includes("execution.ended"));
      gate.resolve();
      await andante.settled();
      expect(types()).toEqual(["execution.suspended", "execution.ended"]);
      await andante.close({ grace: 0 });
      await store.close();
      await at.close();
    });
  });

  test("thousands of deliveries that wait keep no schedule waiting", async () => {
    const store = makeStore();
    await store.open();
    const clock = new TestClock({ start: 1_800_000_000_000, skipSleeps: false });
    const workflow = createWorkflow({ id: "tick", input: z.unknown() }).andThen({
      id: "a",
      execute: () => 1,
    });
    const startAt = clock.now() - 60_000;
    const keepBoth = async (_: unknown, number: number) => {
      const of = { endpointId: "crm", startAt, executionId: `e${number}` };
      const keep = async (name: string, dueAt: number) => {
        const deliveryId = deliveryIdOf(of, startAt, name);
        const record: DeliveryRecord = {
          ...{
            ...of,
            type: "execution.ended",
            state: "pending",
            messageId: name,
            createdAt: startAt,
            attempts: 1,
          },
          ...{ lastStatus: 500, lastError: null, payload: "{}", suspensionId: null, every: null },
        };
        const row = deliveryRow(deliveryId, { workflowId: "tick", userId: null, dueAt }, record, "[]");
        expect(await store.schedules.change({ scheduleId: deliveryId, expected: null, row })).toBe("written");
      };
      // The first one has failed and is sent tomorrow, the second one waits for it.
      await keep("a", clock.now() + 86_400_000);
      await keep("d", startAt);
    };
    await Promise.all(Array.from({ length: 1300 }, keepBoth));
    const andante = createAndante({
      ...{ workflows: { workflow }, store: wrapStore(store), clock },
      endpoints: endpointAt("http://127.0.0.1:9/hook"),
    });
    await andante.schedules.set("often", { workflowId: "tick", every: "10s", input: 1 });
    await clock.run("30s", andante);
    expect(await andante.schedules.get("often")).toMatchObject({ started: 3, missed: 0 });
    await andante.close({ grace: 0 });
    await store.close();
  });

  test("a process that dies right after the commit that ends an execution leaves the delivery to the next one", async () => {
    const at = await receiver();
    const { store, workflow, node, close } = await opened(makeStore, {
      url: at.url,
      more: { on: ["execution.ended"] },
    });
    // The process is gone once the end is recorded: nothing it asks for is answered any more.
    let isDead = false;
    const dying = node({
      commit: async (commit) => {
        const result = await store.commit(commit);
        if (commit.end !== null) isDead = true;
        return isDead ? new Promise<never>(() => undefined) : result;
      },
      due: (query) => (isDead ? new Promise<never>(() => undefined) : store.due(query)),
    });
    const { executionId } = await dying.execute(workflow.id, null);
    void dying.resume(workflow.id, executionId, 1).catch(() => undefined);
    await until(() => isDead);
    expect(at.received).toEqual([]);
    const next = node();
    await until(() => at.received.length === 1);
    expect(at.received[0]?.event).toMatchObject({ type: "execution.ended", data: { executionId } });
    await next.settled();
    await close();
    await at.close();
  });

  test("an attempt whose process dies is made again, with the same id, by one other process", async () => {
    let answers = false;
    const held = Promise.withResolvers<void>();
    const at = await receiver(() => {
      held.resolve();
      return { status: 200 };
    });
    const { store, clock, workflow, node, close } = await opened(makeStore, {
      url: at.url,
      more: { on: ["execution.ended"] },
    });
    // It claims the attempt, sends it, and dies before it has recorded the result.
    const dying = node({
      schedules: {
        ...store.schedules,
        change: async (change) => {
          if (answers && change.row?.kind === "delivery") return new Promise<never>(() => undefined);
          if (change.row?.kind === "delivery") answers = true;
          return store.schedules.change(change);
        },
      },
    });
    const { executionId } = await dying.execute(workflow.id, null);
    await dying.resume(workflow.id, executionId, 1);
    await held.promise;
    const [one, two] = [node(), node()];
    clock.advance("59s");
    await Promise.all([one, two].map((each) => each.settled()));
    expect(at.received).toHaveLength(1);
    clock.advance("2s");
    await until(() => at.received.length === 2);
    await Promise.all([one, two].map((each) => each.settled()));
    expect(at.received).toHaveLength(2);
    expect(new Set(at.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    await close();
    await at.close();
  });

  test("a cancellation and a timeout are ends too", async () => {
    const at = await receiver();
    const { workflow, node, close } = await opened(makeStore, {
      url: at.url,
      more: { on: ["execution.ended"] },
    });
    const andante = node();
    const { executionId } = await andante.execute(workflow.id, null);
    await andante.cancel(workflow.id, executionId);
    await until(() => at.received.length === 1);
    expect(at.received[0]?.event.data).toMatchObject({ executionId, status: "cancelled" });
    await close();
    await at.close();
  });

  test("reminders come until the step is resumed, the escalation once, with a link that decides", async () => {
    const at = await receiver();
    const store = makeStore();
    await store.open();
    const clock = new TestClock({ start: 1_800_000_000_000, skipSleeps: false });
    const workflow = createWorkflow({ id: "reminded", input: z.unknown() }).andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) =>
        resumeData ??
        suspend("Pay?", null, { to: "ada", remind: "1d", escalate: { after: "36h", to: "bob" }, link: true }),
    });
    const andante = createAndante({
      ...{ workflows: { workflow }, store: wrapStore(store), clock, endpoints: endpointAt(at.url) },
      links: { url: "https://app.example.com", secret: "a secret of more than thirty-two characters" },
    });
    const { executionId } = await andante.execute("reminded", null);
    for (let hours = 0; hours < 60; hours += 12) {
      await andante.settled();
      clock.advance("12h");
    }
    await andante.settled();
    const seen = at.received.map(({ event: { type, data } }) => [type, data.to]);
    expect(seen).toEqual([
      ["execution.suspended", "ada"],
      ["suspension.reminder", "ada"],
      ["suspension.escalated", "bob"],
      ["suspension.reminder", "ada"],
    ]);
    const token = String(at.received.at(-1)?.event.data.link).split("/").pop() ?? "";
    const { form } = await andante.links.read(token);
    await andante.links.decide(token, form, "paid");
    for (let days = 0; days < 3; days++) {
      await andante.settled();
      clock.advance("1d");
    }
    await andante.settled();
    expect(at.received.map(({ event }) => event.type).slice(4)).toEqual(["execution.ended"]);
    expect(await andante.state("reminded", executionId)).toMatchObject({
      status: "completed",
      result: "paid",
    });
    await andante.close({ grace: 0 });
    await store.close();
    await at.close();
  });

  test("endpoints are set at run time, rotate their secrets, and are tested", async () => {
    const store = makeStore();
    const workflow = approval();
    const andante = createAndante({ store, workflows: { workflow }, endpoints: {} });
    const set = await andante.endpoints.set("crm", {
      url: "https://example.com/hook",
      on: ["execution.ended"],
    });
    expect(set).toMatchObject({
      origin: "api",
      state: "active",
      secrets: 1,
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(await andante.endpoints.set("crm", { url: "https://example.com/other" })).not.toHaveProperty(
      "secret",
    );
    expect((await andante.endpoints.rotate("crm")).secret).not.toBe(set.secret);
    expect(await andante.endpoints.get("crm")).toMatchObject({
      url: "https://example.com/other",
      secrets: 2,
    });
    expect(JSON.stringify(await andante.endpoints.list())).not.toContain("whsec_");
    const bad: readonly (readonly [string, object, string])[] = [
      ["a b", { url: "https://example.com" }, "endpointId"],
      ["x", { url: "http://example.com" }, "url"],
      ["x", { url: "https://ada:secret@example.com" }, "url"],
      ["x", { url: "https://example.com", on: ["execution.started"] }, "on"],
      ["x", { url: "https://example.com", secret: "whsec_short" }, "secret"],
      ["x", { url: "https://example.com", allowPrivate: true }, "allowPrivate"],
    ];
    for (const [id, options, field] of bad)
      await expect(andante.endpoints.set(id, options as never), field).rejects.toThrow(field);
    expect(await andante.endpoints.list()).toHaveLength(1);
    await andante.endpoints.remove("crm");
    await expect(andante.endpoints.get("crm")).rejects.toMatchObject({ code: "endpoint-not-found" });
    await andante.close({ grace: 0 });
  });
}
