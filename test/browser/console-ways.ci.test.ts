// The console in a real Chromium: copied commands work outside of it, traces and executions link to each other, actions on many
// show their progress, a chat shows its times and open approvals, its older messages load on demand, calls of the API are
// filled in, and all of it works below a base path.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

const run = promisify(execFile);
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
  const clipboard = (): Promise<string> => page.evaluate("navigator.clipboard.readText()");
  const copied = async (button: string): Promise<string> => {
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("menuitem", { name: button }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    return clipboard();
  };
  /** The browser writes the clipboard after the key: it is emptied before, and read once there is a text in it. */
  const copiedByKey = async (place: Locator): Promise<string> => {
    await page.evaluate("navigator.clipboard.writeText('')");
    await place.click();
    await page.keyboard.press("Control+c");
    await eventually(clipboard).not.toBe("");
    return clipboard();
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
    const bars = spans.locator(".track i");
    await eventually(async () => (await spans.locator(".fall").count()) - (await bars.count())).toBe(0);
    await page.getByRole("link", { name: /^Open execution/ }).click();
    await eventually(() => new URL(page.url()).pathname).toBe(`/flows/console/executions/${executionId}`);
    await page.locator(".event").first().waitFor();
  });

  test("many are replayed one after the other, and a bar shows the progress", async () => {
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

  test("a chat shows the time of its tools and of its first token, and the list which one waits", async () => {
    await open("/agents/assistant?chat=c-1");
    await page.getByLabel("Message to Assistant").fill("Delete customer 8813");
    await page.keyboard.press("Enter");
    const mark = page.locator(".talk", { hasText: "needs approval" });
    await mark.waitFor();
    await eventually(() => page.locator(".heading").textContent()).toMatch(/first token \d/);
    const looked = page.getByRole("region", { name: "Tool findCustomer" });
    await eventually(() => looked.locator(".took").textContent()).toMatch(/^\d+ ms$|^\d.*s$/);
    await page.getByRole("button", { name: "Deny" }).click();
    await eventually(() => mark.count()).toBe(0);
    const about = page.getByRole("complementary", { name: "About the agent" });
    await eventually(() =>
      about.locator(".tool-item", { hasText: "deleteCustomer" }).textContent(),
    ).toContain("approval");
    expect(await about.locator(".tool-item", { hasText: "findCustomer" }).textContent()).not.toContain(
      "approval",
    );
  });

  test("a long conversation opens at its end; older messages come on demand, above the current position", async () => {
    for (let n = 0; n < 60; n += 1)
      await andante.agents.text("writer", `question ${n}`, { conversationId: "long" });
    await open("/agents/writer?chat=long");
    const messages = page.locator(".message");
    await eventually(() => messages.count()).toBe(100);
    await eventually(() => messages.first().textContent()).toBe("question 10");
    await eventually(() => page.getByText("question 59").isVisible()).toBe(true);
    const place = async () => (await page.getByText("question 10", { exact: true }).boundingBox())?.y ?? 0;
    await page.getByRole("button", { name: "Show older messages" }).scrollIntoViewIfNeeded();
    const before = await place();
    await page.getByRole("button", { name: "Show older messages" }).click();
    await eventually(() => messages.count()).toBe(120);
    await eventually(() => messages.first().textContent()).toBe("question 0");
    await eventually(async () => Math.abs((await place()) - before)).toBeLessThan(80);
    await eventually(() => page.getByRole("button", { name: "Show older messages" }).count()).toBe(0);
  });

  test("a long trace is drawn only where one looks, and a span far below has an address", async () => {
    const { executionId } = await andante.execute("document-pipeline", { pages: 3000, milliseconds: 0 });
    const { traces } = await andante.traces.list({ executionId });
    await open(`/traces/${traces[0]?.traceId}`);
    await eventually(() => page.locator(".heading").textContent()).toMatch(/3\u2009\d{3} spans/);
    await eventually(() => page.locator(".fall").count()).toBeLessThan(80);
    const spans = page.getByRole("region", { name: "Spans" });
    await spans.focus();
    await page.keyboard.press("End");
    const last = spans.getByRole("button", { name: /each\[2999\]/ });
    await last.click();
    await eventually(() => new URL(page.url()).searchParams.get("step")).toMatch(/\w/);
    await page.reload();
    await eventually(() => last.getAttribute("data-selected")).toBe("true");
    await eventually(() => last.isVisible()).toBe(true);
  });

  test("choosing a workflow on the API page fills in a call that succeeds, in the dark too", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    await open("/api");
    const operation = page.locator("#executeWorkflow");
    for (const [workflowId, field, result] of [
      ["measure", '"text"', '"words": '],
      ["invoice", '"customer"', '"sent": '],
    ] as const) {
      await page.getByLabel("Workflow", { exact: true }).selectOption(workflowId);
      await eventually(() => operation.getByLabel("Request body").inputValue()).toContain(field);
      await operation.getByRole("button", { name: "Send", exact: true }).click();
      const response = operation.getByRole("region", { name: "Response", exact: true });
      await eventually(() => response.textContent()).toContain(result);
      await eventually(() => response.locator("p").first().textContent()).toMatch(/^200/);
    }
    const ground = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector("${selector}")).backgroundColor`);
    await eventually(() => ground("#executeWorkflow")).toBe("rgb(27, 27, 22)");
    await eventually(() => ground("#executeWorkflow textarea")).toBe("rgb(20, 20, 15)");
  });

  test("the landing page lists registered workflows and agents; its calls work as they are copied; it leads to the console", async () => {
    await page.goto(server.url);
    const part = page.locator("section", { has: page.locator("h3", { hasText: "Measure a text" }) });
    const { stdout } = await run("sh", ["-c", await copiedByKey(part.locator("pre"))]);
    expect(JSON.parse(stdout).data).toMatchObject({ status: "completed" });
    const asks = page.locator("section", { has: page.locator("h3", { hasText: "Writer" }) });
    const reply = await run("sh", ["-c", await copiedByKey(asks.locator("pre"))]);
    expect(JSON.parse(reply.stdout).data.text).toContain("Walking");
    await eventually(() =>
      page.evaluate("getComputedStyle(document.querySelector('h1')).fontFamily"),
    ).toMatch(/^Inter/);
    await page.evaluate("document.fonts.ready.then(() => undefined)");
    expect(
      await page.evaluate(
        "[...document.fonts].some((font) => font.family === 'Inter' && font.status === 'loaded')",
      ),
    ).toBe(true);
    await page.getByRole("link", { name: "Open the console" }).click();
    await page.locator(".home").waitFor();
  });
});
