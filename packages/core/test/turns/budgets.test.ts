// Budgets over time: calls that are refused or wait for a person, in workflows, chats and outside of conversations.
import { ToolLoopAgent, tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { Andante } from "../../src/andante/andante.ts";
import type { AndanteOptions } from "../../src/andante/andante-options.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { StoreUnavailableError } from "../../src/errors/index.ts";
import type { BudgetOptions } from "../../src/observe/usage/budget-options.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { controlledModel } from "../support/controlled-model.ts";

const day = 86_400_000;
const prices = { "scripted/scripted": { input: 1_000_000, output: 2_000_000 } };

/** An agent that calls its tool before it replies; each call uses 15 tokens, which cost 20. */
function looper(id: string) {
  const model = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? { text: ["done"] }
      : { text: ["step"], calls: [{ id: "c", name: "work", input: {} }] },
  );
  const work = tool({ inputSchema: z.object({}), execute: () => "worked" });
  return { model, agent: new Agent({ id, model, tools: { work }, maxOutputTokens: 1 }) };
}

interface Bench {
  readonly budgets: readonly BudgetOptions[];
  readonly store?: Store;
}

function start({ budgets, store = memoryStore() }: Bench, options: Partial<AndanteOptions> = {}) {
  const { model, agent } = looper("clerk");
  const asking = createWorkflow({ id: "asking", input: z.object({}) }).andAgent({
    id: "ask",
    agent,
    prompt: "go",
  });
  const clock = new TestClock({ start: 20_000 * day });
  const logger = new RecordingLogger();
  const andante = createAndante({
    ...{ agents: { clerk: agent }, workflows: { asking }, store, budgets, prices, clock, logger },
    ...options,
  });
  onTestFinished(() => andante.close({ grace: 0 }));
  return { andante, model, clock, logger };
}

/** The same store with another part for budgets. */
function withBudgets(store: Store, budgets: Store["budgets"]): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "budgets") return budgets;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const tokens = (amount: number, fields: Partial<BudgetOptions> = {}): BudgetOptions => ({
  ...{ per: "user", window: "1d", tokens: amount },
  ...fields,
});
const money = (amount: number, fields: Partial<BudgetOptions> = {}): BudgetOptions => ({
  ...{ per: "user", window: "1d", money: amount },
  ...fields,
});
const usedUp = { code: "budget-used-up", status: 429 };
const waiting = async (andante: Andante) => (await andante.live.waiting({ limit: 10 })).items;

test("a user's budget refuses calls until its window ends, and other users have their own", async () => {
  const { andante, clock, model, logger } = start({ budgets: [tokens(30)] });
  const ask = (userId: string) => andante.agents.text("clerk", "go", { userId });
  expect((await ask("ada")).text).toBe("done");
  await expect(ask("ada")).rejects.toMatchObject({
    ...usedUp,
    message: "The budget of this user of 30 tokens is used up until 2024-10-05T00:00:00.000Z",
    retryAfter: day / 1000,
  });
  expect(model.asked).toHaveLength(2);
  expect((await ask("bob")).text).toBe("done");
  clock.advance(day);
  expect((await ask("ada")).text).toBe("done");
  expect(logger.lines.filter(({ msg }) => msg === "a budget is nearly used up")).toEqual([]);
});

test("a budget warns once when so much of it is used", async () => {
  const { andante, logger } = start({ budgets: [tokens(100, { per: "all", warnAt: 0.3 })] });
  for (let call = 0; call < 3; call++) await andante.agents.text("clerk", "go");
  const warnings = logger.lines.filter(({ msg }) => msg === "a budget is nearly used up");
  expect(warnings).toMatchObject([{ level: "warn", per: "all", used: 30, limit: 100, unit: "tokens" }]);
});

test("a chat is refused before its message is kept, and a workflow fails", async () => {
  const { andante } = start({ budgets: [tokens(30, { per: "agent" })] });
  await andante.execute("asking", {});
  const conversationId = "talk";
  await expect(andante.agents.text("clerk", "go", { conversationId })).rejects.toMatchObject(usedUp);
  expect((await andante.conversations.list()).conversations).toEqual([]);
  const executionId = "refused";
  expect(await andante.execute("asking", {}, { executionId })).toMatchObject({ status: "error" });
  const { sentence } = await andante.explain(executionId);
  expect(sentence).toContain("The budget of this agent of 30 tokens is used up");
});

