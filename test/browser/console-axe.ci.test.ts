// Every page of the console passes axe: no violation of any impact, light and dark.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { openBrowser, openPage } from "./open-browser.ts";

const script = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

declare global {
  var axe: { run(): Promise<AxeResults> };
}

describe.each(["light", "dark"] as const)("%s", async (colorScheme) => {
  const browser = await openBrowser();
  const budgets = [{ per: "all", window: "1d", tokens: 10_000_000 }] as const;
  const server = await serveForTest({ workflows: houseWorkflows, agents: houseAgents, budgets });
  const { andante } = server;
  await andante.execute("measure", { text: "one two" });
  await andante.execute("invoice", { customer: "shop-7", card: "declined" }, { userId: "shop-7" });
  const { executionId } = await andante.execute("publish", { topic: "rivers" }, { userId: "support-2" });
  await andante.execute("refund", { order: "o", amount: 1240, reason: "returned" });
  const { traces } = await andante.traces.list({ executionId });
  const traceId = traces[0]?.traceId;
  // The policy of the page stays as it is; axe comes from outside of it.
  const options = { colorScheme, viewport: { width: 1440, height: 900 }, bypassCSP: true };
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
    ["/logs", ".log-line"],
    ["/traces", "tr"],
    ["/failures", "tr"],
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
    const talk = { conversationId: `axe-${colorScheme}` };
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

  async function expectNoViolation() {
    await page.evaluate(script);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join("\n")}`)).toEqual(
      [],
    );
  }
});
