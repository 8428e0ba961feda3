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
  var axe: { run(where?: { readonly include?: readonly (readonly string[])[] }): Promise<AxeResults> };
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
  ])("%s", async (address, ready) => {
    await page.goto(`${server.url}/console${address}`);
    await page.locator(ready).first().waitFor();
    await expectNothingSerious({});
  });

  // Swagger UI draws thousands of elements, which are the same for each operation: the frame, the call that is filled in,
  // and an operation that is closed stand for all of them.
  test("/api", async () => {
    await page.goto(`${server.url}/console/api`);
    await page.locator(".opblock").first().waitFor({ timeout: 60_000 });
    await page.getByLabel("Workflow", { exact: true }).selectOption("measure");
    await page.locator("#operations-Workflows-executeWorkflow .btn.execute").waitFor();
    await expectNothingSerious({
      include: [
        ["nav"],
        ["header"],
        [".examples"],
        ["#operations-Workflows-executeWorkflow"],
        ["#operations-Workflows-listWorkflows"],
      ],
    });
  });

  async function expectNothingSerious(where: { readonly include?: readonly (readonly string[])[] }) {
    await page.evaluate(script);
    const { violations } = await page.evaluate(
      (context) => (context.include ? globalThis.axe.run(context) : globalThis.axe.run()),
      where,
    );
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join("\n")}`)).toEqual([]);
  }
});
