// Takes a picture of every page of the console on seeded data: both themes, four sizes. Argument: the folder for them.
//
// node --conditions=andante-source test/browser/console/screenshots.ts pictures [page …]
import { mkdirSync } from "node:fs";
import path from "node:path";
import { createClient } from "@andante/client";
import { createLogger, memoryStore } from "@andante/core";
import { serve } from "@andante/server";
import { chromium } from "playwright-core";
import { mcpClient } from "../../mcp/client.ts";
import { browserFlags, findChromium } from "../find-chromium.ts";
import { houseAgents, houseWorkflows } from "./house.ts";
import { ShiftedClock, seed } from "./seed.ts";
import { sendOrders, triggerOptions, triggerWorkflows } from "./triggers.ts";

const [folder = "pictures", ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const clock = new ShiftedClock();
const server = await serve({
  workflows: { ...houseWorkflows, ...triggerWorkflows },
  agents: houseAgents,
  ...triggerOptions,
  budgets: [{ per: "all", window: "1d", tokens: 100_000 }],
  store: memoryStore(),
  logger: createLogger({ level: "silent" }),
  logs: { level: "info" },
  port: 0,
  handleSignals: false,
  clock,
});
const { andante } = server;
await seed(andante, clock);
const running = await andante.start(
  "document-pipeline",
  { pages: 400, milliseconds: 400 },
  { userId: "batch" },
);
// The spans of agents are made by the real clock: one that waits since now has them where they belong.
await andante.execute("publish", { topic: "rivers" }, { userId: "support-2" });
const waiting = (await andante.list({ workflowId: "publish", status: "suspended" })).executions[0]
  ?.executionId;
const failed = (await andante.list({ status: "error" })).executions[0]?.executionId;
const chat = async (conversationId: string, text: string) => {
  const message = { id: `${conversationId}-1`, role: "user", parts: [{ type: "text", text }] };
  const body = JSON.stringify({ id: conversationId, messages: [message] });
  const headers = { "content-type": "application/json" };
  await (await fetch(`${server.url}/agents/assistant/chat`, { method: "POST", headers, body })).text();
};
await chat("c-39", "How many orders did customer 8813 place?");
await chat("c-41", "Customer 8813 asks us to delete everything we hold. Ticket 77.");
await chat("c-42", "A short report on customer 8813, please.");

const { traces } = await andante.traces.list({ ...(waiting && { executionId: waiting }) });

await chat("c-43", "Delete customer 8813, ticket 78.");
const asked = (await andante.live.waiting({ limit: 200 })).items.find(
  (item) => item.conversationId === "c-43",
);
const approval = { approvalId: asked?.approvalId ?? "", approved: true, by: "olga" };
await andante.agents.decide("c-43", { ...approval, reason: "the ticket is checked" });

await sendOrders(andante);
await andante.schedules.set("nightly", {
  ...{ workflowId: "measure", cron: "30 2 * * *", zone: "Europe/Berlin", input: { text: "one two" } },
});
for (let n = 0; n < 3; n++) await andante.schedules.trigger("nightly");
await andante.schedules.set("weekly", { workflowId: "measure", every: "7d", input: { text: "one two" } });
await andante.schedules.pause("weekly", { reason: "holidays", by: "olga" });
for (const text of ["one two", "three"]) await mcpClient(server.url).call("measure_text", { text });
await mcpClient(server.url).call("refund", { order: "ord_9001", amount: 2000, reason: "damaged" });
const { deliveryId } = await andante.deliveries.test("crm");
const { groups } = await createClient({ baseUrl: server.url }).failures();

/** The address of each page, an element on it once it is drawn, and one that is then clicked. */
const pages: Readonly<Record<string, readonly [address: string, drawn: string, clicked?: string]>> = {
  landing: ["/", "h1"],
  home: ["/console/", ".wait-row"],
  inbox: ["/console/inbox", ".inbox-one .form-acts"],
  executions: ["/console/executions", ".grid-row"],
  execution: [`/console/executions/${waiting}`, ".asks .form-acts"],
  running: [`/console/executions/${running.executionId}`, ".fall"],
  failed: [`/console/executions/${failed}`, ".fall"],
  workflows: ["/console/workflows", ".definition"],
  workflow: ["/console/workflows/publish", ".step-node"],
  run: ["/console/workflows/refund?tab=run", ".form-acts"],
  agents: ["/console/agents", ".definition"],
  agent: ["/console/agents/assistant?chat=c-41", ".tool-card.asks"],
  reply: ["/console/agents/assistant?chat=c-42", ".markdown table"],
  decided: ["/console/agents/assistant?chat=c-43", ".decided"],
  playground: ["/console/agents/assistant?chat=c-42", ".playground", ".playground button"],
  usage: ["/console/usage?by=agent", "tbody tr"],
  schedules: ["/console/schedules", "tbody tr"],
  schedule: ["/console/schedules/nightly", ".outcomes"],
  events: ["/console/events", "tbody tr"],
  waits: ["/console/events?tab=waits", "tbody tr"],
  event: ["/console/events/evt_ord_8810", ".event-page"],
  endpoints: ["/console/endpoints", "tbody tr"],
  endpoint: ["/console/endpoints/crm", "tbody tr"],
  delivery: [`/console/deliveries?item=${encodeURIComponent(deliveryId)}`, ".delivery-cards .json"],
  mcp: ["/console/mcp", ".tools tbody tr"],
  failures: ["/console/failures", "tbody tr"],
  group: [`/console/failures?group=${groups[0]?.id}`, "tbody tr"],
  nodes: ["/console/nodes", "tbody tr"],
  definitions: ["/console/workflows/publish?tab=definitions", ".steps"],
  logs: ["/console/logs", ".log-line"],
  traces: ["/console/traces", "tr"],
  trace: [`/console/traces/${traces[0]?.traceId}`, ".fall"],
  api: ["/console/api", ".operation"],
};
const sizes = {
  large: { width: 1440, height: 900 },
  small: { width: 1024, height: 700 },
  tablet: { width: 768, height: 1024 },
  phone: { width: 390, height: 844 },
};
const browser = await chromium.launch({ executablePath: await findChromium(), args: browserFlags });
for (const theme of ["light", "dark"] as const) {
  for (const [size, viewport] of Object.entries(sizes)) {
    const context = await browser.newContext({ viewport, colorScheme: theme });
    const page = await context.newPage();
    page.on(
      "console",
      (message) => message.type() === "error" && process.stderr.write(`${message.text()}\n`),
    );
    page.on("pageerror", (error) => process.stderr.write(`${error}\n`));
    for (const [name, [address, drawn, clicked]] of Object.entries(pages)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      await page.goto(`${server.url}${address}`);
      // On a phone, the form of the inbox is there and not shown.
      await page.locator(drawn).first().waitFor({ state: "attached" });
      if (clicked !== undefined) await page.locator(clicked).first().click();
      await page.waitForLoadState("networkidle", { timeout: 1500 }).catch(() => undefined);
      await page.screenshot({ path: path.join(folder, `${name}-${theme}-${size}.png`) });
    }
    await context.close();
  }
}
await browser.close();
await server.close();
