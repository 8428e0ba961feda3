// Every page of the console passes axe: no violation of any impact, light and dark. The rules that no colour changes run in
// light alone.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createClient } from "@andante/client";
import type { AxeResults, RunOptions } from "axe-core";
import { describe, expect, test } from "vitest";
import { mcpClient } from "../mcp/client.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider } from "../support/tokens.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { sendOrders, triggerOptions, triggerWorkflows } from "./console/triggers.ts";
import { openBrowser, openPage } from "./open-browser.ts";

const script = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

declare global {
  var axe: { run(options?: RunOptions): Promise<AxeResults> };
}

/** The rules that depend on colours. */
const colourRules = ["color-contrast", "link-in-text-block"];

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const budgets = [{ per: "all", window: "1d", tokens: 10_000_000 }] as const;
  const workflows = { ...houseWorkflows, ...triggerWorkflows };
  const server = await serveForTest({ workflows, agents: houseAgents, budgets, ...triggerOptions });
  const { andante } = server;
  await sendOrders(andante);
  await andante.execute("measure", { text: "one two" });
  await andante.execute("invoice", { customer: "shop-7", card: "declined" }, { userId: "shop-7" });
  const { executionId } = await andante.execute("publish", { topic: "rivers" }, { userId: "support-2" });
  await andante.execute("refund", { order: "o", amount: 1240, reason: "returned" });
  const often = { workflowId: "measure", cron: "30 2 * * *", zone: "Europe/Berlin", input: { text: "a b" } };
  await andante.schedules.set("report", often);
  await andante.schedules.trigger("report");
  await andante.schedules.pause("report", { reason: "holidays", by: "olga" });
  await mcpClient(server.url).call("measure_text", { text: "one two" });
  const { deliveryId } = await andante.deliveries.test("crm");
  const { traces } = await andante.traces.list({ executionId });
  const traceId = traces[0]?.traceId;
  const { groups } = await createClient({ baseUrl: server.url }).failures();
  // The policy of the page stays as it is; axe comes from outside of it.
  const wide = { width: 1440, height: 900 };
  // Without the movements of colours from one theme to the other.
  const options = { viewport: wide, bypassCSP: true, reducedMotion: "reduce" } as const;
  const page = await openPage(browser, () => undefined, options);

  test.each([
    ["/", ".wait-row"],
    ["/inbox", ".answer .form-acts"],
    ["/executions", ".grid-row"],
    [`/executions/${executionId}`, ".asks .form-acts"],
    ["/workflows", ".definition"],
    ["/workflows/publish", ".form-acts"],
    ["/agents", ".definition"],
    ["/agents/assistant", ".composer"],
    ["/schedules", "tbody tr"],
    ["/schedules/report", ".outcomes"],
    ["/events", "tbody tr"],
    ["/events?tab=waits", "tbody tr"],
    ["/events/evt_ord_8810", ".event-page .json"],
    ["/endpoints", "tbody tr"],
    ["/endpoints/crm", "tbody tr"],
    [`/deliveries?item=${encodeURIComponent(deliveryId)}`, ".delivery-cards .json"],
    ["/mcp", ".tools tbody tr"],
    ["/logs", ".log-line"],
    ["/traces", "tr"],
    ["/failures", "tr"],
    [`/failures?group=${groups[0]?.id}`, "tbody tr"],
    ["/nodes", "tbody tr"],
    ["/usage?by=agent", ".budgets tbody tr"],
    ["/workflows/publish?tab=definitions", ".steps"],
    [`/traces/${traceId}`, ".fall"],
    ["/api?item=executeWorkflow", ".operation-body"],
  ])("%s", async (address, ready) => {
    await page.goto(`${server.url}/console${address}`);
    await page.locator(ready).first().waitFor();
    await expectNoViolation();
  });

  test("the playground of a chat, and a call that was decided", async () => {
    const talk = { conversationId: "axe" };
    await andante.agents.text("assistant", "Delete customer 8813", talk);
    const { items } = await andante.live.waiting({ limit: 100 });
    const asked = items.find(({ conversationId }) => conversationId === talk.conversationId);
    const decision = { approvalId: asked?.approvalId ?? "", approved: false, reason: "a hold", by: "olga" };
    await andante.agents.decide(talk.conversationId, decision);
    await page.goto(`${server.url}/console/agents/assistant?chat=${talk.conversationId}`);
    await page.locator(".decided").waitFor();
    await page.getByRole("button", { name: "Playground", exact: true }).click();
    await page.getByLabel("Temperature", { exact: true }).fill("0.2");
    await expectNoViolation();
  });

  test("dialogs, the palette and an open menu", async () => {
    await page.goto(`${server.url}/console/executions/${executionId}`);
    await page.locator(".asks .form-acts").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await expectNoViolation();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Replay…" }).click();
    await page.getByRole("dialog").getByLabel("From the step").waitFor();
    await expectNoViolation();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    await expectNoViolation();
    await page.goto(`${server.url}/console/executions`);
    await page.locator(".grid-row").first().waitFor();
    await page.getByRole("button", { name: "workflow: all" }).click();
    await page.getByRole("menuitem").first().waitFor();
    await expectNoViolation();
  });

  test.each([
    ["/", ".wait-row"],
    ["/inbox", ".inbox-item"],
    [`/executions/${executionId}`, ".asks .form-acts"],
    ["/agents/assistant", ".composer"],
    ["/events", "tbody tr"],
    ["/endpoints", "tbody tr"],
    ["/mcp", ".tools tbody tr"],
    ["/logs", ".log-line"],
    ["/api?item=executeWorkflow", ".operation-body"],
  ])("on a phone: %s", async (address, ready) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${server.url}/console${address}`);
    await page.locator(ready).first().waitFor();
    await expectNoViolation();
  });

  test("the sign-in, and pages before anything has run", async () => {
    await page.setViewportSize(wide);
    const auth = provider({ defaultPrivate: true, publicRoutes: ["GET /console*"] });
    const guarded = await serveForTest({ workflows: houseWorkflows, auth });
    await page.goto(`${guarded.url}/console/`);
    await page.getByLabel("Token").fill("not.a.token");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await expectNoViolation();
    const empty = await serveForTest({ workflows: houseWorkflows, agents: houseAgents });
    for (const [address, heading] of [
      ["/", "Nothing has run yet"],
      ["/inbox", "Nothing waits for a person"],
      ["/executions", "Nothing has run yet"],
      ["/events", "No events yet"],
      ["/events?tab=waits", "Nothing waits for an event"],
      ["/endpoints", "No endpoints"],
      ["/mcp", "MCP is off"],
      ["/failures", "Nothing failed"],
      ["/traces", "No traces yet"],
    ] as const) {
      await page.goto(`${empty.url}/console${address}`);
      await page.getByRole("heading", { name: heading }).waitFor();
      await expectNoViolation();
    }
  });

  async function expectNoViolation() {
    await page.evaluate(script);
    const light = await page.evaluate(() => globalThis.axe.run());
    await page.evaluate('document.documentElement.dataset.theme = "dark"');
    const run = (values: string[]) => globalThis.axe.run({ runOnly: { type: "rule", values } });
    const dark = await page.evaluate(run, colourRules);
    await page.evaluate('document.documentElement.dataset.theme = "light"');
    const described = Object.entries({ light, dark }).flatMap(([theme, { violations }]) =>
      violations.map(({ id, nodes }) => `${theme} ${id}: ${nodes.map(({ html }) => html).join("\n")}`),
    );
    expect(described).toEqual([]);
  }
});
