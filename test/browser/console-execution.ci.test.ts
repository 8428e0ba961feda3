// The page of an execution in a real Chromium: waits, races, long journals, answers, and the ways through them.
import { createWorkflow } from "@andante/core";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { longError, waitingWorkflows } from "./console/waits.ts";
import { eventually, isInside, openBrowser, openWatchedPage } from "./open-browser.ts";

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
    await eventually(() => node("settle").getAttribute("data-status")).toBe("suspended");
    // Its row of the waterfall too, which ends with a mark.
    const settle = row("settle").first();
    await eventually(() => settle.locator(".name").textContent()).toMatch(/^waiting/);
    await eventually(() => settle.locator(".track .waiting").count()).toBe(1);
    await eventually(() => page.getByRole("status", { name: "Why it waits" }).textContent()).toMatch(
      /^The tool payBack of step settle waits since .* for approval/,
    );
    // The event of the wait leads to the same step and its form.
    await node("read").click();
    await page.locator(".event", { hasText: "workflow-suspended" }).click();
    await eventually(() => detail().locator("h3").textContent()).toBe("settle");
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

  test("an execution that waits shows why, on its page and in the list; one that sleeps is grey", async () => {
    const { executionId } = await server.andante.start("nap", {});
    await open(executionId);
    const why = page.getByRole("status", { name: "Why it waits" });
    await eventually(() => why.textContent()).toMatch(
      /^Step night sleeps until .* \(in (3 d 0 h|2 d 23 h)\)/,
    );
    const pill = page.locator(".heading .pill");
    await eventually(() => pill.textContent()).toBe("sleeping");
    await eventually(() => pill.getAttribute("data-tone")).toBe("off");
    await eventually(() => node("night").getAttribute("data-status")).toBe("sleeping");
    const parcel = await server.andante.execute("parcel", {});
    await page.goto(`${server.url}/console/executions`);
    const listed = (id: string) => page.locator(".grid-row", { hasText: id.slice(0, 13) });
    await eventually(() => listed(executionId).textContent()).toContain("Step night sleeps until");
    await eventually(() => listed(executionId).locator(".pill").textContent()).toBe("sleeping");
    await eventually(() =>
      listed(executionId).locator(".steps-bar i[data-tone]").getAttribute("data-tone"),
    ).toBe("off");
    await eventually(() => listed(parcel.executionId).textContent()).toContain(
      "Step signatures/legal waits since",
    );
  });

  test("an answer is kept with its question, its user and the time that it took", async () => {
    const { executionId } = await server.andante.execute("parcel", {});
    await server.andante.resume("parcel", executionId, { signed: true }, { userId: "olga" });
    await open(executionId, "?step=signatures%2Flegal");
    const answers = detail().getByRole("region", { name: "Answers" });
    await eventually(() => answers.locator("dd").allTextContents()).toEqual([
      ...["Sign the customs form", "olga", expect.stringMatching(/^[\d.]+ m?s, at \d\d:\d\d:\d\d/)],
    ]);
    await eventually(() => answers.textContent()).toContain('"signed": true');
  });

  test("a step that failed shows when it is tried again; names from right to left keep their beginning", async () => {
    const { executionId } = await server.andante.start("patient", {});
    await open(executionId);
    const why = page.getByRole("status", { name: "Why it waits" });
    await eventually(() => why.textContent()).toMatch(
      /attempt 1 of 3 failed.*503 from the bank.*\(in (1 h|5\d min)/s,
    );
    await eventually(() => detail().locator(".attempts li").allTextContents()).toEqual([
      expect.stringMatching(/^1 · /),
      expect.stringMatching(/^2 · starts in 5\d min.*, at \d\d:\d\d/),
    ]);
    for (const selector of [".heading h2", ".step-node b", ".detail h3"]) {
      const direction = `getComputedStyle(document.querySelector("${selector}")).direction`;
      await eventually(() => page.evaluate(direction), selector).toBe("rtl");
    }
  });

  test("an execution that no process may run is parked, with the reason, on its page and at its workflow", async () => {
    const file = temporaryFile();
    const pay = (step: string) =>
      createWorkflow({ id: "pay", name: "Pay", input: z.object({}) }).andThen({
        id: step,
        execute: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
      });
    const first = await serveForTest({ store: file.open(), workflows: { pay: pay("transfer") }, agents: {} });
    const { executionId } = await first.andante.start("pay", {});
    await first.close();
    const { url } = await serveForTest({ store: file.open(), workflows: { pay: pay("charge") }, agents: {} });
    const reason = 'step 1 was "transfer" (andThen), now "charge" (andThen)';
    await page.goto(`${url}/console/executions/${executionId}`);
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("parked");
    await eventually(() => page.getByRole("status", { name: "Why it waits" }).textContent()).toContain(
      reason,
    );
    await page.goto(`${url}/console/workflows/pay?tab=definitions`);
    const parked = page.getByRole("region", { name: "Parked executions" });
    await eventually(() => parked.textContent()).toContain(reason);
    await eventually(() => page.getByRole("region", { name: "Definitions" }).textContent()).toMatch(
      /\+ charge.*− transfer/,
    );
    await parked.getByRole("link").first().click();
    await eventually(() => page.url()).toContain(executionId);
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
    await eventually(() => row("legal").textContent()).toContain("24 h");
  });

  test("events are filtered with /, open in full, and the place is in the address", async () => {
    const { executionId } = await server.andante.execute("complaint", { text: "It is broken." });
    await open(executionId);
    await page.locator(".event").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("spam");
    await eventually(() => page.locator(".event").count()).toBe(1);
    await page.locator(".event").click();
    const opened = page.getByRole("region", { name: /^Event \d+$/ });
    await eventually(() => opened.textContent()).toContain('"score": 0.02');
    await eventually(() => page.url()).toMatch(/event=3.*text=spam|text=spam.*event=3/);
    await page.reload();
    await eventually(() => opened.textContent()).toContain('"score": 0.02');
    await eventually(() => page.locator(".scrubber").textContent()).toContain("event 3 of");
    await page.getByLabel("Filter events").fill("");
    await eventually(() => page.locator(".event").count()).toBeGreaterThan(1);
    await opened.getByRole("button", { name: "Next event" }).click();
    await eventually(() => page.locator(".scrubber").textContent()).toContain("event 4 of");
    await page.getByRole("button", { name: "Close the event" }).click();
    await eventually(() => opened.count()).toBe(0);
  });

  test("the whole id is copied; a long error is there once, in lines, folded; a replay begins at the failed step", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const { executionId } = await server.andante.execute("charge-all", { order: "ord_1" });
    await open(executionId);
    await page.getByRole("button", { name: "Copy the whole id" }).click();
    await eventually(() => page.evaluate("navigator.clipboard.readText()")).toBe(executionId);
    await eventually(() => detail().locator(".failure").count()).toBe(1);
    const failure = detail().locator(".failure");
    await eventually(() => failure.textContent()).toMatch(/line 0 .*\nline 1 .*…$/s);
    const spacing = "getComputedStyle(document.querySelector('.detail .failure')).whiteSpace";
    await eventually(() => page.evaluate(spacing)).toBe("pre-wrap");
    expect(await page.locator(".note-bar").textContent()).not.toContain("line 1 of");
    await detail().getByRole("button", { name: "Show all of it" }).click();
    await eventually(() => failure.textContent()).toBe(`Error: ${longError}`);
    await detail().getByRole("button", { name: "Copy the error" }).click();
    await eventually(() => page.evaluate("navigator.clipboard.readText()")).toBe(`Error: ${longError}`);
    await page.getByRole("button", { name: "Replay…" }).click();
    await eventually(() => page.getByLabel("From the step").inputValue()).toBe("charge");
    await page.getByRole("button", { name: "Go back" }).click();
    await page.getByRole("button", { name: "Run again…" }).click();
    const dialog = page.getByRole("dialog", { name: "Run again with this input" });
    await eventually(() => dialog.getByLabel("Order").inputValue()).toBe("ord_1");
    await dialog.getByLabel("Order").fill("ord_2");
    await dialog.getByRole("button", { name: "Run", exact: true }).click();
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("completed");
    expect(page.url()).not.toContain(executionId);
  });

  test("an execution and its replays lead to each other; more than a few are a list", async () => {
    const { executionId } = await server.andante.execute("parcel", {});
    await open(executionId);
    await node("post").waitFor();
    expect(await page.getByText("Replayed as").count()).toBe(0);
    const first = await server.andante.replay("parcel", executionId, { stepId: "signatures" });
    const note = page.locator(".replays");
    await eventually(() => note.textContent()).toContain(`Replayed as${first.executionId.slice(0, 13)}`);
    await note.getByRole("link").click();
    await page.getByText("A replay of").getByRole("link").click();
    await eventually(() => page.url()).toContain(executionId);
    for (let replay = 0; replay < 5; replay++)
      await server.andante.replay("parcel", executionId, { stepId: "signatures" });
    await note.getByRole("link", { name: "Show all" }).click();
    await eventually(() => page.locator(".grid-row").count()).toBe(6);
    await page.getByRole("link", { name: `Remove replays of ${executionId}` }).click();
    await eventually(() => page.locator(".grid-row").count()).toBeGreaterThan(6);
  });

  test("two hundred steps are legible: the selected one is in sight, with zoom, a map and panes of any size", async () => {
    const { executionId } = await server.andante.execute("long", {});
    await open(executionId, "?step=step-120");
    const selected = node("step-120");
    const canvas = page.locator(".canvas");
    const heightOfStep = async () => (await selected.boundingBox())?.height;
    const widthOfGraph = async () => (await canvas.boundingBox())?.width;
    await eventually(heightOfStep).toBeGreaterThan(27);
    await eventually(() => isInside(selected, canvas)).toBe(true);
    const [height = 0, width = 0] = [await heightOfStep(), await widthOfGraph()];
    await page.locator(".react-flow__minimap").waitFor();
    // The line around the visible part leaves the rest of the map in sight.
    const line = `(() => {
      const map = document.querySelector(".react-flow__minimap svg");
      const { strokeWidth } = getComputedStyle(map.querySelector(".react-flow__minimap-mask"));
      return (parseFloat(strokeWidth) * map.clientHeight) / map.viewBox.baseVal.height;
    })()`;
    await eventually(() => page.evaluate(line)).toBeLessThan(4);
    await page.getByRole("button", { name: "Zoom In" }).click();
    await eventually(heightOfStep).toBeGreaterThan(height);
    const bar = (name: string) => page.getByRole("separator", { name });
    await bar("Width of the graph").focus();
    await page.keyboard.press("ArrowRight");
    await eventually(widthOfGraph).toBeGreaterThan(width + 20);
    const widthOfStep = async () => (await detail().boundingBox())?.width ?? 0;
    const bottom = page.locator(".bottom", { has: page.getByRole("button", { name: "Play the run again" }) });
    const heightOfFall = async () => (await bottom.boundingBox())?.height ?? 0;
    const [wide, high] = [await widthOfStep(), await heightOfFall()];
    await bar("Width of the step").focus();
    await page.keyboard.press("ArrowLeft");
    await eventually(widthOfStep).toBeGreaterThan(wide + 20);
    await bar("Height of the waterfall").focus();
    await page.keyboard.press("ArrowUp");
    await eventually(heightOfFall).toBeGreaterThan(high + 20);
    // By the pointer too, and kept.
    const edge = await bar("Width of the step").boundingBox();
    const [x, y] = edge === null ? [0, 0] : [edge.x + edge.width / 2, edge.y + edge.height / 2];
    const before = await widthOfStep();
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 40, y);
    await page.mouse.up();
    await eventually(widthOfStep).toBeGreaterThan(before + 30);
    const dragged = await widthOfStep();
    await page.reload();
    await eventually(async () => Math.abs((await widthOfStep()) - dragged)).toBeLessThan(2);
  });

  test("the heading is one line in a large window, and the form of a step that waits is in sight in a small one, too", async () => {
    const { executionId } = await server.andante.execute(
      "publish",
      { topic: "rivers" },
      { userId: "support-2" },
    );
    await open(executionId);
    const yes = detail().getByRole("radio", { name: "Yes" });
    await yes.waitFor();
    await page.locator(".heading", { hasText: "tokens" }).waitFor();
    await eventually(async () => (await page.locator(".heading").boundingBox())?.height).toBeLessThan(60);
    // The newest event is in sight, although the rows above the list came after it.
    const newest = page.locator('.event[aria-current="step"]');
    await eventually(() => isInside(newest, page.getByRole("region", { name: "Events" }))).toBe(true);
    const panes = page.locator(".three");
    await eventually(() => isInside(detail().getByRole("button", { name: "Resume" }), panes)).toBe(true);
    await page.setViewportSize({ width: 1024, height: 700 });
    await eventually(() => isInside(yes, panes)).toBe(true);
  });

  test.each([
    ["a phone", { width: 390, height: 844 }],
    ["a window at twice the size", { width: 720, height: 450 }],
  ])("on %s the form comes first, and no button is covered or cut off", async (_, size) => {
    await page.setViewportSize(size);
    const { executionId } = await server.andante.execute("parcel", {});
    await open(executionId);
    await detail().getByRole("button", { name: "Resume" }).waitFor();
    const top = async (place: Locator) => (await place.boundingBox())?.y ?? Number.NaN;
    await eventually(
      async () => (await top(page.locator(".canvas"))) - (await top(detail())),
    ).toBeGreaterThan(0);
    // A click fails on a button that another element covers.
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Go back" }).click();
    const right = async () => {
      const cancel = await page.getByRole("button", { name: "Cancel", exact: true }).boundingBox();
      return cancel === null ? null : cancel.x + cancel.width;
    };
    await eventually(right).toBeLessThanOrEqual(size.width);
    await detail().getByText("Yes", { exact: true }).click();
    await detail().getByRole("button", { name: "Resume" }).click();
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("completed");
  });
});
