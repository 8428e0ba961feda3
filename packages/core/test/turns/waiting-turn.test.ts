// Tools of a chat that wait in their own code: the turn is idle meanwhile, and continues by itself.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { durable } from "../../src/agent/call/durable.ts";
import type { Andante } from "../../src/andante/andante.ts";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { crashPoints } from "../support/crash-points.ts";
import { inTime } from "../support/in-time.ts";
import { sharedStore } from "../support/shared-store.ts";
import { all, ask, kept, openStore, type ProcessOptions, startProcess, userMessage } from "./processes.ts";

const conversationId = "talk";
const three = 3 * 86_400_000;

/** What the tool has done, in all processes. */
class Effects {
  readonly offers: string[] = [];
  readonly orders: unknown[] = [];
  runs = 0;
}

const paid = z.object({ paid: z.boolean() });

/** The agent orders, which waits for a payment and then sleeps for three days, and says the outcome. */
function start(store: Store, effects: Effects, options: Partial<ProcessOptions> = {}) {
  const model = controlledModel(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role === "tool") return { text: [`After ${JSON.stringify(last.content)}`] };
    if (JSON.stringify(last).includes("else")) return { text: ["Something else."] };
    return { text: ["Let me order. "], calls: [{ id: "call-1", name: "order", input: { item: "tea" } }] };
  });
  const order = tool({
    inputSchema: z.object({ item: z.string() }),
    // A context of its own: the functions are not in it.
    contextSchema: z.object({ shop: z.string() }),
    execute: async ({ item }, options) => {
      effects.runs++;
      const { checkpoint, suspend, sleep } = durable(options);
      const offer = await checkpoint("offer", () => {
        effects.offers.push(item);
        return { price: 9 };
      });
      const answer = await suspend("Waiting for the payment", offer, { resumeSchema: paid });
      if (!answer.paid) throw new Error("not paid");
      await sleep("3d");
      effects.orders.push([item, options.context.shop]);
      return { ordered: item };
    },
  });
  // The test moves the clock by hours while no process runs.
  const agent = {
    toolsContext: { order: { shop: "corner" } },
    recoverWithin: "30d" as const,
    ...options.agent,
  };
  return { model, ...startProcess(store, { ...options, model, tools: { order }, agent }) };
}

async function waits(andante: Andante) {
  await andante.ready();
  return (await andante.live.waiting({ limit: 10 })).items;
}

async function pay(andante: Andante, resumeData: unknown = { paid: true }) {
  const [item] = await waits(andante);
  const { suspensionId = "" } = item?.suspension ?? {};
  await andante.agents.resume(conversationId, { suspensionId, resumeData, by: "boss" });
}

const replyOf = async (andante: Andante) => (await kept(andante)).at(-1)?.[1];
const finished = (andante: Andante) => expect.poll(() => replyOf(andante)).toContain("After");

async function partsOf(andante: Andante) {
  const { messages } = await andante.conversations.messages(conversationId);
  return messages.at(-1)?.parts.map(({ type }) => type);
}

/** Asks, pays and waits, as far as that is not done yet. */
async function lived(andante: Andante, clock: TestClock): Promise<void> {
  await andante.ready();
  const isAsked = (await kept(andante).catch(() => [])).length > 0;
  if (!isAsked) await all(await ask(andante, "u1"));
  for (let round = 0; round < 200; round++) {
    if ((await replyOf(andante))?.includes("After")) return;
    if ((await waits(andante)).length > 0) await pay(andante);
    await clock.advance("1h");
    await andante.settled();
  }
  throw new Error("the reply did not end");
}

test("a tool that suspends ends the stream with a part that describes the wait, and is in the inbox with its schema", async () => {
  const store = await openStore();
  const { andante, logger } = start(store, new Effects());
  const chunks = await all(await ask(andante, "u1"));
  expect(chunks.filter(({ type }) => type === "data-waiting")).toEqual([
    {
      type: "data-waiting",
      id: "reply#call[0].tool[0].suspend[0]",
      data: {
        ...{ toolName: "order", toolCallId: "call-1", reason: "Waiting for the payment" },
        stepPath: "reply#call[0].tool[0].suspend[0]",
      },
    },
  ]);
  expect(chunks.at(-1)).toEqual({ type: "finish", finishReason: "tool-calls" });
  expect(chunks.filter(({ type }) => type === "abort" || type === "error")).toEqual([]);
  expect(await waits(andante)).toMatchObject([
    {
      ...{ workflowId: "", agentId: "clerk", approvalId: null, userId: "ada", conversationId },
      suspension: {
        reason: "Waiting for the payment",
        data: { toolName: "order", data: { price: 9 } },
        resumeSchema: { properties: { paid: { type: "boolean" } } },
      },
    },
  ]);
  expect(await partsOf(andante)).toContain("data-waiting");
  const [head] = await store.heads([(await store.liveTurn(conversationId))?.executionId ?? ""]);
  expect([head?.status, head?.owner], "the claim is released").toEqual(["suspended", null]);
  expect(logger.messages).toEqual([]);
});

