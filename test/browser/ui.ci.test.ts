// The pages in a real Chromium that can reach nothing but this machine.
import { createWorkflow } from "@andante/core";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { routes } from "../../packages/server/src/routes/index.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { workflows } from "../support/workflows.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

const evil = `<script>alert("1")</script><img src=x onerror="alert(2)">`;
const hostile = createWorkflow({ id: "hostile", name: evil, purpose: evil, input: z.object({}) }).andThen({
  id: "only",
  execute: () => 1,
});

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest({ workflows: { ...workflows, hostile }, auth: provider() });
  let page: Page;
  /** Requests that would have left this machine, and everything that the browser complained about. */
  const complaints: string[] = [];

  beforeEach(async () => {
    page = await openPage(browser, (what) => complaints.push(what));
    // A violation of the content security policy is an error on the console, too.
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("dialog", async (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  const operation = (tag: string, id: string) => page.locator(`#operations-${tag}-${id}`);
  const status = (tag: string, id: string) =>
    operation(tag, id).locator(".live-responses-table tbody .response-col_status").first();

  async function execute(tag: string, id: string): Promise<string> {
    const row = operation(tag, id);
    await row.locator(".opblock-summary-control").click();
    await row.getByRole("button", { name: "Try it out" }).click();
    await row.getByRole("button", { name: "Execute" }).click();
    return (await status(tag, id).textContent())?.trim() ?? "";
  }

  test("the UI lists every operation", async () => {
    await page.goto(`${server.url}/ui`);
    await page.locator(".opblock").first().waitFor();
    await eventually(() => page.locator(".opblock").count()).toBe(routes.length);
  });

  test("a call is executed by clicking", async () => {
    await page.goto(`${server.url}/ui`);
    expect(await execute("Workflows", "listWorkflows")).toMatch(/^200/);
    const answer = operation("Workflows", "listWorkflows").locator(".live-responses-table");
    await eventually(() => answer.textContent()).toContain('"success": true');
  });

  test("a protected call works with the token given to the UI", async () => {
    const token = await tokenFor("ada");
    await page.goto(`${server.url}/ui`);
    await page.locator(".auth-wrapper .authorize").click();
    await page.locator(".modal-ux input").fill(token);
    await page.locator(".modal-ux button.authorize").click();
    await page.locator(".modal-ux .btn-done").click();
    const [request, code] = await Promise.all([
      page.waitForRequest((each) => each.url().includes("/api/executions")),
      execute("Executions", "listExecutions"),
    ]);
    expect(code).toMatch(/^200/);
    expect((await request.allHeaders()).authorization).toBe(bearer(token).authorization);
  });

  test("the landing page shows a hostile name as text and leads to the UI", async () => {
    await page.goto(server.url);
    await eventually(() => page.locator("h3", { hasText: "hostile" }).textContent()).toContain(evil);
    await page.getByRole("link", { name: "Try the API" }).click();
    await page.locator(".opblock").first().waitFor();
  });
});
