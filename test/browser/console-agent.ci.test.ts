// The console's agent page in a real Chromium: the playground, who decided about a tool call, the inbox of an agent's chats,
// text that runs from right to left; and the times in the heading of an execution.
import { Agent, createWorkflow } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider, tokenFor } from "../support/tokens.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

const slow = createWorkflow({ id: "slow", name: "Slow", input: z.object({}) })
  .andThen({ id: "work", execute: () => new Promise((resolve) => setTimeout(resolve, 30)) })
  .andThen({ id: "ask", execute: ({ suspend, resumeData }) => resumeData ?? suspend("Go on?") });

const isSummary = ({ prompt }: { readonly prompt: readonly { readonly content: unknown }[] }) =>
  JSON.stringify(prompt[0]?.content ?? "").includes("record of a conversation");

/** Summarises all messages but the newest question once they have more than about sixty tokens. */
const rememberer = new Agent({
  id: "rememberer",
  name: "Rememberer",
  memory: { compact: { above: 60, keep: 1 } },
  model: scriptedModel(
    Array.from(
      { length: 20 },
      () => (call) =>
        isSummary(call) ? "They asked for rivers." : "A reply of some words, long enough to count.",
    ),
  ),
});

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const workflows = { ...houseWorkflows, slow };
  const server = await serveForTest({
    ...{ workflows, agents: { ...houseAgents, rememberer } },
    tracing: { content: true },
  });
  const guarded = await serveForTest({
    ...{ workflows, agents: houseAgents, auth: provider() },
    authorize: ({ userId, action }) => (action === "agents.playground" ? userId === "ada" : true),
  });
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);
  const say = async (text: string) => {
    await page.getByRole("textbox", { name: /^Message to/ }).fill(text);
    await page.keyboard.press("Enter");
  };
  const lastMessage = () => page.locator(".message").last().textContent();

  beforeEach(async () => {
    page = await openWatchedPage(browser, (what) => complaints.push(what));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("the next replies of one chat have another model, temperature and instructions, also after a reload", async () => {
    await open("/agents/assistant?chat=p-1");
    const fold = page.getByRole("button", { name: "Playground", exact: true });
    await fold.click();
    await eventually(() => fold.getAttribute("aria-expanded")).toBe("true");
    const instructions = page.getByLabel("Instructions", { exact: true });
    await eventually(() => instructions.inputValue(), "it starts with those of the agent").toContain(
      "support team",
    );
    await page.getByLabel("Model", { exact: true }).selectOption("gpt-5-mini");
    await page.getByLabel("Temperature", { exact: true }).fill("0.2");
    await instructions.fill("Arrr, speak like a pirate.");
    const words = page.locator(".playground").getByRole("status");
    await eventually(() => words.textContent()).toBe(
      "Replies with gpt-5-mini, temperature 0.2, other instructions",
    );
    await say("How many orders?");
    await eventually(lastMessage).toContain("Fourteen, at 0.2 degrees, as told: Arrr,");
    // The record of the reply names the model, and has the prompt where content is recorded.
    const call = page.locator(".model-calls li").first();
    await eventually(() => call.textContent()).toContain("gpt-5-mini");
    await call.getByText("Prompt", { exact: true }).click();
    await eventually(() => call.getByRole("region", { name: "Prompt", exact: true }).textContent()).toContain(
      "How many orders?",
    );
    await page.reload();
    await eventually(() => words.textContent()).toContain("gpt-5-mini");
    await page.locator(".message").last().hover();
    await page.getByRole("button", { name: "Reply again" }).click();
    await eventually(() => page.locator(".message").count()).toBe(2);
    await page.getByRole("button", { name: "Back to the agent's own" }).click();
    await eventually(() => words.count()).toBe(0);
    await say("How many orders?");
    await eventually(lastMessage).toContain("Fourteen in total");

    await open("/agents/assistant?chat=p-2");
    await say("How many orders?");
    await eventually(lastMessage).toContain("Fourteen in total");
    expect((await server.andante.conversations.messages("p-1")).messages).toHaveLength(4);
  });

  test("it is shown to those who may use it", async () => {
    const openAs = async (name: string) => {
      const token = await tokenFor(name);
      await page.addInitScript(`localStorage.setItem("andante-token", ${JSON.stringify(token)})`);
      const asked = page.waitForResponse(/\/api\/agents\/assistant\/playground$/);
      await page.goto(`${guarded.url}/console/agents/assistant`);
      await page.getByRole("textbox", { name: /^Message to/ }).waitFor();
      return (await asked).status();
    };
    expect(await openAs("ada")).toBe(200);
    await page.getByRole("button", { name: "Playground" }).waitFor();
    expect(await openAs("bob")).toBe(403);
    expect(await page.getByRole("button", { name: "Playground" }).count()).toBe(0);
  });

  /** A chat of the assistant in which the deletion of a customer waits for approval. */
  const askForDeletion = async (chat: string) => {
    await open(`/agents/assistant?chat=${chat}`);
    await say("Delete customer 8813");
    const card = page.getByRole("region", { name: "Tool deleteCustomer" });
    await card.getByRole("button", { name: "Allow" }).waitFor();
    return card;
  };

  test("a call shows the person, the decision and its duration, at once and after a reload", async () => {
    const card = await askForDeletion("p-3");
    await card.getByLabel("Reason", { exact: true }).fill("a legal hold");
    await card.getByRole("button", { name: "Deny" }).click();
    const record = card.locator(".decided");
    // Without authentication it is not known who decides.
    await eventually(() => record.textContent()).toMatch(/^Denied after [\d.]+ m?s: a legal hold$/);
    await page.reload();
    await eventually(() => record.textContent()).toMatch(/^Denied after [\d.]+ m?s: a legal hold$/);
    await eventually(() => record.getAttribute("title")).toMatch(/\d\d:\d\d/);

    await askForDeletion("p-4");
    const { items } = await server.andante.live.waiting({ limit: 10 });
    const approvalId = items.find(({ conversationId }) => conversationId === "p-4")?.approvalId ?? "";
    const decision = { approvalId, approved: true, input: { id: "cus_7", reason: "asked for" }, by: "olga" };
    await server.andante.agents.decide("p-4", decision);
    await eventually(() => record.textContent()).toMatch(/^Allowed with an edited input by olga after /);
  });

  test("a call is decided in the chat although a message without a reply follows it", async () => {
    const card = await askForDeletion("p-7");
    const message = { id: "later", role: "user", parts: [{ type: "text", text: "Are you there?" }] };
    // A process that ended before it began the turn of the message leaves it so.
    await server.andante.store.conversations.post({
      ...{ key: "later", conversationId: "p-7", agentId: "assistant", userId: null, title: null },
      ...{ messageId: "later", body: JSON.stringify(message), again: false, waits: true, at: Date.now() },
    });
    await page.reload();
    await page.getByText("Are you there?").waitFor();
    await card.getByRole("button", { name: "Allow" }).click();
    await eventually(() => card.textContent()).toContain("Allowed after");
    const messages = page.locator(".message");
    await eventually(() => messages.count()).toBe(3);
    await eventually(() => messages.nth(1).textContent()).toContain("Done.");
    const { items } = await server.andante.live.waiting({ agentId: "assistant", limit: 10 });
    expect(items.map(({ conversationId }) => conversationId)).not.toContain("p-7");
  });

  test("the inbox is narrowed to the chats of one agent, and the filter can be saved", async () => {
    await askForDeletion("p-5");
    await server.andante.execute("slow", {});
    await open("/inbox");
    const items = page.locator(".inbox-item");
    await eventually(() => items.count()).toBe(2);
    await page.getByRole("link", { name: "Chats of assistant 1" }).click();
    await eventually(() => items.count()).toBe(1);
    await eventually(() => items.first().textContent()).toContain("assistant / chat");
    expect(new URL(page.url()).searchParams.get("agentId")).toBe("assistant");
    await page.getByRole("button", { name: "Save this filter" }).click();
    await page.getByRole("link", { name: /^Everything/ }).click();
    await eventually(() => items.count()).toBe(2);
    await page.getByRole("link", { name: "Chats of assistant", exact: true }).click();
    await eventually(() => items.count()).toBe(1);
    await page.getByRole("link", { name: /^slow 1/ }).click();
    await eventually(() => items.first().textContent()).toContain("Go on?");
  });

  test("the text of a user runs in its own direction, in the chat and where it is written", async () => {
    await open("/agents/assistant?chat=p-6");
    const field = page.getByRole("textbox", { name: /^Message to/ });
    await field.fill("כמה הזמנות?");
    const directionOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).direction`);
    await eventually(() => directionOf(".composer-box textarea")).toBe("rtl");
    await page.keyboard.press("Enter");
    await page.locator(".said").waitFor();
    await eventually(() => directionOf(".said")).toBe("rtl");
    await eventually(lastMessage).toContain("Fourteen");
  });

  test("a summary is a line between the messages, which can be read and removed", async () => {
    await open("/agents/rememberer?chat=p-8");
    const messages = page.locator(".message");
    const ask = async (question: string, shown: number) => {
      await say(question);
      await eventually(() => messages.count()).toBe(shown);
      await eventually(lastMessage).toContain("long enough to count");
    };
    for (const [index, river] of ["Danube", "Rhine", "Inn"].entries()) await ask(river, 2 * index + 2);
    await page.reload();
    const line = page.locator(".summary-divider");
    const order = () => page.locator(".message .said, .summary-divider summary").allTextContents();
    const whole = ["Danube", "Rhine", "The model reads a summary of the 4 messages above", "Inn"];
    await eventually(order).toEqual(whole);
    const summary = line.getByText("They asked for rivers.");
    expect(await summary.isVisible()).toBe(false);
    await line.locator("summary").click();
    await summary.waitFor();
    await line.getByRole("button", { name: "Remove the summary" }).click();
    await eventually(() => line.count()).toBe(0);
    await page.reload();
    await eventually(order).toEqual(["Danube", "Rhine", "Inn"]);
  });

  test("the heading of an execution separates active and waiting time", async () => {
    const { executionId } = await server.andante.execute("slow", {});
    await open(`/executions/${executionId}`);
    const heading = page.locator(".heading");
    const waiting = () => heading.textContent();
    await eventually(waiting).toMatch(/started \d\d:\d\d:\d\d/);
    await eventually(waiting).toMatch(/active [\d.]+ m?s/);
    await eventually(waiting).toMatch(/waiting [\d.]+ m?s/);
    await server.andante.resume("slow", executionId, { resumeData: { ok: true } });
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("completed");
    await eventually(waiting).toMatch(/active [\d.]+ m?s.*waiting [\d.]+ m?s/);
  });
});
