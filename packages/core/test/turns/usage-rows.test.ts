// Rows of usage equal the log of the provider when a process crashes: in chats, workflows and sub-agents.
import { tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { AndanteService } from "../../src/andante/andante-service.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import type { Prices } from "../../src/observe/usage/prices.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import { type Crash, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { controlledModel, lastText, type Said } from "../support/controlled-model.ts";
import { crashPoints } from "../support/crash-points.ts";
import { openStore } from "./processes.ts";
import {
  budgetOf,
  chat,
  clerkWith,
  crashing,
  type Log,
  rowsOf,
  startProcess,
  whole,
  wholeBudget,
  workflow,
} from "./usage-processes.ts";

const once = (crash: Crash) => {
  let left: Crash | undefined = crash;
  return () => {
    const now = left;
    left = undefined;
    return now;
  };
};

test.each([
  ["a chat", chat],
  ["a workflow", workflow],
] as const)(
  "%s that crashes at any of its writes has one row for each of its calls",
  {
    timeout: 120_000,
  },
  async (name, scenario) => {
    const store = await openStore();
    const first: Log = [];
    const undisturbed = startProcess(store, first);
    await scenario.run(undisturbed, name);
    const { writes } = undisturbed.life;
    await undisturbed.end();
    expect(first).toHaveLength(4);
    expect(await rowsOf(store, name)).toEqual(whole);
    expect(writes).toBeGreaterThanOrEqual(5);
    for (const { write, variant } of crashPoints({ last: writes })) {
      const id = `${name} ${write} ${variant}`.replaceAll(" ", "-");
      const { log } = await crashing(store, scenario, id, once({ write, variant }));
      expect(await rowsOf(store, id), id).toEqual(whole);
      expect(await budgetOf(store, id), id).toEqual({ used: wholeBudget, held: 0 });
      // The provider has answered a call again only where the commit of the first answer was never made.
      expect(log.length, id).toBeLessThanOrEqual(variant === "lost" ? 5 : 4);
    }
  },
);

test("calls outside of conversations are counted when they end, and a change of prices leaves them as they were", async () => {
  const store = await openStore();
  const usageWith = async (given: Prices | undefined) => {
    const agents = { clerk: clerkWith([]) };
    const logger = new RecordingLogger();
    const { store: shared } = crashingStore(store);
    const andante = createAndante({ agents, store: shared, logger, ...(given && { prices: given }) });
    onTestFinished(() => andante.close());
    const reply = await andante.agents.text("clerk", "go", { userId: "ada" });
    const { rows, total } = await andante.usage({ by: "model", userId: "ada" });
    await andante.close();
    return { reply: reply.usage, rows: rows.map(({ key, calls, money }) => [key, calls, money]), total };
  };
  const dear = {
    "scripted/scripted": { input: 1000, output: 0 },
    "helping/scripted": { input: 1, output: 0 },
  };
  const first = await usageWith(dear);
  expect(first.reply).toMatchObject({ money: 3.25, calls: 4 });
  expect(first.rows).toEqual([
    ["scripted/scripted", 3, 3.21],
    ["helping/scripted", 1, 0.04],
  ]);
  const free = { ...dear, "scripted/scripted": { input: 0, output: 0 } };
  expect((await usageWith(free)).rows).toEqual([
    ["scripted/scripted", 6, 3.21],
    ["helping/scripted", 2, 0.08],
  ]);
  const last = await usageWith(undefined);
  expect(last.reply).not.toHaveProperty("money");
  expect(last.total).toMatchObject({ calls: 12, money: 3.29, unpricedCalls: 4 });
});

test("after a fallback the rows, the money and a budget are those of the model that replied", async () => {
  const isAfterTool = (prompt: readonly { readonly role: string }[]) => prompt.at(-1)?.role === "tool";
  const asksTool: Said = { calls: [{ name: "look", input: {} }], usage: { input: 1000, output: 10 } };
  const reply: Said = { text: ["done"], usage: { input: 3000, output: 10 } };
  const first = controlledModel((call) =>
    lastText(call) === "easy" ? reply : { refuse: new Error("overloaded") },
  );
  const second = controlledModel(({ prompt }) => (isAfterTool(prompt) ? reply : asksTool));
  const model = [Object.assign(first, { modelId: "first" }), Object.assign(second, { modelId: "second" })];
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  const clerk = new Agent({ id: "clerk", model, tools: { look }, maxRetries: 0, maxOutputTokens: 10 });
  const asking = createWorkflow({ id: "asking", input: z.string() }).andAgent({
    ...{ id: "ask", agent: clerk, prompt: "hard" },
  });
  const prices = {
    "scripted/first": { input: 1000, output: 0 },
    "scripted/second": { input: 1, output: 0 },
  };
  const andante = createAndante({
    ...{ agents: { clerk }, workflows: { asking }, store: memoryStore(), prices },
    budgets: [{ per: "all", window: "1d", money: 1000 }],
    logger: new RecordingLogger(),
  });
  onTestFinished(() => andante.close({ grace: 0 }));
  const rows = async () => {
    const { rows: found } = await andante.usage({ by: "model" });
    return found.map(({ key, calls, inputTokens, money }) => [key, calls, inputTokens, money]);
  };
  const talk = { conversationId: "talk" };
  expect((await andante.agents.text("clerk", "hard", talk)).text).toBe("done");
  expect(await rows()).toEqual([["scripted/second", 2, 4000, 0.004]]);
  await andante.agents.text("clerk", "hard");
  expect(await andante.execute("asking", "go")).toMatchObject({ status: "completed" });
  await expect.poll(rows).toEqual([["scripted/second", 6, 12_000, 0.012]]);
  expect((await andante.agents.text("clerk", "easy", talk)).text).toBe("done");
  expect(await rows()).toEqual([
    ["scripted/first", 1, 3000, 3],
    ["scripted/second", 6, 12_000, 0.012],
  ]);
  expect((await andante.conversations.read("talk")).usage).toMatchObject({ calls: 3, money: 3.004 });
  await expect.poll(() => andante.budgets()).toMatchObject([{ used: 3.012, held: 0 }]);
});

test.each([1e300, Number.POSITIVE_INFINITY, Number.NaN, -5])(
  "a provider that reports %d tokens harms neither its reply nor the rows",
  async (input) => {
    const model = controlledModel(() => ({ text: ["done"], usage: { input, output: 1, cached: input } }));
    const prices = { "scripted/scripted": { input: 1e300, output: 1e300 } };
    const andante = createAndante({
      ...{ agents: { a: new Agent({ id: "a", model }) }, store: memoryStore(), prices },
      budgets: [{ per: "all", window: "1d", money: 9_000_000 }],
      logger: new RecordingLogger(),
    });
    onTestFinished(() => andante.close({ grace: 0 }));
    const talk = { conversationId: "talk" };
    for (const options of [{}, talk, talk])
      expect((await andante.agents.text("a", "hi", options)).text).toBe("done");
    await expect.poll(async () => (await andante.usage({ by: "day" })).total.calls).toBe(3);
    const { usage } = await andante.conversations.read("talk");
    expect(usage.inputTokens).toBe(input > 0 && input < Number.POSITIVE_INFINITY ? 2e9 : 0);
    expect(usage).toMatchObject({ calls: 2, money: 2e6 });
    expect(await andante.budgets()).toMatchObject([{ used: 3e6 }]);
  },
);

test("money of a currency of large numbers is summed up beyond the integers of the database", async () => {
  const model = controlledModel(() => ({ text: ["done"], usage: { input: 1_000_000, output: 1 } }));
  const prices = { "scripted/scripted": { input: 900_000, output: 0 } };
  const agents = { a: new Agent({ id: "a", model }) };
  const andante = createAndante({ agents, store: memoryStore(), prices, logger: new RecordingLogger() });
  onTestFinished(() => andante.close({ grace: 0 }));
  for (let call = 0; call < 12; call++) await andante.agents.text("a", "hi", { conversationId: "talk" });
  expect((await andante.usage({ by: "model" })).total.money).toBeCloseTo(10_800_000, 0);
  const { usage } = await andante.conversations.read("talk");
  expect(usage.calls).toBe(12);
  expect(usage.money).toBeGreaterThan(9_000_000);
});

test("days that are older than the retention go", async () => {
  const store = await openStore();
  const agents = { clerk: clerkWith([]) };
  const { store: shared } = crashingStore(store);
  const options = {
    agents,
    store: shared,
    logger: new RecordingLogger(),
    retention: { usage: "2d" },
  } as const;
  const andante = new AndanteService(options);
  onTestFinished(() => andante.close());
  const today = Math.floor(Date.now() / 86_400_000);
  const none = { cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, nanos: 0, unpricedCalls: 1 };
  const entry = { userId: "ada", agentId: "a", workflowId: "", model: "m", calls: 1, ...none };
  const entries = [1, 3, 9].map((age) => ({ ...entry, day: today - age, inputTokens: 1, outputTokens: 1 }));
  await andante.ready();
  await store.usage.add({ writer: "other", number: 1, entries });
  await andante.trimObservations();
  expect((await andante.usage({ by: "day" })).rows).toHaveLength(1);
});