test("an execution waits in the inbox, continues when a person allows more, and waits again when that is used", async () => {
  const { andante, model } = start({ budgets: [tokens(15, { onReached: "suspend" })] });
  const executionId = "run";
  const waits = await andante.execute("asking", {}, { executionId, userId: "ada" });
  expect(waits).toMatchObject({ status: "suspended" });
  expect(await andante.explain(executionId)).toMatchObject({
    waits: [{ kind: "budget", stepPath: "ask" }],
    usage: { totalTokens: 15, money: 20 },
    budgets: [{ per: "user", subject: "ada", used: 15, limit: 15, held: 0 }],
  });
  const [item] = await waiting(andante);
  expect(item?.suspension).toMatchObject({
    reason: "The budget of this user of 15 tokens is used up until 2024-10-05T00:00:00.000Z",
    data: { used: 15, budget: { subject: "ada", unit: "tokens", limit: 15 } },
  });
  expect(model.asked).toHaveLength(1);
  const allowed = await andante.resume("asking", executionId, { approved: true, tokens: 5 });
  expect(allowed).toMatchObject({ status: "completed", result: { text: "done" } });
  const next = await andante.execute("asking", {}, { executionId: "next", userId: "ada" });
  expect(next).toMatchObject({ status: "suspended" });
  expect(await andante.resume("asking", "next", { approved: true, tokens: 11 })).toMatchObject({
    status: "suspended",
  });
  const [again] = await waiting(andante);
  expect(again?.suspension.reason).toContain("of 31 tokens");
  expect(await andante.resume("asking", "next", { approved: false })).toMatchObject({ status: "error" });
  expect(await andante.budgets()).toMatchObject([{ subject: "ada", used: 45, limit: 31 }]);
});

test("a run waits for each of its budgets that is used up", async () => {
  const suspend = { onReached: "suspend" } as const;
  const { andante } = start({ budgets: [tokens(15, suspend), tokens(15, { ...suspend, per: "all" })] });
  const executionId = "both";
  const reasons = async () => (await waiting(andante)).map(({ suspension }) => suspension.reason);
  await andante.execute("asking", {}, { executionId, userId: "ada" });
  expect(await reasons()).toEqual([expect.stringContaining("of this user")]);
  const allow = () => andante.resume("asking", executionId, { approved: true });
  expect(await allow()).toMatchObject({ status: "suspended" });
  expect(await reasons()).toEqual([expect.stringContaining("The budget of 15 tokens")]);
  expect(await allow()).toMatchObject({ status: "completed" });
});

test("a reply of a chat waits in the inbox, and continues when a person allows more", async () => {
  const { andante } = start({ budgets: [tokens(15, { onReached: "suspend" })] });
  const where = { conversationId: "talk", userId: "ada" };
  const reply = await andante.agents.chat("clerk", "go", where);
  for await (const _ of reply);
  await expect.poll(() => waiting(andante)).toHaveLength(1);
  const [item] = await waiting(andante);
  expect(item).toMatchObject({ agentId: "clerk", conversationId: "talk", userId: "ada" });
  const { suspensionId = "" } = item?.suspension ?? {};
  await andante.agents.resume("talk", { suspensionId, resumeData: { approved: true }, by: "boss" });
  const text = async () => JSON.stringify((await andante.conversations.messages("talk")).messages.at(-1));
  await expect.poll(text).toContain(`"text":"done"`);
  expect(await andante.budgets()).toMatchObject([{ used: 30, limit: 30 }]);
});

test("money is counted by prices, and a model without one is refused", async () => {
  const budget = { per: "all", window: "7d", money: 40 } as const;
  const { andante } = start({ budgets: [budget] });
  await andante.agents.text("clerk", "go", { userId: "ada" });
  expect(await andante.budgets()).toMatchObject([
    { per: "all", subject: null, unit: "money", limit: 40, used: 40, held: 0 },
  ]);
  await expect(andante.agents.text("clerk", "go")).rejects.toMatchObject(usedUp);
  const other = start({ budgets: [budget] }, { prices: { "other/model": { input: 1, output: 1 } } });
  await expect(other.andante.agents.text("clerk", "go")).rejects.toMatchObject({ code: "model-price" });
  expect(other.model.asked).toEqual([]);
});

