// Events from outside on one store: they start, wake and cancel executions, once, by scope, name and key.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { AndanteOptions } from "../../src/andante/andante-options.ts";
import { type Andante, createAndante, createWorkflow, defineEvent } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { sharedStore } from "../support/shared-store.ts";

const start = Date.parse("2027-03-01T12:00:00Z");

export const order = z.object({ order: z.string() });
const placed = defineEvent({ name: "order.placed", data: order, key: ({ data }) => data.order });
export const paid = defineEvent({
  name: "order.paid",
  data: z.object({ order: z.string(), amount: z.number().default(1) }),
  key: ({ data }) => data.order,
});
export const declined = defineEvent({ name: "order.declined", data: order, key: ({ data }) => data.order });
const own = defineEvent({ name: "own", data: z.object({ n: z.number() }), scope: "user" });
const events = { placed, paid, declined, own };

const opened: Pick<Andante, "close">[] = [];

export function eventCases(name: string, makeStore: () => Store): void {
  describe(`events on ${name}`, () => casesOn(makeStore));
}

function casesOn(makeStore: () => Store): void {
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close({ grace: 0 });
  });

  const host = (workflows: AndanteOptions["workflows"] = {}, options: Partial<AndanteOptions> = {}) => {
    const clock = new TestClock({ start, skipSleeps: false });
    const andante = createAndante({ workflows, events, store: makeStore(), clock, ...options });
    opened.push(andante);
    return { andante, clock };
  };
  const ofOrder = (id: string) => createWorkflow({ id, input: order });
  const waits = ofOrder("waits").andWaitFor({ id: "payment", event: paid, key: ({ data }) => data.order });
  const stateOf = async (andante: Andante, executionId: string) => andante.find(executionId);

  test("an event wakes those that wait for its key, with its data, once", async () => {
    const { andante } = host({ waits });
    const one = await andante.start("waits", { order: "1" });
    const two = await andante.start("waits", { order: "2" });
    for (const handle of [one, two]) expect((await handle.result()).status).toBe("suspended");
    const receipt = await andante.send(paid, { order: "1", amount: 7 }, { id: "evt-1" });
    const nothing = { started: [], cancelled: [], skipped: [] };
    expect(receipt).toEqual({ eventId: "evt-1", duplicate: false, woken: [one.executionId], ...nothing });
    await andante.settled();
    expect(await stateOf(andante, one.executionId)).toMatchObject({
      status: "completed",
      result: { order: "1", amount: 7 },
    });
    expect((await stateOf(andante, two.executionId)).status).toBe("suspended");
    const again = await andante.send(paid, { order: "1", amount: 7 }, { id: "evt-1" });
    expect(again).toEqual({ ...receipt, duplicate: true });
    await expect(andante.send(paid, { order: "1", amount: 8 }, { id: "evt-1" })).rejects.toMatchObject({
      code: "event-id-conflict",
      status: 409,
    });
  });

  test("the data is that of the schema, with its defaults", async () => {
    const { andante } = host({ waits });
    const handle = await andante.start("waits", { order: "1" });
    await handle.result();
    await andante.send("order.paid", { order: "1" });
    await andante.settled();
    expect((await stateOf(andante, handle.executionId)).result).toEqual({ order: "1", amount: 1 });
  });

  test("an event that is sent before the wait is taken, one before the start is not", async () => {
    const open = Promise.withResolvers<void>();
    const slow = ofOrder("slow")
      .andThen({
        id: "work",
        execute: async ({ data }) => {
          await open.promise;
          return data;
        },
      })
      .andWaitFor({ id: "payment", event: paid, key: ({ data }) => data.order });
    const { andante, clock } = host({ slow });
    await andante.send(paid, { order: "1", amount: 1 });
    clock.advance("1ms");
    const handle = await andante.start("slow", { order: "1" });
    clock.advance("1h");
    const receipt = await andante.send(paid, { order: "1", amount: 2 });
    expect(receipt.woken).toEqual([]);
    open.resolve();
    await andante.settled();
    expect(await stateOf(andante, handle.executionId)).toMatchObject({
      status: "completed",
      result: { amount: 2 },
    });
    const { events: sent } = await andante.sentEvents.list({ name: "order.paid" });
    expect(sent.map(({ woken, unmatched }) => [woken, unmatched])).toEqual([
      [[handle.executionId], false],
      [[], true],
    ]);
  });

  test("an event starts a workflow, and one that follows without a pause is taken by its wait", async () => {
    const flow = createWorkflow({ id: "flow", input: order, on: { event: placed } }).andWaitFor({
      id: "payment",
      event: paid,
      key: ({ data }) => data.order,
    });
    const { andante } = host({ flow });
    const { started } = await andante.send(placed, { order: "1" }, { id: "p1", userId: "ada" });
    await andante.send(paid, { order: "1", amount: 3 });
    expect(started).toEqual(["flow:p1"]);
    await andante.settled();
    expect(await stateOf(andante, "flow:p1")).toMatchObject({
      status: "completed",
      input: { order: "1" },
      result: { order: "1", amount: 3 },
      context: { userId: "ada" },
      cause: { eventId: "p1", event: "order.placed" },
    });
  });

  test("an execution that a caller has given the id of one keeps an event from nothing", async () => {
    const flow = ofOrder("flow").andThen({ id: "done", execute: ({ data }) => data.order });
    const started = createWorkflow({ id: "started", input: order, on: { event: placed } }).andThen({
      id: "done",
      execute: ({ data }) => data.order,
    });
    const { andante } = host({ flow, started });
    await andante.execute("flow", { order: "of a caller" }, { executionId: "started:p1" });
    const sent = await andante.send(placed, { order: "1" }, { id: "p1" });
    expect(sent).toMatchObject({ started: [expect.stringMatching(/^started:[0-9a-f]{64}$/)], skipped: [] });
    await andante.settled();
    expect(await stateOf(andante, sent.started[0] ?? "")).toMatchObject({
      result: "1",
      cause: { eventId: "p1" },
    });
    expect(await andante.send(placed, { order: "1" }, { id: "p1" })).toMatchObject({
      ...{ duplicate: true, started: sent.started },
    });
  });

  test("large events are listed in pages of few", async () => {
    const { andante } = host();
    const data = "x".repeat(1_500_000);
    for (const id of ["a", "b", "c", "d"]) await andante.send(placed, { order: data }, { id, key: id });
    const first = await andante.sentEvents.list();
    expect(first.events.map(({ eventId }) => eventId)).toEqual(["d", "c", "b"]);
    const { events: rest, nextCursor } = await andante.sentEvents.list({ cursor: first.nextCursor ?? "" });
    expect([rest.map(({ eventId }) => eventId), nextCursor]).toEqual([["a"], null]);
  });

  test("a condition and an input of its own; one that throws or does not fit is told and starts nothing", async () => {
    const flow = createWorkflow({
      id: "flow",
      input: z.object({ id: z.string().min(2) }),
      on: {
        event: placed,
        if: ({ data }) => {
          if (data.order === "boom") throw new Error("no luck");
          return data.order !== "skip";
        },
        input: ({ data }) => ({ id: data.order }),
      },
    }).andThen({ id: "end", execute: ({ data }) => data });
    const { andante } = host({ flow });
    const sent = async (of: string) => andante.send(placed, { order: of }, { id: of });
    expect((await sent("long")).started).toEqual(["flow:long"]);
    expect((await sent("skip")).skipped).toEqual([{ workflowId: "flow", reason: "Its condition is false" }]);
    expect((await sent("boom")).skipped[0]?.reason).toBe("no luck");
    expect((await sent("x")).skipped[0]?.reason).toContain("id");
    await andante.settled();
    expect((await andante.list()).executions.map(({ executionId }) => executionId)).toEqual(["flow:long"]);
  });

  test("an execution does not take the event that has started it", async () => {
    const flow = createWorkflow({ id: "flow", input: order, on: { event: placed } }).andWaitFor({
      id: "again",
      event: placed,
      key: ({ data }) => data.order,
    });
    const { andante } = host({ flow });
    await andante.send(placed, { order: "1" }, { id: "first" });
    await andante.settled();
    expect((await stateOf(andante, "flow:first")).status).toBe("suspended");
    await andante.send(placed, { order: "1" }, { id: "second" });
    await andante.settled();
    expect((await stateOf(andante, "flow:first")).status).toBe("completed");
  });

  test("a loop takes each event once, in order", async () => {
    const taken: number[] = [];
    const loop = createWorkflow({ id: "loop", input: z.object({ n: z.number() }) }).andDoWhile({
      id: "rounds",
      step: (chain) =>
        chain.andWaitFor({ id: "next", event: own, since: "start" }).andThen({
          id: "take",
          execute: ({ data }) => {
            taken.push(data.n);
            return { n: data.n };
          },
        }),
      condition: ({ data }) => data.n < 30,
    });
    const { andante } = host({ loop });
    const handle = await andante.start("loop", { n: 0 }, { userId: "ada" });
    for (let n = 1; n <= 15; n++) await andante.send(own, { n }, { userId: "ada" });
    await andante.sendAll(
      Array.from({ length: 15 }, (_, index) => own.from({ n: index + 16 }, { userId: "ada" })),
    );
    await andante.settled();
    expect((await stateOf(andante, handle.executionId)).status).toBe("completed");
    expect(taken).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  test("the first of several counts, and the others do not wait any more", async () => {
    const flow = ofOrder("flow").andWaitFor({
      id: "answer",
      event: [paid, declined],
      key: ({ data }) => data.order,
    });
    const { andante } = host({ flow });
    const handle = await andante.start("flow", { order: "1" });
    await handle.result();
    await andante.send(declined, { order: "1" });
    expect((await andante.send(paid, { order: "1", amount: 1 })).woken).toEqual([]);
    await andante.settled();
    expect((await stateOf(andante, handle.executionId)).result).toEqual({
      name: "order.declined",
      data: { order: "1" },
    });
  });

  test("a wait ends at its deadline", async () => {
    const flow = ofOrder("flow").andWaitFor({
      id: "payment",
      event: paid,
      key: ({ data }) => data.order,
      deadline: "3d",
      onDeadline: { resume: "late" },
    });
    const { andante, clock } = host({ flow });
    const handle = await andante.start("flow", { order: "1" });
    await handle.result();
    clock.advance("3d");
    await andante.settled();
    expect((await stateOf(andante, handle.executionId)).result).toBe("late");
    expect((await andante.send(paid, { order: "1", amount: 1 })).woken).toEqual([]);
  });

  test("same name and key in two scopes: only the own one wakes, live and by lookback", async () => {
    const waiting = createWorkflow({ id: "waiting", input: z.object({}) }).andWaitFor({
      id: "own",
      event: own,
    });
    const asleep = createWorkflow({ id: "asleep", input: z.object({}) })
      .andSleep({ id: "first", duration: "1h" })
      .andWaitFor({ id: "own", event: own });
    const { andante, clock } = host({ waiting, asleep });
    const ids: Record<string, string> = {};
    for (const workflowId of ["waiting", "asleep"] as const)
      for (const userId of ["ada", "ben"]) {
        const handle = await andante.start(workflowId, {}, { userId });
        ids[`${workflowId} ${userId}`] = handle.executionId;
      }
    await andante.settled();
    const receipt = await andante.send(own, { n: 1 }, { userId: "ada" });
    expect(receipt.woken).toEqual([ids["waiting ada"]]);
    clock.advance("2h");
    await andante.settled();
    const statuses = await Promise.all(
      Object.entries(ids).map(async ([name, id]) => [name, (await stateOf(andante, id)).status]),
    );
    expect(Object.fromEntries(statuses)).toEqual({
      "waiting ada": "completed",
      "waiting ben": "suspended",
      "asleep ada": "completed",
      "asleep ben": "suspended",
    });
  });

  test("a caller who sees only its own reaches only its own, also with a shared event", async () => {
    const { andante } = host({ waits });
    const ada = await andante.start("waits", { order: "1" }, { userId: "ada" });
    const ben = await andante.start("waits", { order: "1" }, { userId: "ben" });
    await Promise.all([ada.result(), ben.result()]);
    const receipt = await andante.send(paid, { order: "1", amount: 1 }, { restrictTo: "ben" });
    expect(receipt.woken).toEqual([ben.executionId]);
    const all = await andante.send(paid, { order: "1", amount: 2 });
    expect(all.woken).toEqual([ada.executionId]);
  });

  test("cancelOn ends an execution that waits or runs, and its wait is gone", async () => {
    const aborted: unknown[] = [];
    const flow = createWorkflow({
      id: "flow",
      input: order,
      cancelOn: { event: declined, key: ({ input }) => input.order },
    })
      .andThen({
        id: "work",
        execute: async ({ data, signal }) => {
          if (data.order !== "busy") return data;
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          aborted.push(signal.reason);
          return data;
        },
      })
      .andWaitFor({ id: "payment", event: paid, key: ({ data }) => data.order });
    const { andante } = host({ flow });
    const idle = await andante.start("flow", { order: "idle" });
    await idle.result();
    const busy = await andante.start("flow", { order: "busy" });
    const cancelled = await andante.send(declined, { order: "idle" });
    expect(cancelled.cancelled).toEqual([idle.executionId]);
    expect((await andante.send(declined, { order: "busy" })).cancelled).toEqual([busy.executionId]);
    await andante.settled();
    for (const { executionId } of [idle, busy])
      expect((await stateOf(andante, executionId)).status).toBe("cancelled");
    expect(aborted).toHaveLength(1);
    expect((await andante.send(paid, { order: "idle", amount: 1 })).woken).toEqual([]);
    expect((await andante.send(declined, { order: "idle" }, { id: "second" })).cancelled).toEqual([]);
  });

  test("a wait inside a body returns the event to it", async () => {
    const flow = ofOrder("flow").andThen({
      id: "pay",
      resumeSchema: z.object({ order: z.string(), amount: z.number() }),
      execute: ({ data, resumeData, suspend }) =>
        resumeData?.amount ?? suspend("Waiting for the money", undefined, { event: paid, key: data.order }),
    });
    const { andante } = host({ flow });
    const handle = await andante.start("flow", { order: "1" });
    expect((await handle.result()).suspension).toMatchObject({
      reason: "Waiting for the money",
      events: [{ name: "order.paid", key: "1" }],
    });
    expect((await andante.explain(handle.executionId)).sentence).toContain(
      "for the event order.paid with the key 1",
    );
    await andante.send(paid, { order: "1", amount: 9 });
    await andante.settled();
    expect((await stateOf(andante, handle.executionId)).result).toBe(9);
  });

  test("a pause keeps the event until it is lifted", async () => {
    const { andante } = host({ waits });
    const handle = await andante.start("waits", { order: "1" });
    await handle.result();
    const running = await stateOf(andante, handle.executionId);
    expect(running.status).toBe("suspended");
    const paused = ofOrder("paused")
      .andSleep({ id: "first", duration: "1h" })
      .andWaitFor({ id: "payment", event: paid, key: ({ data }) => data.order });
    const other = host({ paused });
    const second = await other.andante.start("paused", { order: "1" });
    await other.andante.settled();
    await other.andante.suspend("paused", second.executionId);
    await other.andante.send(paid, { order: "1", amount: 4 });
    other.clock.advance("2h");
    await other.andante.settled();
    await other.andante.resume("paused", second.executionId);
    await other.andante.settled();
    expect((await stateOf(other.andante, second.executionId)).result).toMatchObject({ amount: 4 });
  });

  test("events of a body are sent with its outcome: not when it throws, once when it is tried again", async () => {
    let runs = 0;
    const sender = ofOrder("sender").andThen({
      id: "send",
      retry: { attempts: 3, delay: 0 },
      execute: ({ data, send }) => {
        send(paid, { order: data.order, amount: ++runs });
        if (runs < 3 || data.order === "bad") throw new Error("not yet");
        return runs;
      },
    });
    const { andante } = host({ waits, sender });
    const waiting = await andante.start("waits", { order: "1" });
    await waiting.result();
    const sent = await andante.start("sender", { order: "1" });
    await andante.settled();
    expect((await stateOf(andante, sent.executionId)).status).toBe("completed");
    expect((await stateOf(andante, waiting.executionId)).result).toMatchObject({ amount: 3 });
    await andante.execute("sender", { order: "bad" });
    await andante.settled();
    const { events: listed } = await andante.sentEvents.list({});
    expect(listed.map(({ data, sentBy }) => [data, sentBy])).toEqual([
      [{ order: "1", amount: 3 }, sent.executionId],
    ]);
  });

  test("an event wakes more executions than its sender waits for, each once", {
    timeout: 60_000,
  }, async () => {
    let ends = 0;
    const flow = createWorkflow({ id: "flow", input: z.object({}) })
      .andWaitFor({ id: "all", event: placed })
      .andThen({
        id: "end",
        execute: () => {
          ends++;
        },
      });
    const { andante, clock } = host({ flow });
    const many = 230;
    for (let count = 0; count < many; count++) await andante.start("flow", {});
    await andante.settled();
    const receipt = await andante.send(placed, { order: "1" }, { id: "all" });
    expect(receipt.woken).toHaveLength(100);
    clock.advance("1s");
    await andante.settled();
    expect(ends).toBe(many);
    const [row] = (await andante.sentEvents.list({ id: "all" })).events;
    // Those that it names count once; the others are not compared when a page is delivered again.
    expect(row?.counts.woken).toBe(many);
  });

  test("an invalid event is refused with the path, and nothing is kept", async () => {
    const { andante } = host({ waits }, { limits: { input: 1000 } });
    const refusals: [() => Promise<unknown>, object][] = [
      [() => andante.send("order.unknown", {}), { status: 404, code: "event-not-found" }],
      [
        () => andante.send("order.paid", { order: 1 }),
        { status: 400, message: expect.stringContaining("order") },
      ],
      [() => andante.send("order.paid", { order: "x".repeat(2000) }), { status: 413 }],
      [
        () => andante.send("order.paid", { order: "" }),
        { status: 400, message: expect.stringContaining("key") },
      ],
      [() => andante.send("order.paid", { order: "\u0000" }), { status: 400 }],
      [() => andante.send("order.paid", { order: "1", amount: 1n }), { status: 400 }],
      [() => andante.send(own, { n: 1 }), { status: 400, message: expect.stringContaining("user") }],
      [() => andante.send(paid, { order: "1", amount: 1 }, { id: "" }), { status: 400 }],
      [() => andante.sendAll([]), { status: 400 }],
      [
        () => andante.sendAll([paid.from({ order: "1" }), { event: "order.paid", data: {} }]),
        { status: 400, message: expect.stringContaining("order") },
      ],
    ];
    for (const [refused, expected] of refusals) await expect(refused()).rejects.toMatchObject(expected);
    expect((await andante.sentEvents.list({})).events).toEqual([]);
  });

  test("a replay takes the event from the journal for steps before it", async () => {
    const flow = ofOrder("flow")
      .andWaitFor({ id: "payment", event: paid, key: ({ data }) => data.order })
      .andThen({ id: "end", execute: ({ data }) => data.amount });
    const { andante } = host({ flow });
    const handle = await andante.start("flow", { order: "1" });
    await handle.result();
    await andante.send(paid, { order: "1", amount: 5 });
    await andante.settled();
    const replayed = await andante.replay("flow", handle.executionId, { stepId: "end" });
    expect(replayed).toMatchObject({ status: "completed", result: 5 });
  });

  test("old events are not found by later waits, and their ids stay known for longer", async () => {
    const flow = ofOrder("flow").andWaitFor({
      id: "payment",
      event: paid,
      key: ({ data }) => data.order,
      since: "30d",
    });
    const store = makeStore();
    await store.open();
    opened.push(store);
    const join = sharedStore(store);
    const { andante: before, clock } = host({ flow }, { store: join() });
    await before.send(paid, { order: "1", amount: 1 }, { id: "one" });
    const first = await before.start("flow", { order: "1" });
    await before.settled();
    expect((await stateOf(before, first.executionId)).status).toBe("completed");
    await before.close({ grace: 0 });
    clock.advance("3d");
    // Retention removes the data of old events when a process starts, and from time to time.
    const { andante } = host({ flow }, { store: join(), clock });
    await andante.ready();
    await expect
      .poll(async () => (await store.signals.list({ limit: 1 })).map(({ data }) => data), { timeout: 30_000 })
      .toEqual([null]);
    const second = await andante.start("flow", { order: "1" });
    const statusOf = async () => {
      await andante.settled();
      return (await stateOf(andante, second.executionId)).status;
    };
    expect(await statusOf()).toBe("suspended");
    expect((await andante.send(paid, { order: "1", amount: 1 }, { id: "one" })).duplicate).toBe(true);
    expect(await statusOf()).toBe("suspended");
    await andante.send(paid, { order: "1", amount: 2 }, { id: "two" });
    expect(await statusOf()).toBe("completed");
  });
}
