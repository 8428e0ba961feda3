// The console in a real Chromium, by keyboard and while things are on their way: arrows, j and k, space, the slash, the
// palette, acts on many of which some fail, pages whose data is not there yet.
import type { Page, Route } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { eventually, isInside, openBrowser, openPage } from "./open-browser.ts";

const inbox = z.object({ items: z.array(z.object({ suspension: z.object({ suspensionId: z.string() }) })) });
describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest({ workflows: houseWorkflows, agents: houseAgents });
  const { andante } = server;
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);
  const refund = (amount: number, userId = "shop-1") =>
    andante.execute("refund", { order: "ord_1", amount, reason: "returned" }, { userId });
  const search = (name: string) => new URL(page.url()).searchParams.get(name);
  const focused = () => page.evaluate("document.activeElement?.getAttribute('aria-label')");
  const selectedStep = () =>
    page.getByRole("complementary", { name: "Selected step" }).locator("h3").textContent();

  beforeEach(async () => {
    page = await openPage(browser, (what) => complaints.push(what));
    await page.setViewportSize({ width: 1440, height: 900 });
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("a suspension between the read of the page and its feed is shown", async () => {
    let openFeed = () => {};
    const feed = new Promise<void>((resolve) => {
      openFeed = resolve;
    });
    await page.route("**/api/changes", async (route) => {
      await feed;
      await route.continue();
    });
    await open("/inbox");
    await page.getByRole("heading", { name: "Nothing waits for a person" }).waitFor();
    const { executionId } = await refund(1001);
    openFeed();
    await page.getByRole("heading", { name: "Approve the refund of € 1001" }).waitFor();
    await andante.cancel("refund", executionId);
  });

  test("the empty inbox starts the example that waits, which takes its place; arrows move between segments", async () => {
    await open("/inbox");
    await page.getByRole("button", { name: "Try it: run Refund a customer" }).click();
    const yes = page.getByRole("radio", { name: "Yes" });
    await yes.waitFor();
    await yes.focus();
    await page.keyboard.press("ArrowRight");
    await eventually(() => page.getByRole("radio", { name: "No" }).getAttribute("aria-checked")).toBe("true");
    await eventually(() => page.evaluate("document.activeElement?.textContent")).toBe("No");
    await page.keyboard.press("ArrowRight");
    await eventually(() => yes.getAttribute("aria-checked")).toBe("true");
  });

  test("in the inbox j moves the choice and the focus, the form follows the list by Tab, is answered without a mouse, and an answer leads to the next question", async () => {
    await refund(1301, "shop-9");
    const answered = await refund(1302, "shop-9");
    await refund(1303, "shop-9");
    await open("/inbox?text=shop-9");
    const heading = (amount: number) =>
      page.getByRole("heading", { name: `Approve the refund of € ${amount}` });
    await heading(1301).waitFor();
    const focusedText = () => page.evaluate("document.activeElement?.textContent");
    await page.keyboard.press("j");
    await heading(1302).waitFor();
    await eventually(focusedText).toContain("€ 1302");
    const no = page.getByRole("radio", { name: "No" });
    await no.waitFor();
    await page.keyboard.press("Tab");
    const isInForm = () => page.evaluate("document.activeElement?.closest('.schema-form') !== null");
    await eventually(isInForm).toBe(true);
    await page.keyboard.press("ArrowRight");
    await eventually(() => no.getAttribute("aria-checked")).toBe("true");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("no receipt");
    await eventually(() => page.getByLabel(/^Note/).inputValue()).toBe("no receipt");
    await page.keyboard.press("Control+Enter");
    await heading(1303).waitFor();
    await eventually(async () => (await andante.state("refund", answered.executionId)).result).toEqual({
      paid: 0,
    });
    await eventually(focusedText).toBe("Approve the refund of € 1303");
    await no.waitFor();
    await page.keyboard.press("Tab");
    await eventually(isInForm).toBe(true);
  });

  test("on a phone the inbox is a list, then one item with a way back", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open("/inbox?text=shop-9");
    const list = page.locator(".inbox-list");
    const form = page.getByRole("region", { name: "Answer" });
    await page.locator(".inbox-item").first().waitFor();
    expect(await form.isVisible()).toBe(false);
    await page.locator(".inbox-item").first().click();
    await form.waitFor();
    await eventually(() => list.isVisible()).toBe(false);
    await page.getByRole("link", { name: "All that waits" }).click();
    await list.waitFor();
    await eventually(() => form.isVisible()).toBe(false);
  });

  test("while its data is on its way Home claims nothing: no zeros, and that nothing waits or failed", async () => {
    const held: Route[] = [];
    const isHeld = /\/api\/(activity|inbox|executions)|\/(workflows|agents)$/;
    await page.route(isHeld, (route) => void held.push(route));
    await open("");
    await eventually(() => page.locator(".home .skeleton").count()).toBe(4);
    // The running executions are known from the requests of the layout.
    await eventually(() => page.locator(".figure .big").allTextContents()).toEqual(["0", "–", "–", "–"]);
    const unknown = page.locator(".home .card:not(:first-child)");
    for (const text of await unknown.allTextContents()) expect(text).not.toMatch(/\b0\b|[Nn]othing|none/);
    await page.unroute(isHeld);
    // One that was given up meanwhile is over.
    for (const route of held) await route.continue().catch(() => undefined);
    await eventually(() => page.locator(".home .skeleton").count()).toBe(0);
    await eventually(() => page.locator(".registered").textContent()).toContain("5 workflows · 2 agents");
  });

  test("actions on many: Escape closes the question, a double click acts once, failures are shown and stay selected", async () => {
    const [first, second] = [await refund(1100, "shop-2"), await refund(1200, "shop-2")];
    const asked: string[] = [];
    await page.route("**/cancel", async (route) => {
      asked.push(route.request().url());
      const error = { success: false, error: "The disk is full" };
      if (route.request().url().includes(first.executionId))
        await route.fulfill({ status: 507, json: error });
      else await route.continue();
    });
    await open("/executions?status=suspended&userId=shop-2");
    await eventually(() => page.locator(".grid-row").count()).toBe(2);
    await page.getByLabel("Choose all that are shown").check();
    const bar = page.getByRole("toolbar", { name: "Actions for selected executions" });
    await bar.getByRole("button", { name: "Cancel…" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await eventually(() => page.getByRole("dialog").count()).toBe(0);
    expect([await bar.locator("b").textContent(), asked]).toEqual(["2 selected", []]);
    await bar.getByRole("button", { name: "Cancel…" }).click();
    await page.getByRole("button", { name: "Cancel 2 executions" }).dblclick();
    await eventually(() => bar.getByRole("alert").textContent()).toBe(
      "1 of 2 did not work: The disk is full",
    );
    await eventually(() => bar.locator("b").textContent()).toBe("1 selected");
    await eventually(() => page.getByLabel(`Choose ${first.executionId}`).isChecked()).toBe(true);
    expect(asked).toHaveLength(2);
    expect((await andante.state("refund", second.executionId)).status).toBe("cancelled");
    await page.keyboard.press("Escape");
    await eventually(() => bar.count()).toBe(0);
  });

  test("arrows walk through tabs and menus, the slash goes to the filter", async () => {
    const { executionId } = await andante.execute("measure", { text: "one two" });
    await open(`/executions/${executionId}`);
    await page.getByRole("tab", { name: /^Events/ }).focus();
    await page.keyboard.press("ArrowRight");
    await eventually(() => page.getByRole("tab", { name: "Logs" }).getAttribute("aria-selected")).toBe(
      "true",
    );
    await page.keyboard.press("ArrowRight");
    await eventually(() => search("tab")).toBe("state");
    await page.keyboard.press("ArrowLeft");
    await eventually(() => search("tab")).toBe("logs");
    await open("/executions");
    await page.locator(".grid-row").first().waitFor();
    await page.getByRole("button", { name: "workflow: all" }).focus();
    await page.keyboard.press("Enter");
    const highlighted = page.locator("[role=menuitem][data-highlighted]");
    await eventually(() => highlighted.textContent()).toBe("all workflows");
    await page.keyboard.press("ArrowDown");
    await eventually(() => highlighted.textContent()).toBe("refund");
    await page.keyboard.press("Enter");
    await eventually(() => search("workflowId")).toBe("refund");
    // A menu that closes gives the focus back to its button.
    const holder = () => page.locator("button:focus").allTextContents();
    await eventually(holder).toEqual([expect.stringContaining("workflow: refund")]);
    await page.keyboard.press("/");
    await eventually(focused).toBe("id begins with");
    // In a field it is a character like others.
    await page.keyboard.press("/");
    await eventually(() => page.getByLabel("id begins with").inputValue()).toBe("/");
  });

  test("j and k walk through events and select their steps, space plays the run", async () => {
    const { executionId } = await andante.execute("measure", { text: "one two" });
    await open(`/executions/${executionId}`);
    const at = page.locator('.event[aria-current="step"]');
    const total = (await andante.events("measure", executionId)).length;
    await eventually(() => at.locator(".num").textContent()).toBe(String(total));
    await page.keyboard.press("k");
    await eventually(() => at.locator(".num").textContent()).toBe(String(total - 1));
    await eventually(selectedStep).toBe("report");
    for (let n = 0; n < 3; n += 1) await page.keyboard.press("k");
    await eventually(() => at.locator(".num").textContent()).toBe(String(total - 4));
    await eventually(() => search("step")).toMatch(/^count/);
    await page.keyboard.press("j");
    await eventually(() => at.locator(".num").textContent()).toBe(String(total - 3));
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await eventually(() => at.locator(".num").textContent()).toBe(String(total));
    await page.getByRole("button", { name: "Play the run again" }).waitFor();
  });

  test("the waterfall turns to the round that an address or an event names, and scrolls to it", async () => {
    const input = { pages: 300, milliseconds: 0 };
    const { executionId } = await andante.execute("document-pipeline", input);
    await open(`/executions/${executionId}?step=${encodeURIComponent("each[258]/extract")}`);
    const waterfall = page.getByRole("region", { name: "Waterfall" });
    const row = waterfall.locator('.fall[data-selected="true"]');
    await eventually(() => row.textContent()).toContain("extract 258");
    await eventually(() => isInside(row, waterfall)).toBe(true);
    await page.locator(".event", { hasText: "step-complete" }).last().click();
    await eventually(() => row.textContent()).toContain("join");
    await eventually(() => isInside(row, waterfall)).toBe(true);
  });

  test("in a small window too: also when the spans of agents come after the steps", async () => {
    const { executionId } = await andante.execute("publish", { topic: "rivers" });
    await page.setViewportSize({ width: 1024, height: 700 });
    await open(`/executions/${executionId}`);
    const waterfall = page.getByRole("region", { name: "Waterfall" });
    await waterfall.getByText("gpt-5").waitFor({ state: "attached" });
    const row = waterfall.locator('.fall[data-selected="true"]');
    await eventually(() => isInside(row, waterfall)).toBe(true);
    await eventually(() => row.textContent()).toContain("approve");
  });

  test("the palette opens an id that is pasted, resumes the oldest suspension, and runs a workflow", async () => {
    const { executionId } = await andante.execute("measure", { text: "one two" });
    await open("/logs");
    await page.locator("main .top").waitFor();
    await page.keyboard.press("Meta+k");
    await page.getByRole("combobox").fill(executionId);
    await page.keyboard.press("Enter");
    await eventually(() => new URL(page.url()).pathname).toBe(`/console/executions/${executionId}`);
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: /^Answer what waits longest/ }).waitFor();
    await page.keyboard.press("Enter");
    const [oldest] = inbox.parse(dataOf(await server.get("/api/inbox"))).items;
    await eventually(() => search("item")).toBe(oldest?.suspension.suspensionId);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("run measure");
    await page.keyboard.press("Enter");
    await eventually(() => search("tab")).toBe("run");
    await page.keyboard.press("Control+k");
    // The beginning of an id is looked up; a word that is none opens nothing.
    await page.getByRole("combobox").fill(executionId.slice(0, 13));
    await page.getByRole("option", { name: `Open execution ${executionId}` }).waitFor();
    await page.getByRole("combobox").fill("ord_nothing");
    await page.getByText("Nothing matches.").waitFor();
    await page.getByRole("combobox").fill("01a1f2d0-fbf7-7000-819d-000000000000");
    await page.getByText("Nothing matches.").waitFor();
    await page.keyboard.press("Escape");
    await eventually(() => page.getByRole("combobox").count()).toBe(0);
  });

  test("all that is typed after the key of the palette is in it, also before its code is loaded", async () => {
    let load = () => {};
    const loaded = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route("**/palette-*.js", async (route) => {
      await loaded;
      await route.continue();
    });
    await open("/logs");
    await page.locator("main .top").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("ord_");
    load();
    await page.keyboard.type("8010");
    const palette = page.getByRole("combobox");
    await eventually(() => palette.inputValue()).toBe("ord_8010");
    await page.keyboard.type("!");
    await eventually(() => palette.inputValue()).toBe("ord_8010!");
  });

  test("executions are found by a value of their input, in the palette and in the list, with its path", async () => {
    const input = { order: "ord_77120", amount: 12, reason: "returned" };
    const { executionId } = await andante.execute("refund", input, { userId: "shop-1" });
    await eventually(async () => (await andante.search({ text: "ord_77120" })).executions.length).toBe(1);
    await open("/logs");
    await page.locator("main .top").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("ORD_771");
    const option = page.getByRole("option", { name: /^refund / });
    await option.waitFor();
    await eventually(() => option.textContent()).toContain("input.order: ord_77120");
    await page.keyboard.press("Enter");
    await eventually(() => new URL(page.url()).pathname).toBe(`/console/executions/${executionId}`);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("ord_771");
    await page.getByRole("option", { name: /^List executions with ord_771/ }).click();
    const rows = page.locator(".grid-row");
    await eventually(() => rows.allTextContents()).toEqual([
      expect.stringContaining("input.order: ord_77120"),
    ]);
    expect(search("text")).toBe("ord_771");
    // All of the value can be read, in the row of the filters too.
    const field = page.getByLabel("value begins with");
    await eventually(async () => (await field.boundingBox())?.width).toBeGreaterThan(200);
    await field.focus();
    await eventually(async () => (await field.boundingBox())?.width).toBeGreaterThan(200);
    await page.getByLabel("value begins with").fill("ord_nothing");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nothing matches these filters" }).waitFor();
    await page.getByLabel("value begins with").fill("12");
    await page.keyboard.press("Enter");
    await page.getByText("Fewer than three characters find whole values only.").waitFor();
    await eventually(() => rows.allTextContents()).toEqual([expect.stringContaining("input.amount: 12")]);
  });

  test("a trace that is cut has a note; all suspended executions are counted, however many are shown", async () => {
    const { executionId } = await andante.execute("measure", { text: "one two" });
    const { traces } = await andante.traces.list({ executionId });
    const cut = /\/api\/traces\/\w+$/;
    await page.route(cut, async (route) => {
      const response = await route.fetch();
      const { data } = await response.json();
      await route.fulfill({ response, json: { success: true, data: { ...data, complete: false } } });
    });
    await open(`/traces/${traces[0]?.traceId}`);
    await eventually(() => page.locator(".note-bar").textContent()).toMatch(
      /^This trace is cut: the first 5 spans/,
    );
    await Promise.all(Array.from({ length: 101 }, (_, n) => refund(2000 + n)));
    await open("/executions?status=suspended");
    await page.locator(".grid-row").first().waitFor();
    const { suspended } = dataOf(await server.get("/api/server"));
    await eventually(() => page.locator("main .top").textContent()).toContain(`${suspended} in all`);
    expect(suspended).toBeGreaterThan(100);
  });
});
