// Forms made from schemas, in a real Chromium: nothing is preselected, errors are at their field and announced with
// it, and a schema that cannot be drawn leaves JSON as the way out.
import { Agent, createWorkflow } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { tool } from "ai";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

const order = createWorkflow({
  id: "order",
  name: "Take an order",
  input: z.object({
    article: z.string().min(3).describe("Its number in the catalogue"),
    count: z.int().min(1).max(9).describe("Of the same article"),
    express: z.boolean().describe("Costs more"),
    sending: z.enum(["post", "courier"]).describe("How it is sent"),
    country: z.enum(["AT", "BE", "CH", "DE", "FR"]).describe("Where it is sent"),
    note: z.string().min(2).optional().describe("Printed on the parcel"),
  }),
}).andThen({ id: "take", execute: ({ data }) => data });

const decide = createWorkflow({ id: "decide", name: "Decide", input: z.object({}) }).andThen({
  id: "ask",
  resumeSchema: z.object({
    decision: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("approve"), amount: z.number() }),
      z.object({ kind: z.literal("reject"), why: z.string() }),
    ]),
    agreed: z.literal(true),
  }),
  execute: ({ resumeData, suspend }) => resumeData ?? suspend("Decide"),
});

const claim = createWorkflow({ id: "claim", name: "Settle a claim", input: z.object({}) }).andThen({
  id: "judge",
  resumeSchema: z.object({
    letter: z.string(),
    deductible: z.number(),
    limit: z.number(),
    payOn: z.iso.date(),
    items: z.array(z.object({ name: z.string(), count: z.number() })),
  }),
  execute: ({ resumeData, suspend }) =>
    resumeData ?? suspend("Judge the claim", { limit: 250, claim: "c-1" }),
});

const answers = createWorkflow({ id: "answers", input: z.object({}) }).andThen({
  id: "fill",
  resumeSchema: z.object({
    price: z.number().nullable(),
    payOn: z.iso.date(),
    calledAt: z.iso.datetime(),
    mail: z.email(),
    rates: z.record(z.string(), z.number()),
    colours: z.array(z.enum(["red", "green", "blue"])),
    scan: z.base64().meta({ contentMediaType: "application/pdf" }),
    payTo: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("iban"), iban: z.string() }),
      z.object({ kind: z.literal("cash"), desk: z.string() }),
    ]),
    address: z.object({ street: z.string() }).optional(),
    more: z.unknown().optional(),
  }),
  execute: ({ resumeData, suspend }) => resumeData ?? suspend("Fill in"),
});

const free = createWorkflow({ id: "free", input: z.object({ n: z.number() }) }).andThen({
  id: "ask",
  execute: ({ data, resumeData, suspend }) => resumeData ?? suspend(`Does it rain? ${data.n}`),
});

const report = createWorkflow({ id: "report", input: z.object({}) }).andThen({
  id: "read",
  execute: ({ suspend }) =>
    suspend("Read the report", {
      summary: "## What happened\n\nThe **pipe** broke.",
      lines: "first line\nsecond line",
      seenAt: "2026-12-24",
      source: "see https://example.com/claims/7.",
      customer: { name: "Ada", urgent: true, phones: ["1", "2"] },
    }),
});

