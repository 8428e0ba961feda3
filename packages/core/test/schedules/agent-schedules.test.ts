// Schedules of agents: a prompt comes into its conversation once, waits there while it is busy, and reminders need a person.
import { tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  type Andante,
  createAndante,
  createWorkflow,
  memoryStore,
  scheduleTools,
} from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel, lastText, type Said } from "../support/controlled-model.ts";

const start = Date.parse("2027-03-01T12:00:30Z");
const nine = { cron: "0 9 * * *" };

interface Host {
  readonly store?: Store;
  readonly clock?: TestClock;
  readonly schedules?: NonNullable<ConstructorParameters<typeof Agent>[0]["schedules"]>;
  readonly said?: (text: string) => Said;
  readonly tools?: ConstructorParameters<typeof Agent>[0]["tools"];
  readonly queuedMessages?: number;
}

function host({
  store = memoryStore(),
  clock = new TestClock({ start, skipSleeps: false }),
  schedules,
  said = (text) => ({ text: [`re ${text}`] }),
  tools,
  queuedMessages,
}: Host) {
  const asked: string[] = [];
  const model = controlledModel((call) => {
    const text = lastText(call);
    asked.push(text);
    return said(text);
  });
  const clerk = new Agent({ id: "clerk", model, ...(tools && { tools }), ...(schedules && { schedules }) });
  const limits = queuedMessages === undefined ? {} : { queuedMessages };
  const andante = createAndante({ agents: { clerk }, store, clock, limits });
  onTestFinished(() => andante.close({ grace: 0 }));
  return { andante, clock, asked, store };
}

/** Moves the clock by a day and waits until the schedule has decided. */
async function nextDay({ andante, clock }: Pick<ReturnType<typeof host>, "andante" | "clock">, days = 1) {
  clock.advance(`${days}d`);
  await andante.settled();
}

async function texts(andante: Andante, conversationId: string): Promise<string[]> {
  const { messages } = await andante.conversations.messages(conversationId, { limit: 100 });
  return messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
}

test("a prompt comes into one conversation each day, and the agent replies there", async () => {
  const daily = {
    ...nine,
    prompt: ({ at }: { at: Date }) => `Report ${at.toISOString().slice(0, 10)}`,
    userId: "ada",
  };
  const held = host({ schedules: { daily } });
  const { andante } = held;
  await andante.ready();
  await nextDay(held);
  await expect
    .poll(() => texts(andante, "clerk:daily"))
    .toEqual(["Report 2027-03-02", "re Report 2027-03-02"]);
  await nextDay(held);
  await expect.poll(() => texts(andante, "clerk:daily")).toHaveLength(4);
  const { messages } = await andante.conversations.messages("clerk:daily", { userId: "ada" });
  expect(messages[0]).toMatchObject({
    id: "clerk:daily@20270302T090000Z",
    metadata: { schedule: { scheduleId: "clerk:daily", at: "2027-03-02T09:00:00.000Z" } },
  });
  expect(await andante.schedules.get("clerk:daily")).toMatchObject({
    ...{ agentId: "clerk", workflowId: null, userId: "ada", origin: "code", started: 2, waiting: 0 },
  });
  expect(await andante.schedules.occurrences("clerk:daily")).toMatchObject([
    { outcome: "started", conversationId: "clerk:daily", executionId: "clerk:daily@20270303T090000Z" },
    { outcome: "started", conversationId: "clerk:daily", executionId: "clerk:daily@20270302T090000Z" },
  ]);
});

test("a prompt that meets a busy conversation waits there", async () => {
  const free = Promise.withResolvers<void>();
  const held = host({
    schedules: { daily: { ...nine, prompt: "The prompt", conversationId: "talk" } },
    said: (text) => ({ text: [`re ${text}`], hold: () => (text === "Hello" ? free.promise : undefined) }),
  });
  const { andante, asked } = held;
  await andante.ready();
  const reply = andante.agents.text("clerk", "Hello", { conversationId: "talk" });
  await expect.poll(() => asked).toEqual(["Hello"]);
  held.clock.advance("1d");
  const queue = async () => (await andante.agents.queue("clerk", "talk")).map(({ id }) => id);
  await expect.poll(queue).toEqual(["clerk:daily@20270302T090000Z"]);
  expect(asked).toEqual(["Hello"]);
  // A message behind the prompt keeps its place when the turn of the prompt begins.
  const behind = andante.agents.text("clerk", "And?", { conversationId: "talk" });
  await expect.poll(async () => (await queue()).length).toBe(2);
  free.resolve();
  await reply;
  await behind;
  await expect
    .poll(() => texts(andante, "talk"))
    .toEqual(["Hello", "re Hello", "The prompt", "re The prompt", "And?", "re And?"]);
});

