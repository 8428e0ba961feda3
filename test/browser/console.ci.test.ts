// The console in a real Chromium, on a live server: start a workflow, answer it, see it complete, without a reload.
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

const house = { workflows: houseWorkflows, agents: houseAgents };

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest(house);
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);

  beforeEach(async () => {
    page = await openWatchedPage(browser, (what) => complaints.push(what));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("before anything has run, Home offers the first workflow with an example; the first load is small", async () => {
    const sizes: number[] = [];
    page.on("response", async (response) => {
      if (!/\.(js|css)$/.test(new URL(response.url()).pathname)) return;
      sizes.push(gzipSync(await response.body()).length);
    });
    await open("");
    await page.getByRole("heading", { name: "Nothing has run yet" }).waitFor();
    // The form is loaded after it: until then the page has requested the resources of Home alone.
    const first = sizes.reduce((sum, size) => sum + size, 0);
    expect(first).toBeGreaterThan(50_000);
    expect(first).toBeLessThan(300_000);
    await eventually(() => page.getByLabel("Order").inputValue()).not.toBe("");
  });

  test("a workflow is started from its form, answered in the inbox, and completes without a reload", async () => {
    await open("/workflows/refund?tab=run");
    await page.getByLabel("Order").fill("ord_77120");
    await page.getByLabel(/^Amount/).fill("1240");
    await page.getByLabel(/^Reason/).fill("damaged on arrival");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("suspended");
    const address = page.url();
    await page.getByRole("link", { name: /^Inbox/ }).click();
    await page.getByRole("heading", { name: "Approve the refund of € 1240" }).waitFor();
    await eventually(() => page.locator(".facts").textContent()).toContain("ord_77120");
    // Nothing is decided beforehand. A value that the server refuses is reported at the field.
    const yes = page.getByRole("radio", { name: "Yes" });
    await eventually(() => yes.getAttribute("aria-checked")).toBe("false");
    await yes.click();
    await page.getByLabel(/^Amount/).fill("1400");
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await eventually(() => page.locator(".field-error").first().textContent()).toBe(
      "This must be at most 1240",
    );
    await page.getByLabel(/^Amount/).fill("1000");
    await page.getByLabel(/^Note/).fill("We are sorry");
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await eventually(() => page.locator(".answered .pill").textContent()).toBe("completed");
    await page.getByRole("heading", { name: "Nothing waits for a person" }).waitFor();
    await page.getByRole("link", { name: "Watch it continue →" }).click();
    expect(page.url().split("?")[0]).toBe(address.split("?")[0]);
    // The styles of the inbox stay, and leave the record of the answer as it is.
    await page.locator(".step-node", { hasText: "approve" }).click();
    const question = page.getByRole("region", { name: "Answers" }).locator("dd").first();
    await eventually(() => question.textContent()).toBe("Approve the refund of € 1240");
    await eventually(async () => (await question.boundingBox())?.width).toBeGreaterThan(150);
    await page.getByRole("tab", { name: "Input & result" }).click();
    await eventually(() => page.getByRole("region", { name: "result" }).textContent()).toContain(
      '"paid": 1000',
    );
  });
});