test("a budget in money suspends a workflow, and a person raises it by an amount of money", async () => {
  const { andante, model } = start({ budgets: [money(20, { onReached: "suspend" })] });
  const run = (executionId: string) => andante.execute("asking", {}, { executionId, userId: "ada" });
  expect(await run("first")).toMatchObject({ status: "suspended" });
  const [item] = await waiting(andante);
  expect(item?.suspension).toMatchObject({
    reason: "The budget of this user of 20 is used up until 2024-10-05T00:00:00.000Z",
    data: { used: 20, budget: { subject: "ada", unit: "money", limit: 20 } },
    resumeSchema: { properties: { money: { type: "number", exclusiveMinimum: 0 } } },
  });
  for (const resumeData of [{ approved: true, tokens: 5 }, { approved: true, money: 0 }, { money: 5 }])
    await expect(
      andante.resume("asking", "first", resumeData),
      JSON.stringify(resumeData),
    ).rejects.toMatchObject({ code: "resume-validation" });
  expect(model.asked).toHaveLength(1);
  const more = { approved: true, money: 5 };
  expect(await andante.resume("asking", "first", more)).toMatchObject({ status: "completed" });
  expect(await andante.budgets()).toMatchObject([{ unit: "money", subject: "ada", used: 40, limit: 25 }]);
  await run("next");
  // The amount is added to the limit, not to the use.
  expect(await andante.resume("asking", "next", { approved: true, money: 14.5 })).toMatchObject({
    status: "suspended",
  });
  const [again] = await waiting(andante);
  expect(again?.suspension.reason).toContain("of 39.5 is used up");
  expect(await andante.resume("asking", "next", { approved: true, money: 0.6 })).toMatchObject({
    status: "suspended",
  });
  expect(await andante.budgets(), "one more call was made").toMatchObject([{ used: 60, limit: 40.1 }]);
  expect(await andante.resume("asking", "next", { approved: false })).toMatchObject({ status: "error" });
});

test("a budget in money suspends a reply of a chat, and a person raises it by an amount of money", async () => {
  const { andante } = start({ budgets: [money(20, { onReached: "suspend" })] });
  const where = { conversationId: "talk", userId: "ada" };
  for await (const _ of await andante.agents.chat("clerk", "go", where));
  await expect.poll(() => waiting(andante)).toHaveLength(1);
  const { suspensionId = "", data } = (await waiting(andante))[0]?.suspension ?? {};
  expect(data).toMatchObject({ used: 20, budget: { unit: "money", limit: 20 } });
  const decide = (resumeData: unknown) =>
    andante.agents.resume("talk", { suspensionId, resumeData, by: "boss" });
  await expect(decide({ approved: true, tokens: 5 })).rejects.toMatchObject({ code: "resume-validation" });
  await decide({ approved: true, money: 5 });
  const text = async () => JSON.stringify((await andante.conversations.messages("talk")).messages.at(-1));
  await expect.poll(text).toContain(`"text":"done"`);
  expect(await andante.budgets()).toMatchObject([{ unit: "money", used: 40, limit: 25, held: 0 }]);
  expect((await andante.conversations.read("talk")).usage).toMatchObject({ calls: 2, money: 40 });
});

test("executions with a tag share its budget", async () => {
  const { andante } = start({ budgets: [tokens(30, { per: "tag" })] });
  const run = (tags: readonly string[]) => andante.execute("asking", {}, { tags: [...tags] });
  expect(await run(["night"])).toMatchObject({ status: "completed" });
  expect(await run(["night", "day"])).toMatchObject({ status: "error" });
  expect(await run(["day"])).toMatchObject({ status: "completed" });
  expect(await run([])).toMatchObject({ status: "completed" });
});

test("calls that fail give their share back", async () => {
  const model = controlledModel(() => ({ refuse: new Error("down") }));
  const agent = new Agent({ id: "clerk", model });
  const { andante } = start({ budgets: [tokens(30)] }, { agents: { clerk: agent } });
  const ask = () => andante.agents.text("clerk", "go", { userId: "ada" });
  for (let call = 0; call < 3; call++) await expect(ask()).rejects.toMatchObject({ code: "model-failed" });
  await expect.poll(() => andante.budgets()).toMatchObject([{ used: 0, held: 0 }]);
});