test("a prompt does not end a reply that waits for a person", async () => {
  const remove = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "removed" });
  const held = host({
    schedules: { daily: { ...nine, prompt: "The prompt", conversationId: "talk" } },
    tools: { remove },
    said: (text) =>
      text === "Remove it" ? { calls: [{ id: "call-1", name: "remove", input: {} }] } : { text: ["done"] },
  });
  const { andante, asked, clock } = held;
  await andante.ready();
  await andante.agents.text("clerk", "Remove it", { conversationId: "talk" });
  await nextDay(held);
  expect(await andante.schedules.get("clerk:daily")).toMatchObject({ started: 0, waiting: 1 });
  await expect(andante.schedules.trigger("clerk:daily")).rejects.toMatchObject({ status: 409 });
  expect(asked).toHaveLength(1);
  const [item] = (await andante.live.waiting({ limit: 10 })).items;
  await andante.agents.decide("talk", { approvalId: item?.approvalId ?? "", approved: true });
  await expect.poll(() => asked).toHaveLength(2);
  const isPosted = async () => {
    clock.advance("1m");
    await andante.settled();
    return (await andante.schedules.get("clerk:daily")).started;
  };
  await expect.poll(isPosted).toBe(1);
  await expect.poll(() => asked.at(-1)).toBe("The prompt");
});

test("prompts to conversations that wait for a person keep no other schedule waiting", async () => {
  const remove = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "removed" });
  const held = host({ tools: { remove }, said: () => ({ calls: [{ name: "remove", input: {} }] }) });
  const { andante, clock } = held;
  await andante.ready();
  await andante.agents.text("clerk", "Remove it", { conversationId: "talk" });
  const often = { agentId: "clerk", every: "1h", prompt: "The prompt" } as const;
  const set = (id: number) => andante.schedules.set(`s${id}`, { ...often, conversationId: "talk" });
  await Promise.all(Array.from({ length: 1300 }, (_, id) => set(id)));
  clock.advance("1h");
  await andante.settled();
  await andante.schedules.set("other", { ...often, every: "1m" });
  clock.advance("1m");
  await andante.settled();
  expect(await andante.schedules.get("other")).toMatchObject({ started: 1 });
  expect(await andante.schedules.get("s0")).toMatchObject({ started: 0, waiting: 1 });
});

test.each([
  ["before the prompt is posted", false],
  ["after it is posted", true],
])("a process that ends %s: the next one posts it once", async (_, isPosted) => {
  const store = memoryStore();
  await store.open();
  onTestFinished(() => store.close());
  const stays = async () => undefined;
  const shared = { ...store, open: stays, close: stays };
  const clock = new TestClock({ start, skipSleeps: false });
  let hasEnded = false;
  const dying: Store = {
    ...shared,
    conversations: {
      ...store.conversations,
      post: async (message) => {
        if (isPosted && !hasEnded) await store.conversations.post(message);
        hasEnded = true;
        throw new Error("the process has ended");
      },
    },
    // From then on nothing is written.
    schedules: {
      ...store.schedules,
      change: async (change) => {
        if (hasEnded) throw new Error("the process has ended");
        return store.schedules.change(change);
      },
    },
    beginTurn: () => new Promise(() => undefined),
  };
  const schedules = { daily: { ...nine, prompt: "The prompt" } };
  const first = host({ store: dying, clock, schedules });
  await first.andante.ready();
  clock.advance("1d");
  await expect.poll(() => hasEnded).toBe(true);
  await first.andante.close({ grace: 0 });
  // The next occurrence has passed, too: the one that was begun is posted nevertheless.
  clock.advance("1d");
  const second = host({ store: shared, clock, schedules });
  await second.andante.ready();
  await expect
    .poll(async () => (await second.andante.schedules.get("clerk:daily")).started, { timeout: 20_000 })
    .toBe(2);
  // A message that was posted a day ago has no reply any more.
  await expect.poll(() => texts(second.andante, "clerk:daily")).toHaveLength(isPosted ? 3 : 4);
  const { messages } = await second.andante.conversations.messages("clerk:daily", { limit: 10 });
  expect(messages.filter(({ role }) => role === "user").map(({ id }) => id)).toEqual([
    "clerk:daily@20270302T090000Z",
    "clerk:daily@20270303T090000Z",
  ]);
  expect(await second.andante.schedules.get("clerk:daily")).toMatchObject({ missed: 0, waiting: 0 });
});