test("a resume continues the reply by itself; a sleep of three days is a timer, and the work before it is done once", async () => {
  const store = await openStore();
  const effects = new Effects();
  const clock = new TestClock();
  const { andante, model } = start(store, effects, { clock });
  await all(await ask(andante, "u1"));
  await expect(pay(andante, { paid: "yes" })).rejects.toThrow(/paid/);
  await pay(andante);
  const executionId = (await store.liveTurn(conversationId))?.executionId ?? "";
  const timers = async () => (await store.state(executionId))?.timers;
  await expect.poll(timers).toMatchObject([{ path: "reply#call[0].tool[0].sleep.0" }]);
  await expect.poll(async () => (await store.heads([executionId]))[0]?.owner).toBe(null);
  expect(await waits(andante)).toEqual([]);
  await clock.advance(three);
  await finished(andante);
  expect(effects).toEqual({ offers: ["tea"], orders: [["tea", "corner"]], runs: 3 });
  expect(model.asked).toHaveLength(2);
  expect(await partsOf(andante)).toEqual(["step-start", "text", "tool-order", "step-start", "text"]);
  const { usage } = await andante.conversations.read(conversationId);
  expect(usage.calls, "each call is counted once").toBe(2);
  expect((await store.state(executionId))?.execution.status).toBe("completed");
});

test.each([1, 400])(
  "a tool that sleeps for a moment (%i ms) continues in the same process",
  async (milliseconds) => {
    const store = await openStore();
    const model = controlledModel(({ prompt }) =>
      prompt.some(({ role }) => role === "tool")
        ? { text: ["After it."] }
        : { calls: [{ name: "nap", input: {} }] },
    );
    const effects: string[] = [];
    const nap = tool({
      inputSchema: z.object({}),
      execute: async (_, options) => {
        const { checkpoint, sleep } = durable(options);
        for (const id of ["one", "two"]) {
          await checkpoint(id, () => effects.push(id));
          await sleep(milliseconds);
        }
        return "awake";
      },
    });
    const { andante, logger } = startProcess(store, { model, tools: { nap } });
    await all(await ask(andante, "u1"));
    const next = all(await ask(andante, "u2"));
    await finished(andante);
    await next;
    expect(effects).toEqual(["one", "two"]);
    expect((await kept(andante)).map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(await store.liveTurn(conversationId)).toBeUndefined();
    expect(logger.messages).toEqual([]);
  },
);

test("two tools that are resumed at once both continue", async () => {
  const model = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? { text: [`After ${JSON.stringify(prompt.at(-1)?.content)}`] }
      : { calls: ["left", "right"].map((name) => ({ id: name, name, input: {} })) },
  );
  const inputSchema = z.object({});
  const waiting = tool({ inputSchema, execute: (_, options) => durable(options).suspend("Which?") });
  const store = await openStore();
  const { andante } = startProcess(store, { model, tools: { left: waiting, right: waiting } });
  for (let round = 0; round < 20; round++) {
    const talk = { conversationId: `talk-${round}`, userId: "ada" };
    await all(await andante.agents.chat("clerk", [userMessage("u1")], talk));
    const items = (await waits(andante)).filter((item) => item.conversationId === talk.conversationId);
    expect(items).toHaveLength(2);
    await Promise.all(
      items.map(({ suspension: { suspensionId } }, resumeData) =>
        andante.agents.resume(talk.conversationId, { suspensionId, resumeData }),
      ),
    );
    await expect
      .poll(async () => (await kept(andante, talk.conversationId)).at(-1)?.[1], { message: `round ${round}` })
      .toContain("After");
    expect(model.asked).toHaveLength(2 * (round + 1));
  }
});

test("another process continues it, also after the first one is gone", async () => {
  const store = await openStore();
  const join = sharedStore(store);
  const effects = new Effects();
  const clock = new TestClock({ skipSleeps: false });
  const first = start(join(), effects, { clock });
  await all(await ask(first.andante, "u1"));
  await first.end();
  const second = start(join(), effects, { clock });
  await pay(second.andante);
  const live = await store.liveTurn(conversationId);
  await expect.poll(async () => (await store.state(live?.executionId ?? ""))?.timers.length).toBe(1);
  await expect.poll(async () => (await store.liveTurn(conversationId))?.owner).toBe(null);
  await second.end();
  await clock.advance(three);
  const third = start(join(), effects, { clock });
  await third.andante.ready();
  await finished(third.andante);
  expect(effects).toMatchObject({ offers: ["tea"], orders: [["tea", "corner"]] });
});

