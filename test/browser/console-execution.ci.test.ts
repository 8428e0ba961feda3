// The page of an execution in a real Chromium: waits, races, long journals, answers, and the ways through them.
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { waitingWorkflows } from "./console/waits.ts";
import { openBrowser, openWatchedPage } from "./open-browser.ts";

const eventually = (look: () => unknown) => expect.poll(look, { interval: 20 });

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest({
    workflows: { ...houseWorkflows, ...waitingWorkflows },
    agents: houseAgents,
  });
  let page: Page;
  const complaints: string[] = [];
  const open = (executionId: string, search = "") =>
    page.goto(`${server.url}/console/executions/${executionId}${search}`);
  const detail = () => page.getByRole("complementary", { name: "Selected step" });
  const node = (name: string) => page.locator(".step-node", { hasText: name });
  const row = (name: string) => page.locator(".fall", { hasText: name });

  beforeEach(async () => {
    page = await openWatchedPage(browser, (what) => complaints.push(what));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("a step whose tool waits for approval waits, with the form, and keeps the answer; checkpoints are shown", async () => {
    const { executionId } = await server.andante.execute("complaint", { text: "It is broken." });
    await open(executionId);
    await eventually(() => detail().locator("h3").textContent()).toBe("settle");
    await eventually(() => detail().locator(".pill").textContent()).toBe("waiting");
    expect(await node("settle").getAttribute("data-status")).toBe("suspended");
    const form = detail().getByRole("region", { name: "Answer", exact: true });
    await form.getByText("Yes", { exact: true }).first().click();
    await form.getByRole("button", { name: "Resume" }).click();
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("completed");
    const answers = detail().getByRole("region", { name: "Answers" });
    await page.locator(".fall", { hasText: "settle" }).first().click();
    await eventually(() => answers.textContent()).toContain("The tool payBack needs approval");
    await eventually(() => answers.textContent()).toContain('"approved": true');
    await node("read").click();
    await detail().getByText("spam", { exact: true }).click();
    await eventually(() => detail().getByRole("region", { name: "value of spam" }).textContent()).toContain(
      '"score": 0.02',
    );
  });

  test("the loser of a race has ended with it, and a wait inside a container leaves the work its width", async () => {
    const { executionId } = await server.andante.execute("parcel", {});
    await open(executionId);
    await eventually(() => node("dhl").getAttribute("data-status")).toBe("cancelled");
    await eventually(() =>
      page.locator(".container-node", { hasText: "signatures" }).textContent(),
    ).toContain("waiting");
    // A day later the bars are as wide as now: time passes for the person, not for the steps.
    await page.clock.install({ time: Date.now() + 86_400_000 });
    await page.reload();
    const bar = row("carriers").first().locator(".track i").first();
    await eventually(async () => (await bar.boundingBox())?.width).toBeGreaterThan(40);
    expect(await row("legal").textContent()).toContain("24 h");
  });
});
