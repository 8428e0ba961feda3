// The tools for clients of MCP in the console, in a real Chromium, with the users and programs that have called them.
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mcpClient } from "../mcp/client.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const expose = ["measure", "assistant"];
  const mcp = { expose, names: { measure: "measure_text" }, operator: true, wait: 5000 };
  const house = { workflows: houseWorkflows, agents: houseAgents };
  const { url, andante } = await serveForTest({ ...house, mcp });
  let page: Page;
  const complaints: string[] = [];

  beforeEach(async () => {
    page = await openWatchedPage(browser, (problem) => complaints.push(problem));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("each tool has its definition, its schemas, and the clients that have called it", async () => {
    await andante.execute("measure", { text: "not by a client" });
    await page.goto(`${url}/console/`);
    await page.getByRole("link", { name: "MCP" }).click();
    const tool = page.getByRole("region", { name: "measure_text", exact: true });
    await eventually(() => tool.textContent()).toContain("Counts words and characters side by side");
    await eventually(() => tool.textContent()).toContain("None of the newest 100 executions");
    await page
      .getByRole("region", { name: "inbox_decide", exact: true })
      .getByText("for operators")
      .waitFor();
    const { call } = mcpClient(url);
    await call("measure_text", { text: "one two" });
    await call("measure_text", { text: "three" });
    // The page follows without a reload.
    await eventually(() => tool.locator("tbody tr").allTextContents()).toEqual([
      expect.stringMatching(/^test–2 executions by test/),
    ]);
    await tool.getByText("Schemas").click();
    await eventually(() =>
      tool.getByRole("region", { name: "Input of measure_text" }).textContent(),
    ).toContain("minLength");
    await tool.getByRole("link", { name: /^2/ }).click();
    await eventually(() => page.locator(".grid-row").count()).toBe(2);
    expect(page.url()).toContain("tag=mcp%3Atest");
  });

  test("a host without MCP has a page that says so, and no request fails", async () => {
    const { url: other } = await serveForTest(house);
    const failed: string[] = [];
    page.on("response", (response) => response.status() >= 400 && failed.push(response.url()));
    await page.goto(`${other}/console/mcp`);
    await page.getByRole("heading", { name: "MCP is off" }).waitFor();
    await page.goto(`${other}/console/agents/assistant`);
    await page.locator(".composer").waitFor();
    await page.getByText(/^Live$/).waitFor();
    expect(failed).toEqual([]);
  });
});
