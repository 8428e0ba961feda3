// Endpoints and their deliveries in the console, in a real Chromium, with a receiver that refuses at first.
import { createServer } from "node:http";
import { createWorkflow } from "@andante/core";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { cleanup } from "../support/cleanup.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const publish = createWorkflow({ id: "publish", input: z.object({ text: z.string() }) }).andThen({
  id: "print",
  execute: ({ data }) => data,
});

describe("in Chromium", async () => {
  const browser = await openBrowser();
  let status = 503;
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(status).end("no reader of this"));
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", () => resolve()));
  cleanup(() => new Promise((resolve) => receiver.close(resolve)));
  const listening = receiver.address();
  const port = typeof listening === "object" ? listening?.port : undefined;
  const address = `http://127.0.0.1:${port}/hooks`;
  const crm = { url: address, secret, on: ["execution.ended"] as const, allowPrivate: true };
  const { url, andante } = await serveForTest({ workflows: { publish }, endpoints: { crm } });
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${url}/console${path}`);
  const rows = () => page.locator("tbody tr").allTextContents();

  beforeEach(async () => {
    page = await openWatchedPage(browser, (problem) => complaints.push(problem));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("a refused delivery shows its attempts and its next one; what is delivered is sent again", async () => {
    const { executionId } = await andante.execute("publish", { text: "a" });
    await open("/");
    await page.getByRole("link", { name: "Endpoints" }).click();
    await eventually(rows).toEqual([
      expect.stringMatching(/^crmhttp:.*\/hooksactive.*execution\.endedall010$/),
    ]);
    await page.locator("tbody").getByRole("link", { name: "crm" }).click();
    await eventually(() => page.locator(".endpoint-facts").textContent()).toContain("in code");
    expect(await page.getByRole("button", { name: "Remove…" }).count()).toBe(0);
    await eventually(rows).toEqual([expect.stringMatching(/^execution\.endedpending.*\d.*503.*in \d/)]);
    await page.getByRole("link", { name: "execution.ended" }).click();
    await eventually(() => page.getByRole("region", { name: "Attempts" }).textContent()).toContain("503");
    await eventually(() => page.getByRole("region", { name: "Body" }).textContent()).toContain(executionId);
    expect(await page.getByRole("button", { name: "Send again" }).count()).toBe(0);
    status = 200;
    await andante.execute("publish", { text: "b" });
    await page.goBack();
    await page.locator("tr", { hasText: "delivered" }).getByRole("link", { name: "execution.ended" }).click();
    await eventually(() => page.locator(".heading").textContent()).toMatch(/delivered.*1 attempt/);
    await page.getByRole("button", { name: "Send again" }).click();
    await eventually(() => page.locator("section tbody tr").allTextContents()).toEqual([
      expect.stringMatching(/HTTP 200/),
      expect.stringMatching(/HTTP 200/),
    ]);
    expect(JSON.stringify(await page.content())).not.toContain(secret);
    await open("/deliveries?status=failed");
    await page.getByText("There are none.").waitFor();
    await page.getByRole("link", { name: "All deliveries" }).click();
    await eventually(rows).toHaveLength(2);
    await page.getByRole("link", { name: "delivered", exact: true }).click();
    await eventually(rows).toEqual([expect.stringMatching(/^execution\.endeddeliveredcrm/)]);
  });

  test("an endpoint is added with a secret that is shown once, changed, tested, and removed", async () => {
    await open("/endpoints");
    await page.getByRole("button", { name: "Add…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^Id/).fill("mail");
    await dialog.getByLabel(/^Address/).fill("not an address");
    await dialog.getByRole("button", { name: "Add it" }).click();
    await eventually(() => dialog.getByText(/url/i).count()).toBeGreaterThan(0);
    await dialog.getByLabel(/^Address/).fill("https://mail.invalid/hooks");
    await dialog.getByRole("button", { name: "Add it" }).click();
    await eventually(() => dialog.locator("code").textContent()).toMatch(/^whsec_/);
    await dialog.getByRole("button", { name: "I have kept it" }).click();
    await page.waitForURL(/\/endpoints\/mail/);
    await eventually(() => page.locator(".endpoint-facts").textContent()).toMatch(
      /Eventsall.*thin.*1 secret/,
    );
    await page.getByRole("button", { name: "Change…" }).click();
    await dialog.getByLabel(/^Address/).fill("https://mail.invalid/other");
    await dialog.getByRole("button", { name: "Save" }).click();
    await eventually(() => page.locator(".heading h2").textContent()).toBe("https://mail.invalid/other");
    await page.getByRole("button", { name: "New secret…" }).click();
    await page.getByRole("button", { name: "Make it" }).click();
    await eventually(() => dialog.locator("code").textContent()).toMatch(/^whsec_/);
    await dialog.getByRole("button", { name: "I have kept it" }).click();
    await eventually(() => page.locator(".endpoint-facts").textContent()).toContain("2 secrets");
    await page.getByRole("button", { name: "Send a test" }).click();
    await eventually(() => page.locator(".heading h2").textContent()).toBe("endpoint.test");
    await open("/endpoints/mail");
    await page.getByRole("button", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove it" }).click();
    await eventually(() => page.locator("tbody tr td:first-child").allTextContents()).toEqual(["crm"]);
  });

  test("without endpoints the page says how to have some", async () => {
    const { url: other } = await serveForTest({ workflows: { publish } });
    await page.goto(`${other}/console/endpoints`);
    await page.getByRole("heading", { name: "No endpoints" }).waitFor();
    await page.goto(`${other}/console/deliveries`);
    await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
    // The deliveries are a part of the endpoints in the side bar.
    await eventually(() => page.locator(".side [aria-current]").allTextContents()).toEqual(["Endpoints"]);
    await page.getByRole("link", { name: "failed", exact: true }).click();
    await page.getByText("There are none.").waitFor();
  });
});
