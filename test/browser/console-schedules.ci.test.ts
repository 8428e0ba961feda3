// Schedules in the console, in a real Chromium: the list, the next times and the days on which clocks change, and the commands.
import { createWorkflow } from "@andante/core";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

const nightly = { cron: "30 2 * * *", zone: "Europe/Berlin", input: { day: "x" } };
const report = createWorkflow({
  ...{ id: "report", input: z.object({ day: z.string() }) },
  schedules: { nightly },
}).andThen({ id: "write", execute: ({ data }) => data });

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const { url, andante } = await serveForTest({ workflows: { report } });
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${url}/console${path}`);
  const textOf = (selector: string) => page.locator(selector).first().textContent();

  beforeEach(async () => {
    page = await openWatchedPage(browser, (what) => complaints.push(what));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("the list leads to a schedule with its times in its zone and here, and those beside changes of clocks", async () => {
    await andante.schedules.set("hourly", { workflowId: "report", every: "1h", input: { day: "x" } });
    await open("/");
    await page.getByRole("link", { name: "Schedules" }).click();
    await eventually(() => page.locator("tbody tr").allTextContents()).toEqual([
      expect.stringMatching(/^hourlyreportevery 1 hactivein .*–0/),
      expect.stringMatching(/^report:nightlyreport30 2 \* \* \* in Europe\/Berlinactivein .*–0/),
    ]);
    await page.getByRole("link", { name: "report:nightly" }).click();
    const next = page.getByRole("region", { name: "Next times" });
    await eventually(() => next.locator("tbody tr").count()).toBe(5);
    expect(await next.locator("tbody tr").first().textContent()).toContain("02:30");
    expect(await next.textContent()).toContain("It follows the clocks of Europe/Berlin.");
    const changes = page.getByRole("region", { name: "When clocks change" });
    const words = (await changes.textContent()) ?? "";
    expect(words).toContain("clocks are put forward by 1 h.");
    expect(words).toContain("clocks are put back by 1 h.");
    // The time that the change leaves out is at the end of the gap.
    expect(words).toContain("03:00");
    expect(await textOf(".schedule-facts")).toContain("in code: it can be paused here, and changed there");
  });

  test("it is paused with a reason, resumed, run now, and backfilled after a look at the times", async () => {
    await open("/schedules/report:nightly");
    await page.getByRole("button", { name: "Pause…" }).click();
    await page.getByLabel("Reason").fill("holidays");
    await page.getByRole("button", { name: "Pause it" }).click();
    await eventually(() => textOf(".heading")).toContain("pausedholidays");
    await page.getByRole("button", { name: "Resume" }).click();
    await eventually(() => textOf(".heading")).toContain("active");
    await page.getByRole("button", { name: "Run now…" }).click();
    await page.getByRole("button", { name: "Run now", exact: true }).click();
    await page.waitForURL(/\/executions\//);
    await eventually(() => textOf(".heading")).toContain("by the schedule report:nightly");
    await page.getByRole("link", { name: "report:nightly" }).click();
    await eventually(() => page.locator("section.whole tbody tr").allTextContents()).toEqual([
      expect.stringContaining("started by hand"),
    ]);
    await page.getByRole("button", { name: "Backfill…" }).click();
    await page.getByRole("button", { name: "Show the times" }).click();
    const dialog = page.getByRole("dialog");
    await eventually(() => dialog.getByRole("listitem").count()).toBe(7);
    expect((await andante.schedules.get("report:nightly")).started).toBe(1);
    await dialog.getByRole("button", { name: "Start 7 occurrences" }).click();
    await eventually(async () => (await andante.schedules.get("report:nightly")).started).toBe(8);
    await eventually(() => page.locator(".outcomes").getAttribute("aria-label")).toBe(
      "7 started, 1 started by hand",
    );
  });
});
