// The frame of the console in a real Chromium: missing code after a restart or a deploy, data that is on its way, phones, and
// the keys of every page.
import type { Page, Route } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { openBrowser, openPage } from "./open-browser.ts";

const eventually = (look: () => unknown) => expect.poll(look, { interval: 20 });

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const house = { workflows: houseWorkflows, agents: houseAgents, logs: { level: "info" as const } };
  const server = await serveForTest(house);
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);
  const heading = () => page.locator("main h1").textContent();
  const goTo = (name: string) => page.getByRole("link", { name, exact: true }).click();

  beforeEach(async () => {
    page = await openPage(browser, (what) => complaints.push(what));
    await page.setViewportSize({ width: 1440, height: 900 });
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("a page whose code is missing while the server restarts loads itself when the server is back", async () => {
    await open("/traces");
    await eventually(heading).toBe("Traces");
    const stop = (route: Route) => route.abort("connectionrefused");
    await page.route("**/*", stop);
    await goTo("Logs");
    await page.getByText("could not be loaded").waitFor();
    await page.unroute("**/*", stop);
    await eventually(heading).toBe("Logs");
  });

  test("after a deploy the files of the old console are gone: the next page loads the new one", async () => {
    await open("/traces");
    await eventually(heading).toBe("Traces");
    let isOld = true;
    page.on("request", (request) => {
      if (request.isNavigationRequest()) isOld = false;
    });
    await page.route("**/assets/*", (route) => (isOld ? route.fulfill({ status: 404 }) : route.continue()));
    // A dialog leaves the page as it is, with the text in it.
    await page.keyboard.press("?");
    await page.getByRole("button", { name: "Load the page again" }).waitFor();
    await goTo("Workflows");
    await eventually(() => page.locator(".definition").count()).toBe(5);
    expect(isOld).toBe(false);
  });

  test("the keys of the page are shown by ?, and the first Tab skips the side bar", async () => {
    await open("/traces");
    await eventually(heading).toBe("Traces");
    await page.keyboard.press("?");
    await eventually(() => page.getByRole("dialog", { name: "Keys" }).textContent()).toContain(
      "next and previous event",
    );
    await page.keyboard.press("Escape");
    await page.reload();
    await eventually(heading).toBe("Traces");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
  });

  test("the frame is there before the server's status, and a skeleton before the rows", async () => {
    const held: Route[] = [];
    await page.route(/\/api\/(server|executions\?)/, (route) => void held.push(route));
    await open("/executions");
    await page.getByRole("link", { name: "Executions" }).waitFor();
    await page.getByRole("status", { name: "Loading" }).waitFor();
    await eventually(() => held.length).toBeGreaterThan(0);
    for (const route of held.splice(0)) {
      if (route.request().url().includes("/api/server")) await route.continue();
      else held.push(route);
    }
    await page.locator(".filters").waitFor();
    await page.getByRole("status", { name: "Loading" }).waitFor();
  });

  test("on a phone log lines are readable, the connection and the theme in reach, and an agent leads to its conversations", async () => {
    await server.andante.execute("refund", { order: "ord_1", amount: 1, reason: "returned" });
    await server.andante.agents.text("assistant", "How many orders?", { conversationId: "c-1" });
    await page.setViewportSize({ width: 390, height: 844 });
    await open("/logs");
    const message = page.locator(".log-line .message", { hasText: "order found" }).first();
    await message.waitFor();
    expect((await message.boundingBox())?.width).toBeGreaterThan(300);
    await eventually(() => page.locator(".foot").getByRole("status").textContent()).toBe("Live");
    expect(await page.locator(".foot").getByRole("status").isVisible()).toBe(true);
    await page.getByRole("button", { name: /^(Dark|Light)$/ }).click();
    await open("/agents/assistant?chat=c-2");
    await page.locator(".talk").first().click();
    await eventually(() => new URL(page.url()).searchParams.get("chat")).toBe("c-1");
  });
});