test("a full queue and the conversation of another user refuse a prompt, with the reason", async () => {
  const held = host({
    queuedMessages: 1,
    said: () => ({ text: ["never"], hold: () => new Promise(() => undefined) }),
  });
  const { andante, asked } = held;
  await andante.ready();
  void andante.agents
    .text("clerk", "Hello", { conversationId: "talk", userId: "ada" })
    .catch(() => undefined);
  await expect.poll(() => asked).toHaveLength(1);
  const to = { agentId: "clerk", prompt: "The prompt", ...nine };
  await andante.schedules.set("foreign", { ...to, conversationId: "talk", userId: "ben" });
  for (const id of ["one", "two"])
    await andante.schedules.set(id, { ...to, conversationId: "talk", userId: "ada" });
  held.clock.advance("1d");
  const outcomes = async (id: string) =>
    (await andante.schedules.occurrences(id)).map(({ outcome }) => outcome);
  await expect.poll(() => outcomes("foreign")).toEqual(["refused"]);
  expect((await andante.schedules.get("foreign")).note).toBe("has the conversation of another user");
  const both = async () => [...(await outcomes("one")), ...(await outcomes("two"))].toSorted();
  await expect.poll(both).toEqual(["refused", "started"]);
});

test("at run time: kept, listed by agent, triggered, and backfilled once", async () => {
  const held = host({});
  const { andante } = held;
  const options = { agentId: "clerk", prompt: "The prompt", ...nine, userId: "ada" };
  const made = await andante.schedules.set("mornings", options);
  expect(made).toMatchObject({ agentId: "clerk", workflowId: null, prompt: "The prompt", revision: 1 });
  expect(await andante.schedules.set("mornings", options)).toEqual(made);
  expect((await andante.schedules.list({ agentId: "clerk" })).schedules).toHaveLength(1);
  expect((await andante.schedules.list({ workflowId: "clerk" })).schedules).toEqual([]);
  const { executionId } = await andante.schedules.trigger("mornings");
  await expect.poll(() => texts(andante, "mornings")).toHaveLength(2);
  const { messages } = await andante.conversations.messages("mornings", { limit: 10 });
  expect(messages[0]?.id).toBe(executionId);
  await nextDay(held);
  const span = { from: "2027-02-27T00:00:00Z", to: "2027-03-02T10:00:00Z" };
  const { times } = await andante.schedules.backfill("mornings", span);
  expect(times).toHaveLength(3);
  await andante.settled();
  await expect.poll(() => texts(andante, "mornings"), { timeout: 20_000 }).toHaveLength(10);
  expect(await andante.schedules.backfill("mornings", span)).toEqual({ times: [] });
});

test.each([
  [{ agentId: "none", prompt: "x", ...nine }, /none not found/],
  [{ agentId: "clerk", ...nine }, /prompt/],
  [{ agentId: "clerk", prompt: " ", ...nine }, /prompt/],
  [{ agentId: "clerk", prompt: "x", input: {}, ...nine }, /input/],
  [{ agentId: "clerk", prompt: "x", overlap: "skip", ...nine } as const, /overlap/],
  [{ agentId: "clerk", prompt: "x", workflowId: "w", ...nine }, /workflowId/],
  [{ ...nine, prompt: "x" }, /workflowId/],
  [{ agentId: "clerk", prompt: "x", conversationId: "..", ...nine }, /conversationId/],
])("%j is refused, and nothing is kept", async (options, message) => {
  const { andante } = host({});
  await expect(andante.schedules.set("some", options)).rejects.toThrow(message);
  expect((await andante.schedules.list()).schedules).toEqual([]);
});