const teller = new Agent({
  id: "teller",
  model: scriptedModel([
    { toolCalls: [{ toolName: "refund", input: { amount: 90, account: "AT12 0000" } }] },
    "paid",
  ]),
  tools: {
    refund: tool({
      inputSchema: z.object({ amount: z.number(), account: z.string() }),
      needsApproval: true,
      execute: (input) => input,
    }),
  },
});
const desk = createWorkflow({ id: "desk", input: z.object({}) }).andAgent({
  id: "ask",
  agent: teller,
  prompt: "go",
});

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest({ workflows: { order, decide, claim, desk, answers, free, report } });
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);
  const run = () => page.getByRole("button", { name: "Run", exact: true }).click();
  /** Shows another schema of `order` than the one that it has. */
  const withSchema = (inputSchema: unknown) =>
    page.route("**/workflows/order", async (route) => {
      const response = await route.fetch();
      const envelope = await response.json();
      await route.fulfill({ response, json: { ...envelope, data: { ...envelope.data, inputSchema } } });
    });

  beforeEach(async () => {
    page = await openPage(browser, (what) => complaints.push(what));
    await page.setViewportSize({ width: 1440, height: 900 });
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("hints and errors are spoken with their field", async () => {
    await open("/workflows/order?tab=run");
    const spoken = async (label: string | RegExp): Promise<string> => {
      const ids = await page.getByLabel(label).first().getAttribute("aria-describedby");
      const texts = (ids ?? "").split(" ").map((id) => page.locator(`[id="${id}"]`).textContent());
      return (await Promise.all(texts)).join(" | ");
    };
    await page.getByLabel(/^Article/).waitFor();
    await eventually(() => spoken(/^Article/)).toBe("Its number in the catalogue");
    await eventually(() => spoken(/^Count /)).toBe("Of the same article");
    await eventually(() => spoken("express")).toBe("Costs more");
    await eventually(() => spoken("sending")).toBe("How it is sent");
    await eventually(() => spoken(/^Country/)).toBe("Where it is sent");
    await eventually(() => spoken(/^Note/)).toBe("Printed on the parcel");
    await page.getByLabel(/^Article/).fill("x");
    await page.getByLabel(/^Count /).fill("12");
    await page.getByLabel(/^Note/).fill("y");
    await run();
    await eventually(() => spoken(/^Article/)).toBe(
      "Its number in the catalogue | At least 3 characters are needed",
    );
    await eventually(() => spoken(/^Count /)).toBe("Of the same article | This must be at most 9");
    await eventually(() => spoken(/^Note/)).toBe("Printed on the parcel | At least 2 characters are needed");
    await eventually(() => page.getByLabel(/^Article/).getAttribute("aria-invalid")).toBe("true");
  });

  test("edited as JSON, errors of the server and of the syntax are shown; mended, it runs", async () => {
    await open("/workflows/order?tab=run");
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    const json = page.getByLabel("JSON");
    const alert = page.getByRole("alert");
    const value = JSON.parse(await json.inputValue());
    await json.fill(JSON.stringify({ ...value, count: 12 }));
    await run();
    await eventually(() => alert.textContent()).toMatch(/count: .*9/);
    await eventually(() => json.getAttribute("aria-invalid")).toBe("true");
    await json.fill(`{ "article": `);
    await run();
    await eventually(() => alert.textContent()).toMatch(/JSON/);
    await page.getByRole("button", { name: "Back to the form" }).click();
    await eventually(() => alert.textContent()).toMatch(/JSON/);
    await json.fill(JSON.stringify({ ...value, count: 2 }));
    await page.getByRole("button", { name: "Back to the form" }).click();
    await eventually(() => page.getByLabel(/^Count /).inputValue()).toBe("2");
    await eventually(() => alert.count()).toBe(0);
    await run();
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("completed");
  });

  test("one of several objects is chosen by a person alone, and so is a Yes that must be", async () => {
    const { executionId } = await server.andante.execute("decide", {});
    await open("/inbox");
    const reject = page.getByRole("radio", { name: "Reject" });
    await reject.waitFor();
    expect(await page.locator("[role=radio][aria-checked=true]").count()).toBe(0);
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    expect(JSON.parse(await page.getByLabel("JSON").inputValue())).toEqual({});
    await page.getByRole("button", { name: "Back to the form" }).click();
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await page.getByRole("alert").first().waitFor();
    await reject.click();
    await page.getByLabel(/^Why/).fill("too much");
    expect(await page.getByLabel(/^Kind/).count()).toBe(0);
    await page.getByRole("radio", { name: "Yes" }).click();
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await page.getByText("Answered: Decide").waitFor();
    await eventually(async () => (await server.andante.state("decide", executionId)).result).toEqual({
      decision: { kind: "reject", why: "too much" },
      agreed: true,
    });
  });

  test("an answer starts empty, or with the data of the suspension, in the inbox and at the execution; nothing else is sent", async () => {
    const { executionId } = await server.andante.execute("claim", {});
    const sent: unknown[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/resume")) sent.push(request.postDataJSON()?.resumeData);
    });
    const starts = async () => {
      await page.getByLabel(/^Limit/).waitFor();
      const inputs = page.locator(".schema-form").locator("input, textarea");
      return Promise.all((await inputs.all()).map((input) => input.inputValue()));
    };
    await open(`/executions/${executionId}`);
    await eventually(starts).toEqual(["", "", "250", ""]);
    await open("/inbox?workflowId=claim");
    await eventually(starts).toEqual(["", "", "250", ""]);
    expect(await page.locator(".form-item").count()).toBe(0);
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await page.getByRole("alert").first().waitFor();
    expect(sent).toEqual([{ limit: 250, items: [] }]);
    expect((await server.andante.state("claim", executionId)).status).toBe("suspended");
    await server.andante.cancel("claim", executionId);
  });

  test("the approval of a tool starts with the input of the tool, which a person can change", async () => {
    const { executionId } = await server.andante.execute("desk", {});
    await open("/inbox?workflowId=desk");
    const amount = page.getByLabel(/^Amount/);
    await eventually(() => amount.inputValue()).toBe("90");
    await eventually(() => page.getByLabel(/^Account/).inputValue()).toBe("AT12 0000");
    await page.getByRole("radio", { name: "Yes" }).click();
    await amount.fill("45");
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await page.locator(".answered").waitFor();
    const output = async () => {
      const events = await server.andante.events("desk", executionId);
      return JSON.stringify(events.filter(({ type }) => type === "checkpoint-complete"));
    };
    await eventually(output).toContain('"amount":45,"account":"AT12 0000"');
  });

  test("dates, addresses, files, records, choices of several and values that may be none have fields of their own", async () => {
    const { executionId } = await server.andante.execute("answers", {});
    await open("/inbox?workflowId=answers");
    const typeOf = (label: RegExp) => page.getByLabel(label).first().getAttribute("type");
    await page.getByLabel(/^Mail/).waitFor();
    expect([await typeOf(/^Price/), await typeOf(/^Pay on/), await typeOf(/^Called at/)]).toEqual([
      ...["number", "date", "datetime-local"],
    ]);
    expect([await typeOf(/^Mail/), await typeOf(/^Scan/)]).toEqual(["email", "file"]);
    await page.getByLabel("Price: none").check();
    await page.getByLabel(/^Pay on/).fill("2026-12-24");
    await page.getByLabel(/^Called at/).fill("2026-12-23T10:30");
    await page.getByLabel(/^Mail/).fill("ada@example.com");
    await page.getByLabel("Name of a new entry of Rates").fill("EUR");
    await page.keyboard.press("Enter");
    await page.getByLabel(/^EUR/).fill("1.5");
    const colours = page.getByRole("group", { name: "Colours" });
    for (const colour of ["blue", "red"]) await colours.getByLabel(colour).check();
    const scan = { name: "scan.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7") };
    await page.getByLabel(/^Scan/).setInputFiles(scan);
    await page.getByText("scan.pdf · 8 B").waitFor();
    await page.getByRole("radiogroup", { name: "Pay to" }).getByRole("radio", { name: "Iban" }).click();
    await page.getByLabel(/^Iban/).fill("AT12 0000");
    await page.getByLabel(/^More/).fill("any words");
    expect(await page.getByLabel(/^Kind/).count()).toBe(0);
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await page.getByText("Answered: Fill in").waitFor();
    const calledAt = await page.evaluate("new Date('2026-12-23T10:30').toJSON()");
    await eventually(async () => (await server.andante.state("answers", executionId)).result).toEqual({
      ...{ price: null, payOn: "2026-12-24", calledAt, mail: "ada@example.com", rates: { EUR: 1.5 } },
      ...{ colours: ["red", "blue"], scan: Buffer.from("%PDF-1.7").toString("base64") },
      ...{ payTo: { kind: "iban", iban: "AT12 0000" }, more: "any words" },
    });
  });

  test("an answer that is refused puts the focus on the first error, in plain words, and scrolls to it", async () => {
    const { executionId } = await server.andante.execute("answers", {});
    await page.setViewportSize({ width: 1024, height: 500 });
    await open("/inbox?workflowId=answers");
    const price = page.getByLabel(/^Price/).first();
    await price.waitFor();
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await eventually(() => page.locator(".field-error").first().textContent()).toBe("This is required");
    await eventually(() => page.evaluate("document.activeElement?.id")).toBe(await price.getAttribute("id"));
    const isInSight = `(({ top, bottom }) => top > 0 && bottom < innerHeight)(
      document.activeElement.getBoundingClientRect()
    )`;
    await eventually(() => page.evaluate(isInSight)).toBe(true);
    expect((await page.locator(".field-error").allTextContents()).join()).not.toContain("Invalid input");
    // An error at a choice that was not made does not turn its constant into a field.
    await page.getByRole("radio", { name: "Iban" }).click();
    expect(await page.getByLabel(/^Kind/).count()).toBe(0);
    await server.andante.cancel("answers", executionId);
  });

  test("without a schema the answer is text or JSON; the typed text survives another item and a reload", async () => {
    const [first, second] = [
      await server.andante.execute("free", { n: 1 }),
      await server.andante.execute("free", { n: 2 }),
    ];
    await open("/inbox?workflowId=free");
    const typed = page.locator(".json-entry textarea");
    await page.getByLabel("Text", { exact: true }).fill("Yes, it rains");
    await page.getByRole("button", { name: "Skip" }).click();
    await page.getByRole("heading", { name: "Does it rain? 2" }).waitFor();
    await eventually(() => typed.inputValue()).toBe("");
    await page.getByRole("radio", { name: "JSON" }).click();
    await typed.fill('{ "rain": false }');
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await page.getByRole("heading", { name: "Does it rain? 1" }).waitFor();
    await page.reload();
    await eventually(() => typed.inputValue()).toBe("Yes, it rains");
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await eventually(async () => (await server.andante.state("free", first.executionId)).result).toBe(
      "Yes, it rains",
    );
    expect((await server.andante.state("free", second.executionId)).result).toEqual({ rain: false });
  });

  test("the data of a question is readable: markdown, lines, dates, links and nested values", async () => {
    await server.andante.execute("report", {});
    await open("/inbox?workflowId=report");
    const facts = page.locator(".facts-frame");
    await facts.getByRole("heading", { name: "What happened" }).waitFor();
    await eventually(() => facts.locator("strong").textContent()).toBe("pipe");
    await eventually(() => facts.locator(".lines").first().textContent()).toBe("first line\nsecond line");
    const spacing = "getComputedStyle(document.querySelector('.lines')).whiteSpace";
    await eventually(() => page.evaluate(spacing)).toBe("pre-line");
    await eventually(() => facts.locator("time").textContent()).toBe("24 December 2026");
    await eventually(() => facts.getByRole("link").getAttribute("href")).toBe("https://example.com/claims/7");
    const nested = facts.locator("dd dl");
    await eventually(() => nested.locator("dt").allTextContents()).toEqual(["Name", "Urgent", "Phones"]);
    await eventually(() => nested.locator("dd").nth(1).textContent()).toBe("Yes");
    await eventually(() => nested.locator("li").allTextContents()).toEqual(["1", "2"]);
  });

  test("a schema with a dangling reference leaves JSON with a note, and the page stays", async () => {
    await withSchema({
      type: "object",
      properties: { article: { type: "string" }, more: { type: "array", items: { $ref: "#/$defs/gone" } } },
    });
    await open("/workflows/order?tab=run");
    await page.getByText("its schema refers to #/$defs/gone, which is not in it").waitFor();
    expect(await page.getByRole("button", { name: "Back to the form" }).count()).toBe(0);
    expect(JSON.parse(await page.getByLabel("JSON").inputValue())).toHaveProperty("article");
    await run();
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("completed");
  });

  test("so does a schema that the form cannot draw for any other reason", async () => {
    await withSchema({ type: "object", properties: { article: { $ref: "#/properties/article" } } });
    await open("/workflows/order?tab=run");
    await page.getByText("This form cannot be drawn:").waitFor();
    await run();
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("completed");
  });
});
