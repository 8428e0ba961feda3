// The console in a real Chromium: what is copied works outside of it, traces and executions lead to each other, acts on many
// tell how far they are, a chat tells its times and what waits, and all of it works below a base path.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { openBrowser, openPage } from "./open-browser.ts";

const run = promisify(execFile);
const eventually = (look: () => unknown) => expect.poll(look, { timeout: 15_000, interval: 20 });

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest({
    workflows: houseWorkflows,
    agents: houseAgents,
    basePath: "/flows",
  });
  const { andante } = server;
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);
  const copied = async (button: string): Promise<string> => {
    await page.getByRole("button", { name: button }).click();
    return page.evaluate("navigator.clipboard.readText()");
  };

  beforeEach(async () => {
    page = await openPage(browser, (what) => complaints.push(what));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("an execution copied as curl runs in a shell, copied as code in a program", async () => {
    const { executionId } = await andante.execute("measure", { text: 'it\'s one "two" $three' });
    await open(`/executions/${executionId}`);
    const { stdout } = await run("sh", ["-c", await copied("Copy as curl")]);
    expect(JSON.parse(stdout).data).toMatchObject({ status: "completed", result: { words: 4 } });
    const code = await copied("Copy as code");
    const flags = ["--conditions=andante-source", "--input-type=module", "-e", code];
    const { stdout: told } = await run(process.execPath, flags);
    expect(told).toMatch(/completed .*words: 4/);
    expect((await andante.list({ workflowId: "measure" })).executions).toHaveLength(3);
  });

  test("an execution leads to its trace, whose spans are a waterfall, and the trace back to it", async () => {
    const { executionId } = await andante.execute("measure", { text: "one two" });
    await open(`/executions/${executionId}`);
    await page.getByRole("link", { name: "Trace →" }).click();
    const spans = page.getByRole("region", { name: "Spans" });
    await spans.getByRole("button", { name: /count\/words/ }).click();
    await eventually(() => page.getByRole("complementary").locator("h3").textContent()).toContain("words");
    expect(await spans.locator(".track i").count()).toBe(await spans.locator(".fall").count());
    await page.getByRole("link", { name: /^Open execution/ }).click();
    await eventually(() => new URL(page.url()).pathname).toBe(`/flows/console/executions/${executionId}`);
    await page.locator(".event").first().waitFor();
  });

  test("many are replayed one after the other, and a bar tells how far it is", async () => {
    for (const customer of ["shop-1", "shop-2"]) await andante.execute("invoice", { customer });
    let asked = 0;
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    await page.route("**/replay", async (route) => {
      asked += 1;
      if (asked === 2) await held;
      await route.continue();
    });
    await open("/executions?workflowId=invoice");
    await eventually(() => page.locator(".grid-row").count()).toBe(2);
    await page.getByLabel("Choose all that are shown").check();
    await page.getByRole("button", { name: "Replay…" }).click();
    await page.getByRole("button", { name: "Replay 2 executions" }).click();
    const bar = page.getByRole("progressbar", { name: "Progress" });
    await eventually(() => bar.getAttribute("value")).toBe("0.5");
    letThrough();
    await eventually(() => page.locator(".grid-row").count()).toBe(4);
    await eventually(() => bar.count()).toBe(0);
  });

  test("a chat tells how long its tools and its first word took, and the list which one waits", async () => {
    await open("/agents/assistant?chat=c-1");
    await page.getByLabel("Message to Assistant").fill("Delete customer 8813");
    await page.keyboard.press("Enter");
    const mark = page.locator(".talk", { hasText: "needs your word" });
    await mark.waitFor();
    await eventually(() => page.locator(".heading").textContent()).toMatch(/first word \d/);
    const looked = page.getByRole("region", { name: "Tool findCustomer" });
    await eventually(() => looked.locator(".took").textContent()).toMatch(/^\d+ ms$|^\d.*s$/);
    await page.getByRole("button", { name: "Deny" }).click();
    await eventually(() => mark.count()).toBe(0);
  });
});