test("definitions that cannot work are refused", () => {
  const model = controlledModel(() => ({ text: [] }));
  const daily = { ...nine, prompt: "x" };
  expect(() => new Agent({ id: "a", model, memory: false, schedules: { daily } })).toThrow(/memory: false/);
  expect(() => new Agent({ id: "a", model, schedules: { daily: { ...nine, prompt: "" } } })).toThrow(
    /prompt/,
  );
  expect(() => new Agent({ id: "a", model, schedules: { daily: { ...daily, cron: "x" } } })).toThrow(/cron/);
  const same = createWorkflow({ id: "a", input: z.object({}), schedules: { daily: { ...nine, input: {} } } });
  const a = new Agent({ id: "a", model, schedules: { daily } });
  const both = { agents: { a }, workflows: { same: same.andThen({ id: "run", execute: () => 1 }) } };
  expect(() => createAndante({ ...both, store: memoryStore() })).toThrow(/schedule "daily"/);
});

const asks = (name: string, input: object): Said => ({ calls: [{ id: `call-${name}`, name, input }] });

test("an agent keeps a reminder once a person has allowed it, and is reminded in the conversation", async () => {
  const held = host({
    tools: { ...scheduleTools() },
    said: (text) => {
      if (text === "Remind me")
        return asks("createReminder", { prompt: "Call Ben", at: "2027-03-02T09:00:00Z" });
      if (text === "Which?") return asks("listReminders", {});
      return { text: ["well"] };
    },
  });
  const { andante, asked } = held;
  await andante.ready();
  const talk = { conversationId: "talk", userId: "ada" };
  await andante.agents.text("clerk", "Remind me", talk);
  expect((await andante.schedules.list()).schedules).toEqual([]);
  const [item] = (await andante.live.waiting({ limit: 10 })).items;
  await andante.agents.decide("talk", { approvalId: item?.approvalId ?? "", approved: true });
  await expect
    .poll(async () => (await andante.schedules.list()).schedules)
    .toMatchObject([
      { agentId: "clerk", userId: "ada", conversationId: "talk", nextAt: "2027-03-02T09:00:00.000Z" },
    ]);
  await expect.poll(() => asked).toHaveLength(2);
  await andante.agents.text("clerk", "Which?", talk);
  const { messages } = await andante.conversations.messages("talk", { limit: 100 });
  expect(JSON.stringify(messages)).toContain('"prompt":"Call Ben","nextAt":"2027-03-02T09:00:00.000Z"');
  await nextDay(held);
  await expect.poll(() => texts(andante, "talk")).toContain("Call Ben");
  await nextDay(held, 3);
  expect(asked.filter((text) => text === "Call Ben")).toHaveLength(1);
});

test("reminders are those of the user, are bounded, and need a known user and a time to come", async () => {
  const inputs: Said[] = [];
  const held = host({
    tools: { ...scheduleTools({ needsApproval: false, max: 1 }) },
    said: (text) => (text === "go" ? (inputs.shift() ?? { text: ["?"] }) : { text: ["ok"] }),
  });
  const { andante } = held;
  await andante.ready();
  let talks = 0;
  const ask = async (said: Said, userId?: string) => {
    inputs.push(said);
    const conversationId = `talk-${talks++}`;
    await andante.agents.text("clerk", "go", { conversationId, ...(userId && { userId }) });
    const { messages } = await andante.conversations.messages(conversationId, { limit: 10 });
    return JSON.stringify(messages.flatMap(({ parts }) => parts));
  };
  const daily = { prompt: "Stretch", cron: "0 10 * * *", zone: "Europe/Berlin" };
  expect(await ask(asks("createReminder", daily))).toContain("the user is not known");
  expect(await ask(asks("createReminder", { prompt: "x", at: "2020-01-01T00:00:00Z" }), "ada")).toContain(
    "is over",
  );
  expect(await ask(asks("createReminder", { prompt: "x" }), "ada")).toContain("output-error");
  expect((await andante.schedules.list()).schedules).toEqual([]);
  expect(await ask(asks("createReminder", daily), "ada")).toContain("reminder-");
  expect(await ask(asks("createReminder", daily), "ada")).toContain("there are 1 reminders already");
  const [reminder] = (await andante.schedules.list()).schedules;
  const id = reminder?.scheduleId ?? "";
  expect(await ask(asks("removeReminder", { id }), "ben")).toContain('"removed":false');
  expect(await ask(asks("listReminders", {}), "ben")).toContain('"reminders":[]');
  expect((await andante.schedules.list()).schedules).toHaveLength(1);
  expect(await ask(asks("removeReminder", { id }), "ada")).toContain('"removed":true');
  expect((await andante.schedules.list()).schedules).toEqual([]);
});
