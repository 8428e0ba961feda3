// Costs in the console, in a real Chromium: today on Home, of an execution, and over time with the budgets.
import { Agent, createWorkflow } from "@andante/core";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

const model = controlledModel(() => ({ text: ["done"], usage: { input: 1_000, output: 200 } }));
const writer = new Agent({ id: "writer", model, maxOutputTokens: 200 });
const publish = createWorkflow({ id: "publish", input: z.object({}) }).andAgent({
  ...{ id: "draft", agent: writer, prompt: "go" },
});

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest({
    ...{ agents: { writer }, workflows: { publish } },
    prices: { "scripted/scripted": { input: 1_000, output: 5_000 } },
    budgets: [
      { per: "all", window: "1d", money: 5 },
      { per: "user", window: "1d", tokens: 1_200, onReached: "suspend" },
    ],
  });
  const { andante } = server;
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);
  const textOf = (selector: string) => page.locator(selector).first().textContent();

  beforeEach(async () => {
    page = await openWatchedPage(browser, (what) => complaints.push(what));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("the cost of today, of an execution, and over time; the budgets with their use; a run that waits for more", async () => {
    const { executionId } = await andante.execute("publish", {}, { userId: "ada" });
    await open("/");
    await eventually(() => textOf(".cost")).toContain("cost 2.00");
    await open(`/executions/${executionId}`);
    await eventually(() => textOf(".heading")).toContain("cost 2.00");
    await open("/");
    await page.getByRole("link", { name: "All usage" }).click();
    await eventually(() => textOf(".content.usage > table:not(.budgets) tbody")).toContain("2.00");
    await page.getByRole("link", { name: "by user" }).click();
    await eventually(() => textOf(".content.usage > table:not(.budgets) tbody")).toContain("ada");
    expect(new URL(page.url()).search).toBe("?by=user");
    const budgets = page.getByRole("table", { name: "Budgets" }).locator("tbody tr");
    await eventually(() => budgets.allTextContents()).toEqual([
      expect.stringMatching(/^All calls each 24 h.*2\.00.*5\.00.*calls are refused$/),
      expect.stringMatching(/^user ada each 24 h.*1\u2009200 tokens used up.*runs wait in the inbox$/),
    ]);
    const waits = await andante.execute("publish", {}, { userId: "ada" });
    expect(waits.status).toBe("suspended");
    await open("/inbox");
    await eventually(() => textOf("main")).toContain(
      "The budget of this user of 1200 tokens is used up until",
    );
    await open(`/executions/${waits.executionId}`);
    await eventually(() => page.getByRole("status", { name: "Why it waits" }).textContent()).toMatch(
      /^Step draft waits since .* for a decision about its budget/,
    );
  });

  test("money and calls without a price have columns only when a price is known", async () => {
    const heads = page.locator(".content.usage > table:not(.budgets) th");
    const free = await serveForTest({ agents: { writer }, workflows: { publish } });
    await free.andante.execute("publish", {}, { userId: "ada" });
    await page.goto(`${free.url}/console/usage`);
    const tokens = ["Calls", "Tokens in", "from cache", "Tokens out"];
    await eventually(() => heads.allTextContents()).toEqual(["Day", "Share", ...tokens]);
    await andante.execute("publish", {}, { userId: "olga" });
    await open("/usage");
    await eventually(() => heads.allTextContents()).toEqual([
      ...["Day", "Share", "Money", ...tokens, "Unpriced calls"],
    ]);
  });
});