test("an agent that hides its calls is counted beside a call whose length has no bound", async () => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const slow = controlledModel(() => ({
    text: ["done"],
    hold: (piece) => {
      if (piece > 0) return undefined;
      begun.resolve();
      return release.promise;
    },
  }));
  class OwnLoop extends ToolLoopAgent {}
  const hidden = new OwnLoop({ id: "hidden", model: controlledModel(() => ({ text: ["done"] })) });
  const agents = { clerk: new Agent({ id: "clerk", model: slow }), hidden };
  const { andante } = start({ budgets: [tokens(1_000, { per: "all" })] }, { agents });
  const asked = andante.agents.text("clerk", "go");
  await begun.promise;
  await andante.agents.text("hidden", "go");
  release.resolve();
  await asked;
  await expect.poll(() => andante.budgets()).toMatchObject([{ used: 30, held: 0 }]);
});

test("the use of a call that the store cannot take now is counted when it can", async () => {
  const store = memoryStore();
  let refusals = 3;
  const failing = new Proxy(store.budgets, {
    get: (target, name) => {
      if (name !== "charge") return Reflect.get(target, name);
      return async (charges: Parameters<typeof target.charge>[0]) => {
        if (refusals-- > 0) throw new StoreUnavailableError({ cause: new Error("fail-over") });
        await target.charge(charges);
      };
    },
  });
  const { andante, logger } = start({ budgets: [tokens(100)], store: withBudgets(store, failing) });
  await andante.agents.text("clerk", "go", { userId: "ada" });
  await expect.poll(() => andante.budgets()).toMatchObject([{ used: 30, held: 0 }]);
  expect(logger.messages).not.toContain("the use of a budget could not be written");
});

test("an application without budgets makes no statement for them", async () => {
  const store = memoryStore();
  const asked: string[] = [];
  const counting = new Proxy(store.budgets, {
    get: (target, name, receiver) => {
      asked.push(String(name));
      return Reflect.get(target, name, receiver);
    },
  });
  const { agent } = looper("clerk");
  const andante = createAndante({
    agents: { clerk: agent },
    store: withBudgets(store, counting),
    logger: new RecordingLogger(),
  });
  onTestFinished(() => andante.close());
  await andante.agents.text("clerk", "go", { userId: "ada", conversationId: "talk" });
  await andante.agents.text("clerk", "go");
  await andante.usage({ by: "day" });
  expect(await andante.budgets()).toEqual([]);
  expect(asked).toEqual([]);
});

test.each([
  [[], "budgets", /a list of 1 to 20 budgets/],
  [[{ per: "team", window: "1d", tokens: 1 }], "budgets[0].per", /user, agent, tag, all/],
  [[{ per: "all", window: "soon", tokens: 1 }], "budgets[0].window", /from "1m" to "366d".*"soon"/],
  [[{ per: "all", window: "1s", tokens: 1 }], "budgets[0].window", /from "1m" to "366d"/],
  [[{ per: "all", window: "1d" }], "budgets[0]", /either money or tokens/],
  [[{ per: "all", window: "1d", tokens: 1, money: 1 }], "budgets[0]", /either money or tokens/],
  [[{ per: "all", window: "1d", tokens: -1 }], "budgets[0].tokens", /whole number of 1 or more/],
  [[{ per: "all", window: "1d", money: -1 }], "budgets[0].money", /above 0/],
  [[{ per: "all", window: "1d", tokens: 1, warnAt: 2 }], "budgets[0].warnAt", /at most 1/],
  [
    [{ per: "all", window: "1d", tokens: 1, onReached: "stop" }],
    "budgets[0].onReached",
    /"refuse" or "suspend"/,
  ],
  [[tokens(1), tokens(2)], "budgets[1]", /the same per, window and unit/],
])("budgets that could never work are refused at start: %j", (budgets, option, problem) => {
  const start = () => createAndante({ store: memoryStore(), prices, budgets: Object(budgets) });
  expect(start).toThrow(problem);
  expect(start).toThrow(`Option ${option}`);
});

test("a budget of money needs prices, and an unknown field is named", () => {
  const make = (budget: object) => () =>
    createAndante({ store: memoryStore(), budgets: Object([{ per: "all", window: "1d", ...budget }]) });
  expect(make({ money: 1 })).toThrow("Option budgets[0].money: needs the option prices");
  expect(make({ tokens: 1, warnsAt: 1 })).toThrow(/budgets\[0\].*warnsAt.*warnAt/);
});
