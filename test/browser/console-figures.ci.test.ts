// The console in a real Chromium, with more than a page of it: figures of steps, a long inbox, many replayed at once.
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest({ workflows: houseWorkflows, agents: houseAgents });
  const { andante } = server;
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);

  beforeEach(async () => {
    page = await openPage(browser, (what) => complaints.push(what));
    await page.setViewportSize({ width: 1440, height: 900 });
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("a workflow shows the duration and the failures of each step, in Home's figures too", async () => {
    for (const card of [undefined, undefined, "declined"])
      await andante.execute("invoice", { customer: "shop-1", ...(card && { card }) });
    await open("/workflows/invoice?tab=steps");
    const rows = page.locator(".step-figures tbody tr");
    await eventually(() => rows.first().locator("td").nth(4).textContent()).toBe("3");
    await eventually(() => rows.first().locator("td").nth(3).textContent()).toMatch(/ms|s/);
    const failed = (await rows.locator("td:last-child").allTextContents()).map(Number);
    expect(failed.reduce((sum, each) => sum + each, 0)).toBe(1);
    const graph = async () => (await page.locator(".step-node").allTextContents()).join("\n");
    await eventually(graph).toMatch(/p95 \d/);
    await eventually(graph).toContain("1 failed");
    await open("/");
    const figure = (label: string) => page.locator(".figure", { hasText: label }).locator(".big");
    await eventually(() => figure("Completed, last hour").textContent()).toBe("2");
    await eventually(() => figure("Failed, last hour").textContent()).toBe("1");
  });

  test("the nodes show their load, and a workflow its definitions and parked executions", async () => {
    const { executionId } = await andante.execute("publish", { topic: "rain" });
    await open("/nodes");
    const row = page.locator(".nodes tbody tr");
    await eventually(() => row.count()).toBe(1);
    await eventually(() => row.textContent()).toMatch(
      new RegExp(`pid ${process.pid} · respondsalive(now|\\d+\\ss ago)0`),
    );
    await eventually(() => row.textContent()).toMatch(/of 1.000/);
    await open("/workflows/publish?tab=definitions");
    await eventually(() => page.getByRole("region", { name: "Definitions" }).textContent()).toMatch(
      /current.*draft/,
    );
    await page.getByText("No execution is parked").waitFor();
    const graph = async () => (await page.locator(".step-node").allTextContents()).join("\n");
    await eventually(graph).toMatch(/p95 .* tokens/);
    await andante.cancel("publish", executionId);
  });

  test("a long inbox is counted exactly, read page by page, searched, sorted, and its filters can be saved", async () => {
    const ask = (n: number, userId?: string) =>
      andante.execute("refund", { order: `ord_${n}`, amount: 1100 + n, reason: "returned" }, { userId });
    for (let n = 0; n < 105; n += 1) await ask(n);
    await andante.execute("publish", { topic: "rivers" });
    await open("/inbox");
    const entries = page.locator(".inbox-item");
    await eventually(() => entries.count()).toBe(100);
    await eventually(() => entries.first().textContent()).toContain("1100");
    await page.getByRole("link", { name: "refund 105" }).waitFor();
    await page.getByRole("link", { name: "Everything 106" }).waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await eventually(() => entries.count()).toBe(106);
    await eventually(() => entries.last().textContent()).toContain("publish");
    const lit = () => page.locator(".inbox-filters .chip.on").allTextContents();
    await eventually(lit).toEqual(["Everything 106"]);
    await page.getByRole("link", { name: "publish 1" }).click();
    await eventually(() => entries.count()).toBe(1);
    await eventually(lit).toEqual(["publish 1"]);
    await page.getByRole("link", { name: "Everything 106" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("ORD_77");
    await eventually(() => entries.allTextContents()).toEqual([expect.stringContaining("€ 1177")]);
    await page.getByRole("button", { name: "Save this filter" }).click();
    await page.getByLabel("Search the inbox").fill("");
    await eventually(() => entries.count()).toBe(106);
    await ask(200, "zoe");
    await ask(201, "ada");
    await page.getByLabel("Order").selectOption("user");
    await page.getByRole("button", { name: "Show more" }).click();
    await eventually(async () => (await entries.allTextContents()).slice(-2)).toEqual([
      expect.stringContaining("ada"),
      expect.stringContaining("zoe"),
    ]);
    // All refunds have the same deadline, which states its effect; the post has none and is last.
    await page.getByLabel("Order").selectOption("deadline");
    await eventually(() => entries.first().textContent()).toContain("answers “no” in 2 h");
    await page.getByRole("button", { name: "Show more" }).click();
    await eventually(() => entries.last().textContent()).toContain("publish");
    await page.reload();
    await page.getByRole("link", { name: "“ORD_77”", exact: true }).click();
    await eventually(() => entries.count()).toBe(1);
    await open("/");
    const figure = page.locator(".figure", { hasText: "Waiting for a person" });
    await eventually(() => figure.locator(".big").textContent()).toBe("108");
    await eventually(() => figure.textContent()).toMatch(/next deadline in \d/);
  });

  test("Home offers Yes and No where that is the question, and the form opens with the choice; the answers of the day are counted", async () => {
    const { andante, url } = await serveForTest({ workflows: houseWorkflows, agents: houseAgents });
    const asked = await andante.execute("refund", { order: "o", amount: 1240, reason: "returned" });
    await page.goto(`${url}/console/`);
    const row = page.locator(".wait-row");
    const no = row.getByRole("link", { name: "Decline…" });
    await no.waitFor();
    await eventually(() => row.getByRole("link", { name: "Approve…" }).count()).toBe(1);
    await no.click();
    const checked = page.locator("[role=radio][aria-checked=true]");
    await eventually(() => checked.allTextContents()).toEqual(["No"]);
    // Nothing is sent before the form is.
    expect((await andante.state("refund", asked.executionId)).status).toBe("suspended");
    // The choice is of this question alone.
    const other = await andante.execute("refund", { order: "o", amount: 1100, reason: "returned" });
    await page.locator(".inbox-item", { hasText: "€ 1100" }).click();
    await page.getByRole("heading", { name: "Approve the refund of € 1100" }).waitFor();
    await page.getByRole("radio", { name: "Yes" }).waitFor();
    expect(await checked.count()).toBe(0);
    await andante.cancel("refund", other.executionId);
    await page.goto(`${url}/console/`);
    await no.click();
    await eventually(() => checked.allTextContents()).toEqual(["No"]);
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await page.getByText("Nothing waits for a person").waitFor();
    await eventually(async () => (await andante.state("refund", asked.executionId)).result).toEqual(
      expect.objectContaining({ paid: 0 }),
    );
    await page.getByText(/^Answered today: 1 · median wait /).waitFor();
  });

  test("many are replayed at once, after a question, with their progress", async () => {
    await open("/executions?workflowId=invoice");
    await eventually(() => page.locator(".grid-row").count()).toBe(3);
    await page.getByLabel("Choose all that are shown").check();
    await page.getByRole("button", { name: "Replay…" }).click();
    await page.getByRole("button", { name: "Replay 3 executions" }).click();
    await eventually(() => page.locator(".grid-row").count()).toBe(6);
  });

  test("an open question in the inbox stays when it is answered elsewhere; a double click answers one alone", async () => {
    // Nothing else waits on this one.
    const { andante, url } = await serveForTest({ workflows: houseWorkflows, agents: houseAgents });
    const ask = (amount: number) => andante.execute("refund", { order: "o", amount, reason: "returned" });
    const waiting = async () =>
      (await andante.list({ workflowId: "refund", status: "suspended" })).executions;
    const { executionId } = await ask(1101);
    for (const amount of [1102, 1103, 1104]) await ask(amount);
    await page.goto(`${url}/console/inbox`);
    await page.getByRole("heading", { name: "Approve the refund of € 1101" }).waitFor();
    // Nothing is decided before a person does.
    expect(await page.locator("[role=radio][aria-checked=true]").count()).toBe(0);
    await page.getByLabel(/^Note/).fill("for 1101 alone");
    await andante.resume("refund", executionId, { approved: false });
    await page.getByText("This no longer waits").waitFor();
    await eventually(() => page.getByLabel(/^Note/).inputValue()).toBe("for 1101 alone");
    await page.getByRole("button", { name: "Skip" }).click();
    await page.getByRole("heading", { name: "Approve the refund of € 1102" }).waitFor();
    await page.getByRole("radio", { name: "Yes" }).click();
    await page.getByRole("button", { name: "Answer and continue" }).dblclick({ delay: 60 });
    await page.getByRole("heading", { name: "Approve the refund of € 1103" }).waitFor();
    await page.getByText("Answered: Approve the refund of € 1102").waitFor();
    expect(await waiting()).toHaveLength(2);
  });

  test("a key that is held down starts a workflow once", async () => {
    let starts = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/workflows/measure/execute")) starts += 1;
    });
    await open("/workflows/measure?tab=run");
    await page.getByLabel(/^Text/).fill("one two");
    await page.keyboard.down("Control");
    for (let n = 0; n < 5; n += 1) await page.keyboard.down("Enter");
    await page.locator(".heading .pill").waitFor();
    expect(starts).toBe(1);
  });
});
