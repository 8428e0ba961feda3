// Budgets over time by HTTP: how a refusal looks, and who sees how much is used.
import { Agent, createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createClient } from "../../packages/client/src/index.ts";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { dataOf, errorOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const replying = () => controlledModel(() => ({ text: ["done"] }));

function hostOf() {
  const writer = new Agent({ id: "writer", model: replying(), maxOutputTokens: 5 });
  const asking = createWorkflow({ id: "asking", input: z.object({}) }).andAgent({
    ...{ id: "ask", agent: writer, prompt: "go" },
  });
  const budgets = [
    { per: "user", window: "1d", tokens: 15 },
    { per: "all", window: "7d", tokens: 1_000_000 },
  ] as const;
  return { agents: { writer }, workflows: { asking }, budgets };
}

test("a call beyond a budget is 429 with the time until the window ends, in every form of a reply", async () => {
  const server = await serveForTest(hostOf());
  const ask = (form: string, conversationId?: string) =>
    server.post(`/agents/writer/${form}`, {
      input: "hi",
      ...(conversationId && { options: { conversationId } }),
    });
  dataOf(await ask("text"));
  for (const [form, conversationId] of [["text"], ["stream"], ["chat", "talk"], ["text", "talk"]] as const) {
    const refused = await ask(form, conversationId);
    expect(errorOf(refused, 429), form).toMatch(
      /^The budget of this user of 15 tokens is used up until .*T00:00:00/,
    );
    expect(refused.headers.get("x-error-code")).toBe("budget-used-up");
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400);
  }
  expect(listOf(dataOf(await server.get("/api/conversations")), "conversations")).toEqual([]);
});

test("the use of budgets is shown, and a caller that sees only its own sees that of its user", async () => {
  const server = await serveForTest({
    ...hostOf(),
    auth: provider(),
    authorize: ({ user }) => user?.id === "root" || "own",
  });
  const [ada, root] = [bearer(await tokenFor("ada")), bearer(await tokenFor("root"))];
  dataOf(await server.post("/agents/writer/text", { input: "hi" }, ada));
  const used = { used: 15, held: 0, limit: 15, unit: "tokens", window: 86_400_000, onReached: "refuse" };
  await expect
    .poll(async () => dataOf(await server.get("/api/budgets", root)))
    .toMatchObject({
      budgets: [
        { per: "user", subject: "ada", ...used },
        { per: "all", subject: null, used: 15 },
      ],
    });
  const own = dataOf(await server.get("/api/budgets", ada));
  expect(own).toEqual({ budgets: [expect.objectContaining({ per: "user", subject: "ada" })] });
  expect(errorOf(await server.get("/api/budgets?userId=bob", ada), 403)).toBe("Not allowed: usage.read");
  const { executionId } = dataOf(await server.post("/workflows/asking/execute", { input: {} }, root));
  const explained = dataOf(await server.get(`/api/executions/${executionId}/explain`, root));
  expect(explained).toMatchObject({
    usage: { totalTokens: 15 },
    budgets: [
      { per: "user", subject: "root", used: 15 },
      { per: "all", used: 30 },
    ],
  });
  const client = createClient({ baseUrl: server.url, token: root.authorization.replace("Bearer ", "") });
  expect((await client.budgets({ userId: "ada" })).budgets[0]).toMatchObject({ subject: "ada", used: 15 });
});
