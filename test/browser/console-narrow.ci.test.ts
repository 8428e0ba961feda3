// The console in a real Chromium in windows of every size: a phone, a tablet, a small window, a large one at twice the size.
// Nothing is cut off or covered, and all that a wide window shows is in reach.
import { createClient } from "@andante/client";
import { Agent, createWorkflow } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider, tokenFor } from "../support/tokens.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { sendOrders, triggerOptions, triggerWorkflows } from "./console/triggers.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

const phone = { width: 390, height: 844 };
const tablet = { width: 768, height: 1024 };

/** Its instructions are longer than the window. */
const wordy = new Agent({
  id: "wordy",
  name: "Wordy",
  instructions: Array.from({ length: 200 }, (_, line) => `Rule ${line}: be brief.`).join("\n"),
  model: scriptedModel(["Yes."]),
  tools: houseAgents.assistant.tools,
});

const chain = Array.from({ length: 5 }, (_, index) => index).reduce(
  (workflow, index) => workflow.andThen({ id: `step-${index}`, execute: ({ data }) => data }),
  createWorkflow({ id: "chain", name: "Chain", input: z.object({}) }),
);

/** Its name has no space, and its id is long. */
const endless = createWorkflow({
  id: "a-workflow-with-a-rather-long-id-that-says-all-about-it",
  name: "x".repeat(200),
  input: z.object({}),
}).andThen({ id: "step", execute: ({ data }) => data });

