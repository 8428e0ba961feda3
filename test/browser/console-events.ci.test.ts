// Events in the console, in a real Chromium: the list with their effects, the open waits, one event, and sending one by a form.
import { createWorkflow, defineEvent } from "@andante/core";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

const data = z.object({ order: z.string() });
const key = ({ data: { order } }: { data: { order: string } }) => order;
const placed = defineEvent({ name: "order.placed", data, key });
const paid = defineEvent({ name: "order.paid", data, key });
const withdrawn = defineEvent({ name: "order.withdrawn", data, key });
const order = createWorkflow({
  id: "order",
  input: data,
  on: { event: placed },
  cancelOn: { event: withdrawn, key: ({ input }) => input.order },
})
  .andWaitFor({ id: "payment", event: paid, key: ({ data: { order: id } }) => id, deadline: "3d" })
  .andThen({ id: "ship", execute: ({ data: { order: id } }) => `shipped ${id}` });
const review = createWorkflow({ id: "review", input: z.object({}) }).andThen({
  id: "ask",
  execute: ({ resumeData, suspend }) => resumeData ?? suspend("Read this"),
});

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const { url, andante } = await serveForTest({ workflows: { order, review } });
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${url}/console${path}`);
  const rows = () => page.locator("tbody tr").allTextContents();

  beforeEach(async () => {
    page = await openWatchedPage(browser, (problem) => complaints.push(problem));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("each event has the executions that it started, continued and cancelled; one that did nothing is marked", async () => {
    await open("/events");
    await page.getByRole("heading", { name: "No events yet" }).waitFor();
    // The page follows without a reload.
    await andante.send(placed, { order: "17" }, { id: "evt_1" });
    await andante.send(placed, { order: "18" }, { id: "evt_2", userId: "ada" });
    await andante.send(paid, { order: "17" });
    await andante.send(withdrawn, { order: "18" });
    await andante.send(paid, { order: "71" }, { id: "evt_typo" });
    await eventually(rows).toEqual([
      expect.stringMatching(/^order\.paid71unmatched–––/),
      expect.stringMatching(/^order\.withdrawn18matched––order:evt_2/),
      expect.stringMatching(/^order\.paid17matched–order:evt_1–/),
      expect.stringMatching(/^order\.placed18matchedorder:evt_2––ada/),
      expect.stringMatching(/^order\.placed17matchedorder:evt_1/),
    ]);
    await page.getByRole("link", { name: "unmatched" }).click();
    await eventually(rows).toHaveLength(1);
    await page.locator("tbody tr").getByRole("link", { name: "order.paid" }).click();
    await page.waitForURL(/\/events\/evt_typo/);
    await eventually(() => page.getByRole("region", { name: "Data" }).textContent()).toContain('"71"');
    await page.goBack();
    await page.getByRole("link", { name: "Sent" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("7100");
    await page.getByRole("link", { name: "Show all events" }).click();
    await eventually(rows).toHaveLength(5);
    await eventually(() => page.getByLabel("Key", { exact: true }).inputValue()).toBe("");
    await page.keyboard.press("/");
    await page.keyboard.type("17");
    await eventually(rows).toHaveLength(2);
    await page.getByRole("link", { name: "order:evt_1" }).first().click();
    await eventually(() => page.locator(".heading").textContent()).toContain("by the event order.placed");
    await page.getByRole("link", { name: "order.placed" }).click();
    await eventually(() => page.getByRole("region", { name: "Started" }).textContent()).toContain(
      "order:evt_1",
    );
  });

  test("open waits are listed by event and key, and not those for an answer of a person", async () => {
    await andante.start("review", {});
    await andante.send(placed, { order: "20" }, { id: "evt_20" });
    await open("/events?tab=waits");
    await eventually(rows).toEqual([expect.stringMatching(/^order\.paid201.*order:evt_20order/)]);
    await andante.send(paid, { order: "20" });
    await page.getByRole("heading", { name: "Nothing waits for an event" }).waitFor();
  });

  test("Home and the inbox count and show what waits for a person, and not what waits for an event alone", async () => {
    const signed = createWorkflow({ id: "signed", input: data }).andThen({
      id: "sign",
      execute: ({ data: { order: id }, resumeData, suspend }) =>
        resumeData ?? suspend("Sign it", {}, { event: paid, key: id, to: "olga" }),
    });
    const own = await serveForTest({ workflows: { order, review, signed } });
    await own.andante.send(placed, { order: "40" }, { id: "evt_40" });
    await page.goto(`${own.url}/console/events?tab=waits`);
    await eventually(rows).toHaveLength(1);
    await page.goto(`${own.url}/console/`);
    // Shown when the figures of the last hour have been read.
    await page.getByText("nothing went wrong").waitFor();
    const figure = page.locator(".figure", { hasText: "Waiting for a person" });
    const bars = figure.locator("rect:not([height='0'])");
    await eventually(() => figure.locator(".big").textContent()).toBe("0");
    expect(await bars.count()).toBe(0);
    await own.andante.execute("review", {});
    await own.andante.execute("signed", { order: "41" });
    await eventually(() => figure.locator(".big").textContent()).toBe("2");
    await eventually(() => bars.count()).toBe(1);
    await eventually(() => page.locator(".wait-row").count()).toBe(2);
    const badge = page.getByRole("link", { name: /^Inbox/ }).locator(".count");
    await eventually(() => badge.textContent()).toBe("2 waiting");
    await page.getByRole("link", { name: "Open inbox →" }).click();
    const titles = page.locator(".inbox-item b");
    await eventually(() => titles.allTextContents()).toEqual(["Read this", "Sign it"]);
    await page.getByRole("link", { name: "Everything 2" }).waitFor();
    await page.goto(`${own.url}/console/events?tab=waits`);
    await eventually(rows).toHaveLength(2);
  });

  test("an event is sent by a form of its schema, and its effect is shown", async () => {
    await open("/events");
    await page.getByRole("button", { name: "Send…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: /^Event/ }).selectOption("order.placed");
    await dialog.getByRole("textbox", { name: /^Order/ }).fill("30");
    await dialog.getByRole("button", { name: "Send it" }).click();
    await eventually(() => page.getByRole("region", { name: "Started" }).textContent()).toContain("order:");
    await eventually(() => page.locator(".heading").textContent()).toMatch(/order\.placedmatchedkey 30/);
    await open("/events/evt_unknown");
    await page.getByRole("heading", { name: "No such event" }).waitFor();
  });
});