test("a crash before or after any write leaves a turn that continues, with the work before it done once", async () => {
  for (const { write, variant } of crashPoints()) {
    const store = await openStore();
    const effects = new Effects();
    const clock = new TestClock();
    const crash = { write, variant };
    const first = start(store, effects, { clock, crash });
    const life = lived(first.andante, clock);
    life.catch(() => undefined);
    await Promise.race([life, first.life.crash]);
    const { crashed } = first.life;
    await first.end();
    const next = start(store, effects, { clock });
    await next.andante.ready();
    await lived(next.andante, clock);
    await finished(next.andante);
    expect(effects.orders.at(-1), `${variant} write ${write}`).toEqual(["tea", "corner"]);
    // Work that was lost with the write of its record is done again.
    expect(effects.offers.length).toBeLessThanOrEqual(2);
    const { usage } = await next.andante.conversations.read(conversationId);
    expect(usage.calls, `${variant} write ${write}: usage`).toBeGreaterThanOrEqual(2);
    expect(usage.calls).toBeLessThanOrEqual(3);
    await next.end();
    if (!crashed) return;
  }
}, 120_000);

test("another message of the user ends the wait", async () => {
  const store = await openStore();
  const effects = new Effects();
  const { andante } = start(store, effects);
  await all(await ask(andante, "u1"));
  await all(
    await andante.agents.chat("clerk", [userMessage("u2", "else")], { conversationId, userId: "ada" }),
  );
  expect(await waits(andante)).toEqual([]);
  expect((await kept(andante)).map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(effects.orders).toEqual([]);
});

test("a reply whose tool waits can be stopped; its tool does not continue", async () => {
  const store = await openStore();
  const effects = new Effects();
  const { andante } = start(store, effects);
  await all(await ask(andante, "u1"));
  const [item] = await waits(andante);
  expect(await andante.agents.stop("clerk", conversationId, { userId: "eve" })).toBe(false);
  expect(await andante.agents.stop("clerk", conversationId, { userId: "ada" })).toBe(true);
  expect(await andante.agents.stop("clerk", conversationId)).toBe(false);
  expect(await waits(andante)).toEqual([]);
  const { suspensionId = "" } = item?.suspension ?? {};
  await expect(andante.agents.resume(conversationId, { suspensionId })).rejects.toThrow(/not suspended/);
  expect(effects.orders).toEqual([]);
});

test("a text returns its beginning, an object is refused because it waits", async () => {
  const store = await openStore();
  const { andante } = start(store, new Effects());
  const reply = await andante.agents.text("clerk", "hello", { conversationId, userId: "ada" });
  expect(reply).toMatchObject({ text: "Let me order. ", toolCalls: [{ toolName: "order" }] });
  const object = andante.agents.object("clerk", "hello", z.object({}), {
    conversationId: "o",
    userId: "ada",
  });
  await expect(object).rejects.toMatchObject({ code: "reply-waits" });
  expect((await waits(andante)).map((each) => each.conversationId)).toEqual([conversationId, "o"]);
});

test("without a conversation a tool cannot wait", async () => {
  const store = await openStore();
  const effects = new Effects();
  const { andante } = start(store, effects);
  const { text } = await andante.agents.text("clerk", "hello");
  expect(text).toContain("cannot suspend here");
  expect(effects.offers, "its checkpoints do their work").toEqual(["tea"]);
});

test("a stop from another process ends a turn that falls asleep before the stop has reached it", async () => {
  const join = sharedStore(await openStore());
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const nap = tool({
    inputSchema: z.object({}),
    execute: async (_, options) => {
      asked.resolve();
      await gate.promise;
      await durable(options).sleep("3d");
      return "awake";
    },
  });
  const model = controlledModel(() => ({ calls: [{ name: "nap", input: {} }] }));
  const first = startProcess(join(), { model, tools: { nap } }).andante;
  const reply = ask(first, "u1").then(all);
  await inTime(asked.promise, "the tool");
  const store = join();
  const stopping = Promise.withResolvers<void>();
  const { clusterChannel } = store;
  if (clusterChannel === undefined) throw new Error("the store is not shared");
  // The message to the other process is lost.
  const askToStop = () => stopping.resolve();
  const lossy = { ...store, clusterChannel: { ...clusterChannel, askToStop } };
  const second = startProcess(lossy, { model, tools: { nap } }).andante;
  await second.ready();
  const stopped = second.agents.stop("clerk", conversationId, { userId: "ada" });
  await stopping.promise;
  gate.resolve();
  expect(await inTime(stopped, "the stop")).toBe(true);
  await reply;
  expect(await store.liveTurn(conversationId)).toBeUndefined();
});
