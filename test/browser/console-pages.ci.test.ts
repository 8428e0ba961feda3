// The console in a real Chromium, on a live server: the main job of each page, and sign-in.
import { createWorkflow } from "@andante/core";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { dataOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { houseAgents, houseWorkflows } from "./console/house.ts";
import { eventually, openBrowser, openPage, openWatchedPage } from "./open-browser.ts";

const house = { workflows: houseWorkflows, agents: houseAgents };

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest(house);
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);
  const heading = () => page.locator("main h1").textContent();
  const refund = (amount: number) =>
    server.andante.execute("refund", { order: "ord_1", amount, reason: "returned" }, { userId: "shop-1" });

  beforeEach(async () => {
    page = await openWatchedPage(browser, (what) => complaints.push(what));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("the list is live, filters stay in the address, and a reload shows the same", async () => {
    await server.andante.execute("invoice", { customer: "shop-7", card: "declined" }, { userId: "shop-7" });
    await open("/executions");
    await page.locator(".grid-row").first().waitFor();
    const { executionId } = await server.andante.execute("measure", { text: "one two" });
    const row = page.locator(".grid-row", { hasText: executionId.slice(0, 13) });
    await eventually(() => row.first().textContent()).toContain("measure");
    await page.getByRole("link", { name: /^error/ }).click();
    await page.getByRole("button", { name: /^user/ }).click();
    await page.getByRole("textbox", { name: "user" }).fill("shop-7");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator(".grid-row").count()).toBe(1);
    expect(new URL(page.url()).search).toBe("?status=error&userId=shop-7");
    const ids = page.locator(".grid-row").getByRole("link");
    const before = await ids.allTextContents();
    await page.reload();
    await eventually(() => ids.allTextContents()).toEqual(before);
  });

  test("failures that differ only in numbers are one row, which names their definitions and leads to exactly them", async () => {
    const file = temporaryFile();
    const pay = createWorkflow({ id: "pay", input: z.object({ problem: z.string() }) });
    const charge = {
      id: "charge",
      execute: ({ data }: { readonly data: { readonly problem: string } }) => {
        throw new Error(data.problem);
      },
    };
    const first = { workflows: { pay: pay.andThen(charge) }, store: file.open() };
    const checked = pay.andThen({ id: "check", execute: ({ data }) => data }).andThen(charge);
    const before = await serveForTest(first);
    await before.andante.execute("pay", { problem: "card 1 declined" }, { executionId: "first" });
    await before.close();
    const shop = await serveForTest({ workflows: { pay: checked }, store: file.open() });
    const { andante } = shop;
    await andante.execute("pay", { problem: "bank closed" }, { executionId: "closed" });
    await andante.execute("pay", { problem: "card 2 declined" }, { executionId: "second" });
    const ends = new Map((await andante.list()).executions.map((each) => [each.executionId, each.endAt]));
    const history = listOf(dataOf(await shop.get("/api/workflows/pay/definitions")), "definitions");
    const names = history.map(({ definition }) => String(definition).slice(0, 8));

    await page.goto(`${shop.url}/console/`);
    await page.getByRole("link", { name: "All failures →" }).click();
    await page.waitForURL(/\/failures/);
    const row = page.locator("tbody tr", { hasText: "card # declined" });
    const link = row.getByRole("link", { name: "failed executions of pay" });
    await eventually(() => link.textContent()).toMatch(/^2 /);
    const times = row.locator("time");
    expect([
      await times.first().getAttribute("datetime"),
      await times.last().getAttribute("datetime"),
    ]).toEqual([ends.get("first"), ends.get("second")]);
    const definitions = (within: Locator) => within.locator('a[href$="/workflows/pay?tab=definitions"]');
    expect(await definitions(row).allTextContents()).toEqual(names);
    const other = page.locator("tbody tr", { hasText: "bank closed" });
    expect(await definitions(other).allTextContents()).toEqual(names.slice(0, 1));

    await link.click();
    const listed = page.getByRole("table", { name: "Executions of the group" }).locator("tbody tr");
    await eventually(() => listed.count()).toBe(2);
    expect(new URL(page.url()).search).toMatch(/^\?group=[\w-]+&since=7d$/);
    expect(await listed.locator('a[href*="/executions/"]').allTextContents()).toEqual(["second", "first"]);
    expect(await definitions(listed).allTextContents()).toEqual(names);
    const listedTimes = await listed.locator("time").all();
    const shown = await Promise.all(listedTimes.map((each) => each.getAttribute("datetime")));
    expect(shown).toEqual([ends.get("second"), ends.get("first")]);
    await page.reload();
    await eventually(() => listed.count()).toBe(2);
    await page.locator(".crumb").getByRole("link", { name: "Failures" }).click();
    await eventually(() => link.textContent()).toMatch(/^2 /);
    await definitions(row).first().click();
    await eventually(() => page.locator(".definitions .steps").count()).toBe(2);
    await page.goto(`${shop.url}/console/failures?group=unknown`);
    await page.getByRole("heading", { name: "Nothing failed in this way" }).waitFor();
  });

  test("many are cancelled at once, after a question", async () => {
    await refund(1100);
    await refund(1200);
    await open("/executions?status=suspended&workflowId=refund");
    await eventually(() => page.locator(".grid-row").count()).toBe(2);
    await page.getByLabel("Choose all that are shown").check();
    await page.getByRole("button", { name: "Cancel…" }).click();
    await page.getByRole("button", { name: "Cancel 2 executions" }).click();
    await page.getByRole("heading", { name: "Nothing matches these filters" }).waitFor();
    const { executions } = await server.andante.list({ workflowId: "refund", status: "cancelled" });
    expect(executions).toHaveLength(2);
  });

  test("graph, events and waterfall are three views of one selection; a finished run plays again and is replayed", async () => {
    const { executionId } = await server.andante.execute("measure", { text: "one two three" });
    await open(`/executions/${executionId}`);
    const detail = page.getByRole("complementary", { name: "Selected step" });
    await page.locator(".step-node", { hasText: "words" }).click();
    await eventually(() => detail.locator("h3").textContent()).toBe("words");
    expect(page.url()).toContain("step=count%2Fwords");
    await eventually(() => page.locator('.event[data-selected="true"]').count()).toBe(2);
    await eventually(() => page.locator('.fall[data-selected="true"]').textContent()).toContain("words");
    await page.locator(".fall", { hasText: "report" }).click();
    await eventually(() => detail.locator("h3").textContent()).toBe("report");
    await page.getByLabel("Event", { exact: true }).fill("3");
    await eventually(() => page.locator('.step-node[data-status="ahead"]').count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Play the run again" }).click();
    await eventually(() => page.locator('.step-node[data-status="completed"]').count()).toBe(3);
    await detail.getByRole("button", { name: "Replay from here…" }).click();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await eventually(() => page.locator(".note-bar").textContent()).toContain("A replay of");
    await eventually(() => page.locator(".heading .pill").textContent()).toBe("completed");
  });

  test("one that runs is paused from its page, continues by one button without data, and is cancelled", async () => {
    const { executionId } = await server.andante.start("document-pipeline", {
      pages: 3000,
      milliseconds: 20,
    });
    await open(`/executions/${executionId}`);
    const pill = page.locator(".heading .pill");
    await page.getByRole("button", { name: "Pause…" }).click();
    await page.getByRole("button", { name: "Pause it" }).click();
    await eventually(() => pill.textContent()).toBe("suspended");
    const detail = page.getByRole("complementary", { name: "Selected step" });
    await eventually(() => detail.textContent()).toContain("Paused from the console");
    await eventually(() => page.getByRole("status", { name: "Why it waits" }).textContent()).toMatch(
      /^Paused since .*: Paused from the console/,
    );
    expect(await detail.getByRole("region", { name: "Answer" }).count()).toBe(0);
    // It is no task of the inbox: no badge, and not in the list.
    const badge = page.getByRole("link", { name: /^Inbox/ }).locator(".count");
    const items = listOf(dataOf(await server.get("/api/inbox")), "items");
    expect(items.filter((item) => item.executionId === executionId)).toEqual([]);
    await eventually(async () => Number((await badge.allTextContents())[0]?.split(" ")[0] ?? 0)).toBe(
      items.length,
    );
    await page.getByRole("button", { name: "Continue" }).click();
    await eventually(() => pill.textContent()).toBe("running");
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel the execution" }).click();
    await eventually(() => pill.textContent()).toBe("cancelled");
    expect((await server.andante.state("document-pipeline", executionId)).status).toBe("cancelled");
  });

  test("a workflow's page shows its graph, its schemas and its recent runs", async () => {
    const { executionId } = await server.andante.execute("measure", { text: "one two" });
    await open("/workflows/measure");
    await eventually(() => page.locator(".step-node").count()).toBe(3);
    await page.getByRole("tab", { name: "Schemas" }).click();
    const input = page.getByRole("region", { name: "Input" });
    await eventually(() => input.textContent()).toContain('"minLength": 1');
    await page.getByRole("tab", { name: "Recent runs" }).click();
    await page.getByRole("link", { name: executionId.slice(0, 13) }).click();
    await eventually(heading).toBe(executionId.slice(0, 13));
  });

  test("the lines of a graph pass behind the name of a container", async () => {
    await open("/workflows/publish");
    await page.locator(".container-node").waitFor();
    /** The points of lines within the name: in front of it, and behind it. */
    const points = () =>
      page.evaluate(`(() => {
        const name = document.querySelector(".container-node button");
        const { left, right, top, bottom } = name.getBoundingClientRect();
        const found = { front: 0, behind: 0 };
        for (const line of document.querySelectorAll(".edges path")) {
          line.style.pointerEvents = "stroke";
          for (let at = 0; at < line.getTotalLength(); at++) {
            const { x, y } = line.getPointAtLength(at).matrixTransform(line.getScreenCTM());
            if (x > left && x < right && y > top && y < bottom)
              found[document.elementFromPoint(x, y) === name ? "behind" : "front"]++;
          }
        }
        return found;
      })()`);
    await eventually(points).toEqual({ front: 0, behind: expect.toSatisfy((count) => count > 0) });
  });

  test("the calls of an agent are in the event log, with their results", async () => {
    const { executionId } = await server.andante.execute("publish", { topic: "rivers" });
    await open(`/executions/${executionId}`);
    const call = page.locator(".event", { hasText: "checkpoint-complete" });
    await eventually(() => call.first().textContent()).toContain("draft#call[0] → ");
  });

  test("a loop of many rounds is one row with a pager", async () => {
    const input = { pages: 300, milliseconds: 0 };
    const { executionId } = await server.andante.execute("document-pipeline", input);
    await open(`/executions/${executionId}`);
    await eventually(() => page.locator(".fall", { hasText: "300 rounds" }).count()).toBe(1);
    await eventually(() => page.locator(".fall").count()).toBeLessThan(40);
    await page.getByRole("button", { name: "Later rounds" }).click();
    await page.locator(".fall", { hasText: "extract 10" }).waitFor();
  });

  test("a chat streams, shows its tools, asks before the dangerous one, and is there after a reload", async () => {
    await open("/agents/assistant");
    await page.getByLabel("Message to Assistant").fill("Delete customer 8813, ticket 77");
    await page.keyboard.press("Enter");
    const asks = page.getByRole("region", { name: "Tool deleteCustomer" });
    await asks.getByRole("button", { name: "Allow" }).waitFor();
    await eventually(() => page.getByRole("region", { name: "Tool findCustomer" }).textContent()).toContain(
      "Blue Harbour",
    );
    await page.reload();
    await asks.getByRole("button", { name: "Allow" }).click();
    await eventually(() => page.locator(".message").last().textContent()).toContain("Done.");
    await eventually(() => asks.textContent()).toContain("removed");
    await eventually(() => page.locator(".talk").count()).toBe(1);
  });

  test("the palette goes anywhere by keyboard", async () => {
    await open("/logs");
    await page.locator("main .top").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("run publish");
    await page.keyboard.press("Enter");
    await eventually(heading).toBe("Publish a post");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("go to traces");
    await page.keyboard.press("Enter");
    await eventually(heading).toBe("Traces");
    await page.locator("tr", { hasText: "measure" }).first().getByRole("link").first().click();
    await page.locator(".fall").first().waitFor();
  });

  test("logs come as they are written, and lead to their execution", async () => {
    await open("/logs?workflowId=refund");
    await page.getByText(/live$/).waitFor();
    const { executionId } = await refund(1000);
    const line = page.locator(".log-line", { hasText: executionId.slice(0, 13) }).first();
    await eventually(() => line.textContent()).toContain("order found");
    const filter = page.getByLabel("Lines that contain");
    const text = () => new URL(page.url()).searchParams.get("text");
    await filter.pressSequentially("order ");
    await eventually(text).toBe("order");
    await filter.pressSequentially("7");
    await eventually(text).toBe("order 7");
    expect(await filter.inputValue()).toBe("order 7");
    await filter.fill("nothing like this");
    await page.getByRole("heading", { name: "No line contains this" }).waitFor();
    await page.getByRole("link", { name: "Logs" }).click();
    await eventually(() => filter.inputValue()).toBe("");
    await line.getByRole("link").click();
    await eventually(heading).toBe(executionId.slice(0, 13));
  });

  test("the API page has every operation, in the console's frame, without the scripts of Swagger UI", async () => {
    const scripts: string[] = [];
    page.on("request", (request) => request.url().includes("swagger") && scripts.push(request.url()));
    await open("/api");
    await page.locator(".operation").first().waitFor();
    await eventually(() => page.locator(".operation").count()).toBeGreaterThan(40);
    expect([await page.locator("main main").count(), scripts]).toEqual([0, []]);
    await page.keyboard.press("/");
    await page.keyboard.type("resume");
    await eventually(() => page.locator(".operation").count()).toBeLessThan(6);
    await page.getByLabel("Workflow", { exact: true }).selectOption("measure");
    await eventually(() => page.locator(".examples pre").first().textContent()).toContain(
      "/workflows/measure/execute",
    );
  });

  test("a lost connection is shown, and restored automatically; an answer that was begun before is sent after it", async () => {
    const file = temporaryFile();
    const first = await serveForTest({ ...house, store: file.open() });
    const asked = { order: "ord_1", amount: 1100, reason: "returned" };
    const { executionId } = await first.andante.execute("refund", asked);
    await page.goto(`${first.url}/console/inbox`);
    const note = page.getByLabel(/^Note/);
    await note.fill("half a sen");
    const foot = page.locator(".foot").getByRole("status");
    await eventually(() => foot.textContent()).toBe("Live");
    await first.close();
    await eventually(() => foot.textContent()).toBe("Connection lost, trying again");
    await note.press("End");
    await page.keyboard.type("tence");
    const port = Number(new URL(first.url).port);
    const { andante } = await serveForTest({ ...house, store: file.open(), port });
    await eventually(() => foot.textContent()).toBe("Live");
    await eventually(() => note.inputValue()).toBe("half a sentence");
    await page.getByRole("radio", { name: "Yes" }).click();
    await page.getByRole("button", { name: "Answer and continue" }).click();
    await eventually(async () => (await andante.state("refund", executionId)).result).toEqual({ paid: 1100 });
    expect(JSON.stringify(await andante.events("refund", executionId))).toContain('"half a sentence"');
  });
});