/** Fails with an error of many lines. */
const verbose = createWorkflow({ id: "verbose", name: "Verbose", input: z.object({}) }).andThen({
  id: "fail",
  execute: () => {
    throw new Error("a line of the answer of the bank\n".repeat(60));
  },
});

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const house = {
    workflows: { ...houseWorkflows, ...triggerWorkflows, chain, endless, verbose },
    agents: { ...houseAgents, wordy },
    logs: { level: "info" as const },
    ...triggerOptions,
  };
  const server = await serveForTest(house);
  const { andante } = server;
  const client = createClient({ baseUrl: server.url });
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

  /** Runs in the page: the elements of these that are beyond the window, or below another element. */
  const hidden = (selector: string) =>
    page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].flatMap((each) => {
      const { left, right, top, bottom, width } = each.getBoundingClientRect();
      // Below the end of the window, or of the panel that scrolls to it.
      const end = each.closest(".detail")?.getBoundingClientRect().bottom ?? innerHeight;
      if (width === 0 || bottom < 0 || top > innerHeight || (top + bottom) / 2 > end) return [];
      const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const isWhole = left >= 0 && right <= innerWidth;
      return isWhole && (at === null || each.contains(at)) ? [] : [each.outerHTML.slice(0, 80)];
    })`);

  /** Runs in the page: the containers of tables that cut something off, or scroll sideways. */
  const sideways = () =>
    page.evaluate(`[...document.querySelectorAll("main table, main .grid-row")].flatMap((table) => {
      const around = [];
      for (let each = table.parentElement; each !== null; each = each.parentElement) around.push(each);
      return around.flatMap((each) => {
        const isCut = getComputedStyle(each).overflowX !== "visible" && each.scrollWidth > each.clientWidth + 1;
        return isCut ? [each.className + " " + each.clientWidth + " < " + each.scrollWidth] : [];
      });
    })`);

  /** Runs in the page: tables that do not begin and end where the other content of their card or of the page does. */
  const uneven = () =>
    page.evaluate(`[...document.querySelectorAll("table.plain")].flatMap((table) => {
      const card = table.closest(".card");
      const around = card === null ? document.querySelector(".top") : card.querySelector("h2");
      const cells = [...table.querySelector("tr").children].filter((each) => each.getClientRects().length > 0);
      const start = (each) => each.getBoundingClientRect().left + parseFloat(getComputedStyle(each).paddingLeft);
      const end = (each) => each.getBoundingClientRect().right - parseFloat(getComputedStyle(each).paddingRight);
      if (around === null) return [];
      const off = [start(cells[0]) - start(around), end(cells.at(-1)) - end(around)].map(Math.round);
      return off.every((each) => Math.abs(each) <= 1) ? [] : [table.textContent.slice(0, 40) + " " + off];
    })`);

  test("in a window of any size no page is wider than it, and no button is cut off or covered", {
    timeout: 300_000,
  }, async () => {
    await andante.execute("invoice", { customer: "shop-7", card: "declined" }, { userId: "shop-7" });
    const { executionId } = await andante.execute("publish", { topic: "rivers" }, { userId: "support-2" });
    const { traces } = await andante.traces.list({ executionId });
    await andante.schedules.set("weekly", { workflowId: "chain", cron: "0 9 * * mon", input: {} });
    await sendOrders(andante);
    const [{ id: group } = { id: "" }] = (await client.failures()).groups;
    const sizes = [
      ...[phone, { width: 720, height: 450 }, tablet],
      // The second is the last at twice the size.
      ...[
        { width: 1024, height: 700 },
        { width: 1440, height: 900 },
      ],
    ];
    for (const [path, drawn] of [
      ...[["", ".wait-row"] as const, ["/inbox", ".inbox-item"] as const],
      ...[["/executions", ".grid-row"] as const, [`/executions/${executionId}`, ".detail .btn"] as const],
      ...[["/workflows", ".definition"] as const, ["/workflows/publish", ".form-acts"] as const],
      ...[["/agents", ".definition"] as const, ["/agents/assistant", ".composer"] as const],
      ...[["/failures", "tbody tr"] as const, ["/logs", ".log-line"] as const, ["/traces", "tr"] as const],
      ...[[`/traces/${traces[0]?.traceId}`, ".fall"] as const, ["/nodes", "tbody tr"] as const],
      ...[["/schedules", "tbody tr"] as const, ["/schedules/weekly", ".schedule-facts"] as const],
      ...[["/events", "tbody tr"] as const, ["/events/evt_ord_8810", ".event-page"] as const],
      ...[["/endpoints", "tbody tr"] as const, ["/endpoints/crm", "tbody tr"] as const],
      ...[["/deliveries", "tbody tr"] as const, ["/mcp", ".tools .card"] as const],
      ...[["/usage", "tbody tr"] as const, ["/api", ".operation"] as const],
      ...[["/usage?by=agent", "tbody tr"] as const, [`/failures?group=${group}`, "tbody tr"] as const],
      ...[["/events?tab=waits", "tbody tr"] as const, ["/workflows/invoice?tab=steps", "tbody tr"] as const],
      ...[["recent", "tbody tr"] as const, ["definitions", ".steps"] as const].map(
        ([tab, drawn]) => [`/workflows/publish?tab=${tab}`, drawn] as const,
      ),
    ]) {
      // Loaded once: a load takes most of the time. On a phone no list opens its first row by itself.
      await page.setViewportSize(phone);
      await open(path);
      for (const size of sizes) {
        const where = `${path} at ${size.width}`;
        await page.setViewportSize(size);
        await page.evaluate(
          "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
        await page.locator(drawn).first().waitFor();
        await eventually(
          () => page.evaluate("document.documentElement.scrollWidth"),
          where,
        ).toBeLessThanOrEqual(size.width);
        if (size.width >= 1024) {
          await eventually(sideways, where).toEqual([]);
          await eventually(uneven, where).toEqual([]);
        }
        const buttons =
          ".top .btn, .heading .btn, .filters > :not(.grow), .side .active, .foot button, .form-acts .btn";
        await eventually(() => hidden(buttons), where).toEqual([]);
      }
    }
  });

  test("names without end leave the rest of a page in sight, also at twice the size", async () => {
    const { executionId } = await andante.execute(endless.id, {});
    await andante.agents.text("assistant", "How many orders?", { conversationId: "n-3" });
    for (const size of [phone, { width: 720, height: 450 }]) {
      await page.setViewportSize(size);
      for (const path of ["/workflows", `/workflows/${endless.id}`, `/executions/${executionId}`]) {
        await open(path);
        await page.locator("main h2, .heading h2").first().waitFor();
        await eventually(() => hidden(".crumb > *, .heading .title > *, .search-box")).toEqual([]);
      }
      await open("/workflows");
      const name = `.definition[href$="${endless.id}"] h2`;
      await page.locator(name).scrollIntoViewIfNeeded();
      await eventually(() => hidden(name)).toEqual([]);
      await open("/agents/assistant?chat=n-3");
      await page.getByText("Fourteen in total").waitFor();
      await eventually(async () => (await page.locator(".messages").boundingBox())?.height).toBeGreaterThan(
        150,
      );
    }
  });

  /** Runs in the page: the texts of these elements that are cut off. */
  const cut = (selector: string) =>
    page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].flatMap((each) =>
      each.scrollWidth > each.clientWidth ? [each.textContent] : [])`);

  test("long errors, dates of other days, deadlines and nested values leave the rest of a row in sight", async () => {
    await andante.execute("verbose", {});
    await andante.execute("refund", { order: "o", amount: 1240, reason: "returned" });
    await andante.agents.text("assistant", "Delete customer 8813", { conversationId: "n-5" });
    const { items } = await andante.live.waiting({ limit: 200 });
    const asked = items.find(({ conversationId }) => conversationId === "n-5");
    for (const size of [
      { width: 1024, height: 700 },
      { width: 1440, height: 900 },
    ]) {
      await page.setViewportSize(size);
      await open("/failures");
      await page.locator("tbody tr", { hasText: "of the bank" }).waitFor();
      await eventually(() => hidden("tbody tr a")).toEqual([]);
      await open("/inbox");
      await page.locator(".inbox-item", { hasText: "€ 1240" }).waitFor();
      await eventually(() => cut(".inbox-item b")).toEqual([]);
    }
    await page.setViewportSize(phone);
    await open(`/inbox?item=${asked?.suspension.suspensionId}`);
    const nested = page.locator(".facts .facts dd").first();
    await eventually(async () => (await nested.boundingBox())?.width).toBeGreaterThan(150);
    // Two days later, the times of these executions have a date.
    await page.clock.install({ time: Date.now() + 2 * 86_400_000 });
    for (const width of [1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await open("/executions");
      await page.locator(".grid-row").first().waitFor();
      await eventually(() => cut(".grid-row .right")).toEqual([]);
    }
  });

  test("an open menu ends with the window", async () => {
    await page.setViewportSize({ width: 720, height: 450 });
    await open("/executions");
    await page.getByRole("button", { name: "workflow: all" }).click();
    const bottom = `document.querySelector("[role=menu]").getBoundingClientRect().bottom`;
    await eventually(() => page.evaluate(bottom)).toBeLessThanOrEqual(450);
    await page.keyboard.press("End");
    await eventually(() => page.locator("[data-highlighted]").textContent()).toBe("verbose");
    await eventually(() => hidden("[data-highlighted]")).toEqual([]);
  });

  test("the buttons of a graph are beside its steps", async () => {
    const { executionId } = await andante.execute("chain", {});
    for (const size of [phone, tablet, { width: 1024, height: 700 }, { width: 1440, height: 900 }]) {
      await page.setViewportSize(size);
      await open(`/executions/${executionId}`);
      await page.locator(".step-node").nth(4).waitFor();
      await eventually(() => hidden(".step-node, .react-flow__controls-button")).toEqual([]);
    }
  });

  /** Runs in the page: steps of the graph that the sides of its pane cut, or that are too small to read. */
  const illegible = () =>
    page.evaluate(`[...document.querySelectorAll(".step-node")].flatMap((each) => {
      const { left, right, height } = each.getBoundingClientRect();
      const pane = document.querySelector(".canvas").getBoundingClientRect();
      const isWhole = left >= pane.left && right <= pane.right;
      return isWhole && height >= 0.6 * each.offsetHeight ? [] : [each.textContent];
    })`);

  test("in a small window each step of a graph with steps side by side is whole and legible", async () => {
    const { executionId } = await andante.execute("publish", { topic: "rivers" });
    // No step is in sight on the way of the graph to its place alone.
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const height of [700, 560]) {
      await page.setViewportSize({ width: 1024, height });
      await open(`/executions/${executionId}`);
      await page.locator(".step-node").nth(4).waitFor();
      await eventually(illegible, `height ${height}`).toEqual([]);
      await eventually(() => hidden('.step-node[data-selected="true"]')).toEqual([]);
    }
  });

  test("on a narrow page the details of an agent take the place of its chat", async () => {
    await andante.agents.text("assistant", "How many orders?", { conversationId: "n-1" });
    await page.setViewportSize(tablet);
    await open("/agents/assistant?chat=n-1");
    const about = page.getByRole("complementary", { name: "About the agent" });
    const message = page.getByRole("textbox", { name: /^Message to/ });
    await message.fill("half a question");
    expect(await about.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Show its details" }).click();
    await about.getByText("deleteCustomer").waitFor();
    await about.getByRole("link", { name: "open trace →" }).waitFor();
    await eventually(() => message.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Show the chat" }).click();
    await eventually(() => message.inputValue()).toBe("half a question");
  });

  test("on a narrow page the open conversation is in sight among the others", async () => {
    for (let n = 0; n < 6; n += 1)
      await andante.agents.text("writer", `Write about river ${n}`, { conversationId: `n-4-${n}` });
    await page.setViewportSize(tablet);
    await open("/agents/writer?chat=n-4-0");
    await page.locator(".talk").nth(5).waitFor({ state: "attached" });
    await eventually(() => hidden(".talk.on")).toEqual([]);
  });

  test("long instructions leave the tools of an agent in sight", async () => {
    await open("/agents/wordy");
    const tools = page.getByRole("heading", { name: "Tools" });
    await tools.waitFor();
    await eventually(async () => (await tools.boundingBox())?.y).toBeLessThan(500);
  });

  test("a chat stays at its end when the window or the playground takes its room", async () => {
    await andante.agents.text("assistant", "A report, please", { conversationId: "n-2" });
    await page.setViewportSize(phone);
    await open("/agents/assistant?chat=n-2");
    await page.getByRole("link", { name: "Picture: chart" }).waitFor();
    const below = () =>
      page.evaluate(
        "(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)(document.querySelector('.messages'))",
      );
    await eventually(below).toBeLessThan(2);
    await page.getByRole("button", { name: "Playground", exact: true }).click();
    await page.getByLabel("Temperature", { exact: true }).waitFor();
    await eventually(below).toBeLessThan(2);
    await page.setViewportSize({ width: 390, height: 600 });
    await eventually(below).toBeLessThan(2);
  });

  test("on a phone Home shows each question above the ways to answer it", async () => {
    await andante.execute("refund", { order: "o", amount: 1240, reason: "returned" });
    await page.setViewportSize(phone);
    await open("");
    const row = page.locator(".wait-row").first();
    await row.getByRole("link", { name: "Approve…" }).waitFor();
    await eventually(async () => (await row.locator(".grow").boundingBox())?.width).toBeGreaterThan(250);
    await eventually(() => hidden(".wait-row .btn")).toEqual([]);
  });

  test("on a phone Home names the workflow of each execution", async () => {
    await andante.execute("invoice", { customer: "shop-7", card: "good" }, { userId: "shop-7" });
    await page.setViewportSize(phone);
    await open("");
    const row = page.locator(".wider tbody tr", { hasText: "invoice" }).first();
    await row.waitFor();
    await eventually(async () => (await row.locator("td").nth(1).boundingBox())?.width).toBeGreaterThan(80);
    await eventually(() => cut(".wider th, .wider .pill, .wider td a")).toEqual([]);
  });

  test("on a phone each key is on one line", async () => {
    await page.setViewportSize(phone);
    await open("/traces");
    await page.locator("main h1").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    const heights = `[...document.querySelectorAll(".key-list kbd")].map((key) => key.offsetHeight)`;
    await eventually(() => page.evaluate(`new Set(${heights}).size`)).toBe(1);
    await eventually(() => cut(".dialog, .key-list dd")).toEqual([]);
  });

  test("in a small window all pages are in sight in the side bar", async () => {
    await page.setViewportSize({ width: 1024, height: 700 });
    await open("/traces");
    await page.locator("main h1").waitFor();
    await eventually(() => hidden(".side .go")).toEqual([]);
  });

  test("in a small window the times of a schedule are whole, on a phone they scroll in their card", async () => {
    await andante.schedules.set("rare", {
      ...{ workflowId: "chain", cron: "0 9 * * mon", zone: "Europe/Berlin", input: {} },
    });
    await page.setViewportSize({ width: 1024, height: 700 });
    await open("/schedules/rare");
    await page.getByRole("region", { name: "Next times" }).locator("tbody tr").nth(4).waitFor();
    await eventually(() => cut(".schedule .card")).toEqual([]);
    await page.setViewportSize(phone);
    await eventually(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  });

  /** Runs in the page: the names of the columns whose cells are all within the window. */
  const columns = () =>
    page.evaluate(`[...document.querySelectorAll("table:last-of-type th")].flatMap((head, index) => {
      const cells = [head, ...document.querySelectorAll("table:last-of-type td:nth-child(" + (index + 1) + ")")];
      const isInside = cells.every((cell) => {
        const { left, right, width } = cell.getBoundingClientRect();
        return width > 0 && left >= 0 && right <= innerWidth;
      });
      return isInside ? [head.textContent] : [];
    })`);

  const longReason = "the accounting department closes its books and asked us to hold all reports";

  test("on a phone a table shows names, states and times without scrolling sideways", async () => {
    await andante.schedules.set("of-all-branches", {
      ...{ workflowId: "chain", cron: "30 2 * * *", zone: "Europe/Berlin", input: {} },
    });
    await andante.schedules.pause("of-all-branches", { reason: longReason, by: "olga" });
    await sendOrders(andante);
    await andante.agents.text("writer", "Write about rivers", { userId: "ada" });
    await page.setViewportSize(phone);
    for (const [path, shown] of [
      ["/schedules", ["Schedule", "State", "Next"]],
      ["/events", ["Event", "Key", "Effect", "Sent"]],
      ["/events?tab=waits", ["Event", "Key", "Waiting", "Oldest"]],
      ["/endpoints", ["Endpoint", "State", "Failed"]],
      ["/nodes", ["Node", "Status", "Last seen"]],
      ["/usage?by=user", ["User", "Calls", "Tokens in", "Tokens out"]],
    ] as const) {
      await open(path);
      await page.locator("tbody tr").first().waitFor();
      await eventually(columns, path).toEqual(expect.arrayContaining([...shown]));
    }
  });

  test("in a small window the reason of a pause leaves all columns of the schedules in sight", async () => {
    await andante.schedules.set("held", {
      ...{ workflowId: "measure", cron: "30 2 * * *", zone: "Europe/Berlin", input: { text: "one" } },
    });
    await andante.schedules.trigger("held");
    await andante.schedules.pause("held", { reason: longReason, by: "olga" });
    await page.setViewportSize({ width: 1024, height: 700 });
    await open("/schedules");
    await page.getByTitle(`by olga: ${longReason}`).first().waitFor();
    await eventually(sideways).toEqual([]);
  });

  test("in a small window an event names its executions as their list does, each on one line", async () => {
    await sendOrders(andante);
    await open("/events");
    const started = page.locator(".executions-cell a", { has: page.getByTitle("shipment:evt_ord_8813") });
    await eventually(() => started.textContent()).toBe("shipment:evt_ord_8813");
    await page.setViewportSize({ width: 1024, height: 700 });
    await eventually(() => started.textContent()).toBe("ship…ord_8813");
    await eventually(async () => (await started.boundingBox())?.height).toBeLessThan(25);
    await open("/executions");
    const listed = page.locator(".grid-row a", { hasText: "ord_8813" });
    await eventually(() => listed.textContent()).toBe("ship…ord_8813");
  });

  test("on a phone one signs out", async () => {
    const auth = provider({ defaultPrivate: true, publicRoutes: ["GET /console*"] });
    const guarded = await serveForTest({ ...house, auth });
    await page.addInitScript(`localStorage["andante-token"] ??= ${JSON.stringify(await tokenFor("ada"))}`);
    await page.setViewportSize(phone);
    await page.goto(`${guarded.url}/console/traces`);
    await page.locator(".foot", { hasText: "as ada" }).waitFor();
    await eventually(() => hidden(".foot button")).toEqual([]);
    await page.getByRole("button", { name: "sign out" }).click();
    await eventually(() => page.evaluate("localStorage['andante-token']")).toBeUndefined();
  });
});
