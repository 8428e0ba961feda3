// Processes that crash, with an agent whose provider keeps a log of its calls: for tests of the rows of usage.
import { tool } from "ai";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import type { Prices } from "../../src/observe/usage/prices.ts";
import type { Store } from "../../src/store/store.ts";
import { type Crash, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { all, userMessage } from "./processes.ts";

/** The calls that the provider has answered. */
export type Log = { readonly agent: string; readonly step: number }[];

/** The tokens of each call are its own, so that one counted twice is not taken for another one. */
const inputOf = { clerk: [10, 200, 3000], helper: [40_000] } as const;
export const whole = [
  { of: "helper", calls: 1, inputTokens: 40_000, nanos: 40_000_000, unpricedCalls: 0 },
  { of: "clerk", calls: 3, inputTokens: 3210, nanos: 0, unpricedCalls: 3 },
];
/** Its window does not end while a test runs. */
const budgets = [{ per: "user", window: 366 * 86_400_000, tokens: 1_000_000 }] as const;
/** The tokens of all calls. */
export const wholeBudget = 43_210 + 4 * 5;
const prices: Prices = { "helping/scripted": { input: 1, output: 0 } };

export function clerkWith(log: Log) {
  const answer = (agent: "clerk" | "helper", step: number, said: Said) => {
    log.push({ agent, step });
    return { ...said, usage: { input: inputOf[agent][step] ?? 0, output: 5 } };
  };
  const helping = controlledModel(() => answer("helper", 0, { text: ["helped"] }));
  const helper = new Agent({ id: "helper", model: Object.assign(helping, { provider: "helping" }) });
  const script: Said[] = [
    { calls: [{ name: "look", input: {} }] },
    { calls: [{ name: "helper", input: { prompt: "help" } }] },
    { text: ["done"] },
  ];
  const model = controlledModel(({ prompt }) => {
    const step = prompt.filter(({ role }) => role === "assistant").length;
    return answer("clerk", step, script[step] ?? { text: ["end"] });
  });
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  return new Agent({ id: "clerk", model, tools: { look }, subAgents: [helper] });
}

export function startProcess(store: Store, log: Log, crash?: Crash) {
  const life = crashingStore(store, crash);
  const clerk = clerkWith(log);
  const asking = createWorkflow({ id: "asking", input: z.string() }).andAgent({
    ...{ id: "ask", agent: clerk, prompt: "go" },
  });
  const logger = new RecordingLogger();
  const andante = createAndante({
    ...{
      agents: { clerk },
      workflows: { asking },
      store: life.store,
      logger,
      prices,
      budgets,
      tracing: false,
    },
  });
  const end = async () => {
    await andante.close({ grace: 0 });
    await life.bury();
  };
  onTestFinished(end);
  return { andante, life, end };
}
type Process = ReturnType<typeof startProcess>;

/** Runs until it is done; each process begins it unless the store has it. `id` is the user as well. */
export interface Scenario {
  run(process: Process, id: string): Promise<void>;
}

export const chat: Scenario = {
  async run({ andante }, id) {
    const attached = await andante.agents.attach("clerk", id, { userId: id });
    if (attached !== undefined) await all(attached);
    const kept = await andante.conversations.messages(id).catch(() => undefined);
    if (kept?.messages.at(-1)?.role === "assistant") return;
    const asked = { conversationId: id, userId: id };
    await all(await andante.agents.chat("clerk", [userMessage("u1")], asked));
  },
};

export const workflow: Scenario = {
  async run({ andante }, id) {
    const state = await andante.state("asking", id).catch(() => undefined);
    if (state === undefined) await andante.execute("asking", "go", { executionId: id, userId: id });
    else await andante.settled();
    const { status } = await andante.state("asking", id);
    if (status !== "completed") throw new Error(`it is ${status}`);
  },
};

/** Processes one after the other until it is done; each crashes at the write that `next` returns. */
export async function crashing(store: Store, scenario: Scenario, id: string, next: () => Crash | undefined) {
  const log: Log = [];
  let [lost, kills] = [0, 0];
  for (let count = 0; ; count++) {
    const crash = next();
    const process = startProcess(store, log, crash);
    const ready = process.andante.ready();
    const ran = ready
      .then(() => scenario.run(process, id))
      .then(
        () => "done",
        () => "failed",
      );
    const result = await inTime(Promise.race([ran, process.life.crash]), "the end of a process");
    await process.end();
    await ran;
    if (!process.life.crashed && result === "done") return { log, lost, kills };
    if (process.life.crashed) kills++;
    if (process.life.crashed && crash?.variant === "lost") lost++;
    if (count > 100) throw new Error("it never ends");
  }
}

export async function rowsOf(store: Store, userId: string) {
  const rows = await store.usage.totals({
    by: "agentId",
    userId,
    from: 0,
    to: 1e6,
    limit: 10,
    offset: 0,
    rows: 1e6,
  });
  return rows.map(({ of, calls, inputTokens, nanos, unpricedCalls }) => ({
    ...{ of, calls, inputTokens, nanos, unpricedCalls },
  }));
}

/** The tokens that the budget of the user has counted, and those that calls in flight hold. */
export async function budgetOf(store: Store, subject: string) {
  const budget = `user/${366 * 86_400_000}/tokens`;
  const [account] = await store.budgets.accounts({ budget, subject, at: Date.now(), limit: 1 });
  return account && { used: account.used, held: account.held };
}