describe("signed in", async () => {
  const browser = await openBrowser();
  const auth = provider({ defaultPrivate: true, publicRoutes: ["GET /console*"] });
  const server = await serveForTest({ ...house, auth });

  test("by a token; another user's executions stay hidden; signing out asks again", async () => {
    const body = { input: { text: "of bob" } };
    const bob = bearer(await tokenFor("bob"));
    await server.post("/workflows/measure/execute", body, bob);
    const page = await openPage(browser, () => undefined);
    await page.goto(`${server.url}/console/executions`);
    await page.getByLabel("Token").fill("not.a.token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await eventually(() => page.getByRole("alert").textContent()).toMatch(/^Invalid token/);
    await page.getByLabel("Token").fill(await tokenFor("ada"));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "You have run nothing yet" }).waitFor();
    await eventually(() => page.locator(".empty").textContent()).toContain(
      "You see only your own executions",
    );
    await eventually(() => page.locator(".foot").textContent()).toContain("as ada");
    await page.getByLabel(/^Order/).waitFor();
    await server.post("/workflows/measure/execute", body, bob);
    await server.post("/workflows/measure/execute", body, bearer(await tokenFor("ada")));
    await eventually(() => page.locator(".grid-row").count()).toBe(1);
    await page.getByRole("button", { name: "sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.context().close();
  });

  test("an answer that was begun is still there after signing in again", async () => {
    const ada = await tokenFor("ada");
    const refund = { order: "ord_1", amount: 1200, reason: "returned" };
    await server.post("/workflows/refund/execute", { input: refund }, bearer(ada));
    const page = await openPage(browser, () => undefined);
    const signIn = async () => {
      await page.getByLabel("Token").fill(ada);
      await page.getByRole("button", { name: "Sign in" }).click();
    };
    await page.goto(`${server.url}/console/inbox`);
    await signIn();
    await page.getByLabel(/^Note/).fill("half a sentence");
    await page.evaluate("localStorage.removeItem('andante-token')");
    await page.reload();
    await signIn();
    await eventually(() => page.getByLabel(/^Note/).inputValue()).toBe("half a sentence");
    await page.context().close();
  });

  test("with a whole token alone; one that ends is renewed on the open page, with the text in it", async () => {
    const page = await openPage(browser, () => undefined);
    const signIn = async (label: string, token: string) => {
      await page.getByLabel(label, { exact: true }).fill(token);
      await page.keyboard.press("Enter");
    };
    const foot = page.locator(".foot");
    const reason = page.getByLabel(/^Reason/);
    // A feed that breaks off, so that it is asked for again and again.
    await page.route("**/api/changes", (route) => route.fulfill({ body: 'data: {"type":"open"}\n\n' }));
    await page.goto(`${server.url}/console/workflows/refund?tab=run`);
    await eventually(() => page.evaluate("document.activeElement.id")).toBe("token");
    await signIn("Token", "eyJhbGciOi…");
    await eventually(() => page.getByRole("alert").textContent()).toMatch(/^This is not a whole token/);
    const short = await tokenFor("ada", { expiresIn: "110s" });
    await signIn("Token", short);
    await page.locator(".foot", { hasText: "as ada" }).waitFor();
    await page.getByText("Your sign-in ends soon.").waitFor();
    await reason.fill("half a sentence");
    const refusal = { success: false, error: "Token expired" };
    await page.route("**/api/**", (route) =>
      route.request().headers().authorization === `Bearer ${short}`
        ? route.fulfill({ status: 401, json: refusal })
        : route.fallback(),
    );
    await page.getByText("Your sign-in has ended.").waitFor();
    await signIn("New token", "not.a.token");
    await page.getByText(/^Invalid token/).waitFor();
    await signIn("New token", await tokenFor("ada", { expiresIn: "100s" }));
    await page.getByText("Your sign-in ends soon.").waitFor();
    await eventually(() => reason.inputValue()).toBe("half a sentence");
    // Nothing of one user stays for another.
    await signIn("New token", await tokenFor("bob"));
    await eventually(() => foot.textContent()).toContain("as bob");
    await eventually(() => reason.inputValue()).not.toBe("half a sentence");
    await page.context().close();
  });

  test("out in one tab, one is signed out in the others, and in again", async () => {
    const first = await openPage(browser, () => undefined);
    const second = await first.context().newPage();
    const ada = await tokenFor("ada");
    for (const page of [first, second]) await page.goto(`${server.url}/console/traces`);
    // A tab in the background draws nothing.
    await first.bringToFront();
    await first.getByLabel("Token").fill(ada);
    await first.getByRole("button", { name: "Sign in" }).click();
    await second.bringToFront();
    await second.locator(".foot", { hasText: "as ada" }).waitFor();
    await second.getByRole("button", { name: "sign out" }).click();
    await first.bringToFront();
    await first.getByRole("heading", { name: "Sign in" }).waitFor();
    await first.context().close();
  });
});
