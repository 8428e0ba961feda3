// Every page of the console passes axe: no violation that is serious or worse, light and dark.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { openBrowser } from "./open-browser.ts";

const script = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

declare global {
  var axe: { run(): Promise<AxeResults> };
}

describe.each(["light", "dark"] as const)("%s", async (colorScheme) => {
  const browser = await openBrowser();
  const server = await serveForTest({ workflows: houseWorkflows, agents: houseAgents });
  const { andante } = server;
  await andante.execute("measure", { text: "one two" });
  await andante.execute("invoice", { customer: "shop-7", card: "declined" }, { userId: "shop-7" });
  const { executionId } = await andante.execute("publish", { topic: "rivers" }, { userId: "support-2" });
  await andante.execute("refund", { order: "o", amount: 1240, reason: "returned" });
  const { traces } = await andante.traces.list({ executionId });
  const traceId = traces[0]?.traceId;
  // The policy of the page stays as it is; axe comes from outside of it.
  const context = await browser.newContext({
    colorScheme,
    viewport: { width: 1440, height: 900 },
    bypassCSP: true,
  });
  const page = await context.newPage();

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
    [`/traces/${traceId}`, ".fall"],
    ["/api?item=executeWorkflow", ".operation-body"],
  ])("%s", async (address, ready) => {
    await page.goto(`${server.url}/console${address}`);
    await page.locator(ready).first().waitFor();
    await expectNothingSerious();
  });

  async function expectNothingSerious() {
    await page.evaluate(script);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join("\n")}`)).toEqual([]);
  }
});
