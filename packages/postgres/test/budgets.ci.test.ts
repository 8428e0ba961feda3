// Three nodes on one database at the edge of a budget.
import { Agent, type Andante, createAndante, createLogger, createWorkflow } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../core/test/support/controlled-model.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

/** Calls of the model at once, and in all. */
const calls = { now: 0, most: 0, all: 0 };
const overlap = Promise.withResolvers<void>();
/** Tokens of one call. */
const each = 2_000;

const model = controlledModel(() => ({
  text: ["done"],
  usage: { input: 1_000, output: 1_000 },
  hold: async (piece) => {
    if (piece === 0) {
      calls.all++;
      calls.now++;
      calls.most = Math.max(calls.most, calls.now);
      // The first call ends when another one is under way beside it.
      if (calls.now > 1) overlap.resolve();
      await overlap.promise;
      // Other nodes get time to begin calls of their own.
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    } else calls.now--;
  },
}));
const agent = new Agent({ id: "clerk", model, maxOutputTokens: 1_000, instructions: "x".repeat(900) });
const asking = createWorkflow({ id: "asking", input: z.object({}) }).andAgent({
  ...{ id: "ask", agent, prompt: "go" },
});
/** Twelve calls and the half of one. */
const limit = 12.5 * each;

let server: PostgresServer;
const nodes: Andante[] = [];
beforeAll(async () => {
  server = await startPostgres();
  for (let count = 0; count < 3; count++) {
    const node = createAndante({
      store: postgresStore({ url: server.url, schema: "budgets" }),
      ...{ agents: { clerk: agent }, workflows: { asking }, logger: createLogger({ level: "silent" }) },
      budgets: [
        { per: "all", window: "366d", tokens: limit },
        { per: "user", window: "366d", tokens: 100 * limit },
      ],
    });
    nodes.push(node);
    await node.ready();
  }
});
afterAll(async () => {
  for (const node of nodes) await node.close({ grace: 0 });
  await server.remove();
});

test("three nodes that work side by side exceed a budget by one call at most", {
  timeout: 120_000,
}, async () => {
  const asked = nodes.flatMap((node, index) =>
    Array.from({ length: 10 }, (_, call) => {
      const userId = `user-${index}-${call % 3}`;
      if (call % 2 === 0) return node.agents.text("clerk", "go", { userId }).catch(() => undefined);
      return node.execute("asking", {}, { userId });
    }),
  );
  await Promise.all(asked);
  const [node] = nodes;
  const [all] = (await node?.budgets()) ?? [];
  // Twelve calls fit, and the thirteenth begins before the budget is used up.
  expect(calls.all).toBe(13);
  expect(calls.most).toBeGreaterThan(1);
  await expect
    .poll(async () => (await node?.budgets())?.[0])
    .toMatchObject({ used: 13 * each, held: 0, limit });
  expect(all?.per).toBe("all");
  const { total } = (await node?.usage({ by: "day" })) ?? {};
  await expect.poll(async () => (await node?.usage({ by: "day" }))?.total.calls).toBe(13);
  expect(total?.money).toBeNull();
});
