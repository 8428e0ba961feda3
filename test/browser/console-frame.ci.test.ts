// The frame of the console in a real Chromium: missing code after a restart or a deploy, data that is on its way, phones, and
// the keys of every page.
import { createWorkflow } from "@andante/core";
import type { Page, Route } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { ShiftedClock } from "./console/seed.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

/** Sleeps, so that it has the status "running" and no slot. */
const nap = createWorkflow({ id: "nap", input: z.object({}) }).andSleep({ id: "sleep", duration: "1h" });

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const house = {
    workflows: { ...houseWorkflows, nap },
    agents: houseAgents,
    logs: { level: "info" as const },
  };
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
    await eventually(() => page.locator(".definition").count()).toBe(6);
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
    await eventually(() => page.evaluate("document.activeElement.tagName")).toBe("MAIN");
    await page.keyboard.press("Tab");
    await eventually(() => page.evaluate("document.activeElement.matches('main *')")).toBe(true);
    // Also where a list is scrolled to its chosen entry.
    await server.andante.agents.text("writer", "Write about rivers", { conversationId: "c-3" });
    await open("/agents/writer?chat=c-3");
    await page.locator(".talk.on").waitFor();
    await page.keyboard.press("Tab");
    await eventually(() => page.evaluate("document.activeElement.matches('.skip')")).toBe(true);
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

  test("every page shows a skeleton while its data is on its way, and claims nothing", async () => {
    const { executionId } = await server.andante.execute("measure", { text: "one two" });
    const asked = /\/api\/(?!server|changes)|\/(workflows|agents)(\/\w+)?$|\/ui\?|\/doc$/;
    await page.route(asked, (route) => {
      const isData = ["fetch", "xhr"].includes(route.request().resourceType());
      return isData ? undefined : route.continue();
    });
    for (const path of [
      ...["/inbox", "/executions", `/executions/${executionId}`, "/workflows", "/workflows/measure"],
      ...["/agents", "/agents/assistant", "/traces", "/traces/1", "/failures", "/usage", "/nodes", "/api"],
    ]) {
      await open(path);
      // While its code is on its way, the page has no heading and a skeleton of its own.
      await page.locator("main h1").waitFor();
      await page.locator("main").getByRole("status", { name: "Loading" }).first().waitFor();
      expect(await page.locator("main").textContent(), path).not.toMatch(/[Nn]othing|\b0\b/);
    }
  });

  test("on a phone log lines are readable, the connection and the theme in reach, and an agent leads to its conversations", async () => {
    await server.andante.execute("refund", { order: "ord_1", amount: 1, reason: "returned" });
    await server.andante.execute("invoice", { customer: "c", card: "declined" });
    await server.andante.agents.text("assistant", "How many orders?", { conversationId: "c-1" });
    await page.setViewportSize({ width: 390, height: 844 });
    await open("/logs");
    await page
      .locator(".log-line", { hasText: "the execution failed · card declined (402)" })
      .first()
      .waitFor();
    const message = page.locator(".log-line .log-text", { hasText: "order found" }).first();
    await message.waitFor();
    await eventually(async () => (await message.boundingBox())?.width).toBeGreaterThan(300);
    await eventually(() => page.locator(".foot").getByRole("status").textContent()).toBe("Live");
    await eventually(() => page.locator(".foot").getByRole("status").isVisible()).toBe(true);
    await page.getByRole("button", { name: /^(Dark|Light)$/ }).click();
    await open("/agents/assistant?chat=c-2");
    await page.locator(".talk").first().click();
    await eventually(() => new URL(page.url()).searchParams.get("chat")).toBe("c-1");
  });

  test("the numbers at the filters are those of their lists, in one row; a range is chosen; rows stay under the pointer", async () => {
    const { andante } = server;
    for (let n = 0; n < 11; n += 1)
      await andante.execute("measure", { text: "one two" }, { userId: "counted" });
    for (let n = 0; n < 3; n += 1)
      await andante.execute("invoice", { customer: "c", card: "declined" }, { userId: "counted" });
    await andante.execute("publish", { topic: "rivers" }, { userId: "counted" });
    const { executionId } = await andante.execute("publish", { topic: "rivers" }, { userId: "counted" });
    await andante.cancel("publish", executionId);
    await andante.start("nap", {}, { userId: "counted" });
    await open("/executions?userId=counted");
    const chips = page.locator(".filters .chip");
    await eventually(() => chips.allTextContents()).toEqual(
      expect.arrayContaining(["running 1", "suspended 1", "completed 11", "error 3", "cancelled 1"]),
    );
    await eventually(() => page.locator(".top").textContent()).toContain("17 in all");
    await eventually(() => page.locator(".over-time").textContent()).toBe("started, last hour");
    const lines = `new Set([...document.querySelectorAll('.filters > *')].map((each) => {
      const { top, height } = each.getBoundingClientRect();
      return Math.round(top + height / 2);
    })).size`;
    await eventually(() => page.evaluate(lines)).toBe(1);
    await page.getByRole("link", { name: /^error/ }).click();
    await eventually(() => page.locator(".grid-row").count()).toBe(3);
    await page.getByRole("link", { name: "Any status" }).click();
    const rows = page.locator(".grid-row");
    await eventually(() => rows.count()).toBe(17);
    const box = (index: number) => rows.nth(index).getByRole("checkbox");
    await box(5).click();
    await box(2).click({ modifiers: ["Shift"] });
    await eventually(() => page.locator(".bulk b").textContent()).toBe("4 selected");
    // The pointer is over the rows: a new one waits until it leaves.
    const first = () => rows.first().getByRole("link").textContent();
    const before = await first();
    await andante.execute("measure", { text: "one" }, { userId: "counted" });
    const newer = page.getByRole("button", { name: "1 newer execution: show" });
    await newer.waitFor();
    expect(await first()).toBe(before);
    await page.mouse.move(5, 5);
    await eventually(() => rows.count()).toBe(18);
    await eventually(() => newer.count()).toBe(0);
  });

  test("the numbers at the filters are of the same time as the list: of any, or of the one that is chosen", async () => {
    const clock = new ShiftedClock();
    const { andante, url } = await serveForTest({ ...house, clock });
    clock.ago = 2 * 3_600_000;
    for (let n = 0; n < 2; n += 1) await andante.execute("measure", { text: "one two" });
    clock.ago = 0;
    await andante.execute("measure", { text: "one two" });
    await page.goto(`${url}/console/executions`);
    const chips = page.locator(".filters .chip");
    const rows = page.locator(".grid-row");
    await eventually(() => chips.allTextContents()).toContain("completed 3");
    await eventually(() => rows.count()).toBe(3);
    await page.goto(`${url}/console/executions?since=1h`);
    await eventually(() => chips.allTextContents()).toContain("completed 1");
    await eventually(() => rows.count()).toBe(1);
  });

  test("a row is highlighted when its step changes, and not when the feed names its step for the first time", async () => {
    const { executionId } = await server.andante.execute("publish", { topic: "rivers" }, { userId: "lit" });
    const feeds: Route[] = [];
    await page.route("**/api/changes", (route) => void feeds.push(route));
    await open("/executions?userId=lit");
    const step = page.locator(".grid-row .muted").nth(1);
    await eventually(() => step.textContent()).toContain("waits since");
    // Notes each text of the step, and whether the row was highlighted with it.
    await page.evaluate(`{
      window.drawn = [];
      const row = document.querySelector(".grid-row");
      const note = () => window.drawn.push([row.querySelectorAll(".muted")[1].textContent, row.className]);
      new MutationObserver(note).observe(row, { attributes: true, characterData: true, childList: true, subtree: true });
    }`);
    const classesAt = (stepPath: string) =>
      page.evaluate(
        `window.drawn.flatMap(([text, name]) => text === ${JSON.stringify(stepPath)} ? [name] : [])`,
      );
    const report = async (stepPath: string) => {
      await eventually(() => feeds.length).toBeGreaterThan(0);
      const change = {
        ...{ executionId, workflowId: "publish", userId: "lit", status: "suspended", stepPath },
        ...{ sequence: 1, timestamp: new Date().toISOString() },
      };
      const events = [{ type: "open" }, { type: "changes", executions: [change], missed: 0 }];
      const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      await feeds.shift()?.fulfill({ headers: { "content-type": "text/event-stream" }, body });
      await eventually(() => classesAt(stepPath)).toContainEqual(expect.any(String));
    };
    await report("review");
    expect(await classesAt("review")).not.toContain("grid-row fresh");
    await report("approve");
    await eventually(() => classesAt("approve")).toContain("grid-row fresh");
  });

  test("filters are saved as a view, which Home marks above its threshold", async () => {
    for (let n = 0; n < 2; n += 1)
      await server.andante.execute("invoice", { customer: "c", card: "declined" }, { userId: "viewed" });
    await open("/executions?status=error&userId=viewed");
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitem", { name: "Save this view…" }).click();
    await page.getByLabel("Name").fill("Failing for viewed");
    await page.getByLabel(/^Mark it above/).fill("1");
    await page.keyboard.press("Enter");
    await goTo("Home");
    const view = page.getByRole("region", { name: "Saved views" }).getByRole("link");
    await eventually(() => view.textContent()).toBe("Failing for viewedabove 1 2");
    await page.reload();
    await view.click();
    await eventually(() => new URL(page.url()).search).toBe("?status=error&userId=viewed");
  });
});
