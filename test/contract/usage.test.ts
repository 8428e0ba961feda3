// GET /api/usage: tokens and money of models, and who sees which of them.
import { Agent, createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createClient } from "../../packages/client/src/index.ts";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { dataOf, errorOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const usage = { input: 1000, output: 100, cached: 400 };
const replying = () => controlledModel(() => ({ text: ["done"], usage }));
const prices = { "scripted/scripted": { input: 10, cached: 1, output: 100 } };
/** 600 tokens for 10, 400 for 1 and 100 for 100, each for a million. */
const each = 0.0164;

function hostOf() {
  const writer = new Agent({ id: "writer", model: replying() });
  const asking = createWorkflow({ id: "asking", input: z.object({}) }).andAgent({
    ...{ id: "ask", agent: new Agent({ id: "inner", model: replying() }), prompt: "go" },
  });
  return { agents: { writer }, workflows: { asking }, prices };
}

const day = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/);

test("usage is summed up by each dimension, and read by page", async () => {
  const server = await serveForTest(hostOf());
  const started = await server.post("/workflows/asking/execute", { input: {} });
  const { usage: used } = dataOf(started);
  expect(used).toMatchObject({ calls: 1, money: each });
  await server.post("/agents/writer/text", { input: "hi" });
  await server.post("/agents/writer/text", { input: "hi", options: { conversationId: "talk" } });
  const sums = { cachedInputTokens: 400, cacheWriteTokens: 0, reasoningTokens: 0, unpricedCalls: 0 };
  const one = { calls: 1, inputTokens: 1000, outputTokens: 100, ...sums, money: each };
  const two = {
    ...one,
    calls: 2,
    inputTokens: 2000,
    outputTokens: 200,
    cachedInputTokens: 800,
    money: 2 * each,
  };
  const three = { ...one, calls: 3, inputTokens: 3000, outputTokens: 300, cachedInputTokens: 1200 };
  const total = { ...three, money: 0.0492 };
  const by = async (query: string) => dataOf(await server.get(`/api/usage?by=${query}`));
  expect(await by("agent")).toEqual({
    ...{ by: "agent", from: day, to: day, nextCursor: null, total },
    rows: [
      { key: "writer", ...two },
      { key: "inner", ...one },
    ],
  });
  expect(await by("day")).toMatchObject({ rows: [{ key: day, ...total }] });
  expect(await by("model")).toMatchObject({ rows: [{ key: "scripted/scripted", ...total }] });
  expect(await by("workflow")).toMatchObject({ rows: [{ key: null }, { key: "asking", ...one }] });
  expect(await by("user")).toMatchObject({ rows: [{ key: null, ...total }] });
  expect(await by("agent&agentId=inner&workflowId=asking")).toMatchObject({ rows: [{ key: "inner" }] });
  expect(await by("agent&from=1999-01-01&to=2000-01-01")).toMatchObject({
    ...{ from: "1999-01-01", to: "1999-12-31", rows: [], total: { calls: 0, money: null } },
  });
  const first = await by("agent&limit=1");
  expect(listOf(first, "rows")).toMatchObject([{ key: "writer" }]);
  const next = await by(`agent&limit=1&cursor=${first.nextCursor}`);
  expect(next).toMatchObject({ nextCursor: null, rows: [{ key: "inner" }], total });
  const client = createClient({ baseUrl: server.url });
  expect((await client.usage({ by: "agent", agentId: "inner" })).total.money).toBe(each);
});

test("queries that cannot be answered are refused", async () => {
  const server = await serveForTest(hostOf());
  for (const query of ["", "?by=hour", "?by=day&limit=0", "?by=day&cursor=x", "?by=day&from=0001-01-01"])
    errorOf(await server.get(`/api/usage${query}`), 400);
});

test("a caller that sees only its own executions sees only its own usage", async () => {
  const server = await serveForTest({ ...hostOf(), auth: provider(), authorize: () => "own" });
  const [ada, bob] = [bearer(await tokenFor("ada")), bearer(await tokenFor("bob"))];
  await server.post("/agents/writer/text", { input: "hi" }, ada);
  await server.post("/agents/writer/text", { input: "hi" }, bob);
  const own = dataOf(await server.get("/api/usage?by=user", ada));
  expect(own).toMatchObject({ rows: [{ key: "ada", calls: 1 }], total: { calls: 1 } });
  expect(errorOf(await server.get("/api/usage?by=user&userId=bob", ada), 403)).toBe(
    "Not allowed: usage.read",
  );
});
