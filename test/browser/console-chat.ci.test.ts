// The console's chat in a real Chromium: replies as markdown that can do nothing, a reader who is left where they read, one
// agent that is never taken for another; and values that are markdown or pictures.
import { Agent, createWorkflow } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { tool } from "ai";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider, tokenFor } from "../support/tokens.ts";
import { houseAgents, houseWorkflows, report } from "./console/house.ts";
import { eventually, openBrowser, openPage, openWatchedPage } from "./open-browser.ts";

const dot =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const notes = createWorkflow({ id: "notes", name: "Notes", input: z.object({}) }).andThen({
  id: "write",
  execute: () => ({ report, dot, plain: "no marks in here" }),
});

const longError = createWorkflow({ id: "long-error", name: "Fails at length", input: z.object({}) }).andThen({
  id: "fail",
  execute: () => {
    throw new Error("x".repeat(5000));
  },
});

/** Functions that end the tool calls under way. */
const waiting: (() => void)[] = [];
const letOn = async () => {
  await eventually(() => waiting.length).toBe(1);
  waiting.pop()?.();
};

/** Sends much text, waits in a tool until it is released, and sends much more. */
function talker(id: string, name: string): Agent {
  const many = (word: string) =>
    Array.from({ length: 60 }, (_, n) => `${word} **paragraph** ${n}`).join("\n\n");
  const turns = Array.from({ length: 5 }, () => [
    { text: many("First"), toolCalls: [{ toolName: "wait" }] },
    many("Second"),
  ]);
  const wait = tool({
    description: "Waits",
    inputSchema: z.object({}),
    execute: () => new Promise<string>((resolve) => waiting.push(() => resolve("waited"))),
  });
  return new Agent({ id, name, instructions: "Talk.", model: scriptedModel(turns.flat()), tools: { wait } });
}

/** Its model refuses the key, and then replies; its tool fails. */
const unlucky = () =>
  new Agent({
    id: "unlucky",
    name: "Unlucky",
    instructions: "Fail.",
    model: scriptedModel([
      new Error("401 invalid x-api-key"),
      { toolCalls: [{ toolName: "pay" }] },
      "The payment failed.",
      "The payment failed again.",
    ]),
    tools: {
      pay: tool({
        description: "Pays",
        inputSchema: z.object({}),
        execute: (): string => {
          throw new Error("card 4242 declined");
        },
      }),
    },
  });
const agents = {
  ...houseAgents,
  unlucky: unlucky(),
  talker: talker("talker", "Talker"),
  other: talker("other", "Other"),
  patient: talker("patient", "Patient"),
};

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const server = await serveForTest({ workflows: { ...houseWorkflows, notes, longError }, agents });
  let page: Page;
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${server.url}/console${path}`);
  const say = async (text: string) => {
    await page.getByRole("textbox", { name: /^Message to/ }).fill(text);
    await page.keyboard.press("Enter");
  };

  beforeEach(async () => {
    page = await openWatchedPage(browser, (what) => complaints.push(what));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("a reply is drawn as markdown, streamed and read again; nothing of it is loaded from elsewhere", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("/agents/assistant?chat=c-1");
    await say("A report, please");
    const reply = page.locator(".markdown").last();
    const look = async () => {
      await reply.getByRole("heading", { name: "Customer 8813" }).waitFor();
      await eventually(() => reply.locator("td").allTextContents()).toContain("€ 6 180");
      await eventually(() => reply.locator("ol > li").count()).toBe(2);
      await eventually(() => reply.locator("ol ul > li").count()).toBe(2);
      await eventually(() => reply.locator("blockquote").textContent()).toContain("ten years");
      const link = reply.getByRole("link", { name: "the ledger" });
      await eventually(() => link.getAttribute("rel")).toContain("noopener");
      await eventually(() => link.getAttribute("target")).toBe("_blank");
      await reply.getByRole("link", { name: "Picture: chart" }).waitFor();
      expect(await reply.locator("img").count()).toBe(0);
    };
    await look();
    await reply.getByRole("button", { name: "Copy code" }).click();
    await eventually(() => page.evaluate("navigator.clipboard.readText()")).toMatch(
      /^select sum\(total\)[^`]*;$/,
    );
    await page.reload();
    await look();
  });

  test("characters that are spelt by name are read; right-to-left text runs from right to left", async () => {
    const text = "Fish &amp; chips &mdash; &#8364; 5 &nosuchname;\n\nשלום, עולם\n\n- שלום";
    await page.route("**/api/conversations/c-2/messages*", (route) =>
      route.fulfill({
        json: {
          success: true,
          data: {
            messages: [{ id: "m", role: "assistant", parts: [{ type: "text", text }] }],
            nextCursor: null,
          },
        },
      }),
    );
    await open("/agents/assistant?chat=c-2");
    const first = page.locator(".markdown p").first();
    await eventually(() => first.textContent()).toBe("Fish & chips — € 5 &nosuchname;");
    const direction =
      "[...document.querySelectorAll('.markdown > *')].map((each) => getComputedStyle(each).direction)";
    await eventually(() => page.evaluate(direction)).toEqual(["ltr", "rtl", "rtl"]);
  });

  test("a string that is markdown or a picture can be seen as such, and as the string it is", async () => {
    const { executionId } = await server.andante.execute("notes", {});
    await open(`/executions/${executionId}?tab=io`);
    await page.getByRole("tab", { name: "Input & result" }).click();
    const result = page.getByRole("region", { name: "result", exact: true });
    await eventually(() => result.textContent()).toContain("no marks in here");
    await result.getByRole("button", { name: "Markdown" }).click();
    await result.getByRole("heading", { name: "Customer 8813" }).waitFor();
    expect(await result.textContent()).not.toContain("**Blue Harbour");
    await result.getByRole("button", { name: "Text" }).first().click();
    await eventually(() => result.textContent()).toContain("**Blue Harbour");
    await eventually(() => page.evaluate("document.querySelector('.json-picture').naturalWidth")).toBe(1);
    await result.getByRole("button", { name: "Text" }).last().click();
    await eventually(() => result.locator("img").count()).toBe(0);
    await eventually(() => result.textContent()).toContain("data:image/png;base64,iVBORw0");
    await eventually(() => result.getByRole("button", { name: "Markdown" }).count()).toBe(1);
  });

  test("an error without a space wraps, and leaves the rest of the page in sight", async () => {
    const { executionId } = await server.andante.execute("long-error", {});
    await open(`/executions/${executionId}`);
    const bar = page.locator(".note-bar.bad");
    await bar.waitFor();
    const beyond = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)";
    await eventually(() => page.evaluate(`${beyond}(document.querySelector(".note-bar.bad"))`)).toBe(0);
    await eventually(async () => (await bar.boundingBox())?.height).toBeLessThan(60);
    // The whole text is at the step that failed.
    const detail = page.getByRole("complementary", { name: "Selected step" });
    await detail.getByRole("button", { name: "Show all of it" }).click();
    await eventually(() => detail.locator(".failure").textContent()).toContain("x".repeat(5000));
    await eventually(() => page.evaluate(`${beyond}(document.querySelector(".detail"))`)).toBe(0);
  });

  test("a chat follows new text while one reads its end, and stays where one reads above it", async () => {
    await open("/agents/talker?chat=c-3");
    const said = (nth: number) =>
      page.getByText("Second paragraph 59").nth(nth).waitFor({ state: "attached" });
    const box = page.locator(".messages");
    const inBox = async (act: string): Promise<number> => {
      await box.waitFor();
      return page.evaluate(`(async (box) => {
        ${act}
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        return box.scrollTop;
      })(document.querySelector(".messages"))`);
    };
    const belowSight = () => inBox("return box.scrollHeight - box.clientHeight - box.scrollTop;");
    await say("go");
    await letOn();
    await said(0);
    await eventually(belowSight).toBeLessThan(40);

    await inBox("box.scrollTop = 300;");
    await say("again");
    await page.getByText("First paragraph 59").nth(1).waitFor({ state: "attached" });
    // One's own message is a reason to be taken to the end.
    await eventually(belowSight).toBeLessThan(40);
    const place = await inBox("box.scrollTop = 300;");
    await letOn();
    await said(1);
    await eventually(() => page.getByRole("button", { name: "Stop" }).count()).toBe(0);
    expect(await inBox("")).toBe(place);

    await inBox("box.scrollTop = box.scrollHeight;");
    await say("once more");
    await letOn();
    await said(2);
    await eventually(belowSight).toBeLessThan(40);
  });

  test("messages that wait are shown, and one is withdrawn", async () => {
    await open("/agents/patient?chat=c-queue");
    await say("go");
    await page.getByText("First paragraph 59").waitFor({ state: "attached" });
    const sent = ["one more", "and another"].map((text, index) => {
      const message = { id: `waits-${index}`, role: "user", parts: [{ type: "text", text }] };
      return server.andante.agents.chat("patient", [message], { conversationId: "c-queue" });
    });
    const withdrawn = expect(sent[0]).rejects.toMatchObject({ code: "message-withdrawn" });
    const waiting = page.getByRole("region", { name: "Messages that wait" });
    const lines = waiting.getByRole("paragraph");
    await eventually(() => lines.count()).toBe(2);
    const first = lines.filter({ hasText: "one more" });
    await first.getByRole("button", { name: "Withdraw" }).click();
    await withdrawn;
    await eventually(() => lines.allTextContents()).toEqual([expect.stringContaining("and another")]);
    await letOn();
    await waiting.waitFor({ state: "detached" });
    await letOn();
    for await (const _ of (await sent[1]) ?? []);
  });

  test("nothing of one agent stays on the page of another, and opening an agent begins a new conversation", async () => {
    const goTo = (id: string) => page.evaluate(`history.pushState({}, "", "${id}?chat=c-5")`);
    await open("/agents/other?chat=c-5");
    await page.getByLabel("Message to Other").waitFor();
    await goTo("/console/agents/talker");
    await page.getByLabel("Message to Talker").fill("half a question");
    await goTo("/console/agents/other");
    const message = page.getByLabel("Message to Other");
    await message.waitFor();
    await eventually(() => message.inputValue()).toBe("");
    const asked = page.waitForRequest(/\/agents\/\w+\/chat$/);
    await say("a whole one");
    expect(new URL((await asked).url()).pathname).toBe("/agents/other/chat");
    await letOn();
    await page.getByText("Second paragraph 59").waitFor({ state: "attached" });
    const begun = async () => {
      await page.getByRole("link", { name: "Agents", exact: true }).first().click();
      await page.locator(".definition", { hasText: "Other" }).click();
      await eventually(() => new URL(page.url()).searchParams.get("chat")).toMatch(/^(?!c-5).+/);
      await eventually(() => page.locator(".message").count()).toBe(0);
      return page.url();
    };
    expect(await begun()).not.toBe(await begun());
  });

  test("a failed reply shows its cause and is tried again; conversations are renamed, found, forked and removed", async () => {
    await open("/agents/unlucky?chat=c-7");
    await say("pay the invoice");
    await eventually(() => page.locator(".failed-reply").textContent()).toContain("401 invalid x-api-key");
    await page.getByRole("button", { name: "Try again" }).click();
    const messages = page.locator(".message");
    await eventually(() => messages.last().textContent()).toContain("The payment failed.");
    await eventually(() => page.getByRole("region", { name: "Tool pay" }).textContent()).toContain(
      "card 4242 declined",
    );
    await eventually(() => page.locator(".model-calls li").count()).toBeGreaterThan(0);
    await messages.last().getByRole("button", { name: "Reply again" }).click();
    await eventually(() => messages.last().textContent()).toContain("The payment failed again.");
    await eventually(() => messages.count()).toBe(2);

    await page.getByRole("button", { name: "Rename the conversation" }).click();
    await page.getByLabel("Title", { exact: true }).fill("Invoice 8813");
    await page.keyboard.press("Enter");
    const talks = page.locator(".talk");
    await eventually(() => talks.first().textContent()).toContain("Invoice 8813");
    await messages.last().getByRole("button", { name: "Continue from here in a copy" }).click();
    await eventually(() => new URL(page.url()).searchParams.get("chat")).not.toBe("c-7");
    await eventually(() => messages.count()).toBe(2);
    await eventually(() => talks.count()).toBe(2);
    await page.getByRole("button", { name: "Remove the conversation" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove the conversation" }).click();
    await eventually(() => talks.count()).toBe(1);
    await page.getByLabel("Conversations with the title").fill("nothing like it");
    await page.getByText("No title contains this.").waitFor();
    await page.getByLabel("Conversations with the title").fill("invoice 8");
    await eventually(() => talks.count()).toBe(1);
  });

  test("the cause of a failed reply and of a failed tool is shown to those alone who may read the log", async () => {
    const chatAs = async (user: string) => {
      const own = await serveForTest({
        ...{ workflows: {}, agents: { unlucky: unlucky() }, auth: provider() },
        authorize: ({ userId, action }) => userId === "olga" || action !== "logs.read",
      });
      const token = JSON.stringify(await tokenFor(user));
      const tab = await openPage(browser, (what) => complaints.push(what));
      await tab.addInitScript(`localStorage["andante-token"] ??= ${token}`);
      const reads: number[] = [];
      tab.on("response", (response) => {
        if (response.url().includes("/api/logs")) reads.push(response.status());
      });
      await tab.goto(`${own.url}/console/agents/unlucky?chat=c-1`);
      await tab.getByRole("textbox", { name: /^Message to/ }).fill("pay the invoice");
      await tab.keyboard.press("Enter");
      await tab.locator(".failed-reply").waitFor();
      return { tab, reads, shown: () => tab.locator("main").textContent() };
    };
    const olga = await chatAs("olga");
    await eventually(olga.shown).toContain("401 invalid x-api-key");
    const ada = await chatAs("ada");
    await eventually(() => ada.reads).toEqual([403]);
    expect(await ada.shown()).not.toContain("x-api-key");
    for (const { tab, shown } of [olga, ada]) {
      await tab.getByRole("button", { name: "Try again" }).click();
      await eventually(shown).toContain("The payment failed.");
    }
    await eventually(olga.shown).toContain("card 4242 declined");
    await eventually(() => ada.reads).toEqual([403, 403]);
    expect(await ada.shown()).not.toContain("4242");
    for (const { tab } of [olga, ada]) await tab.context().close();
  });

  test("a message is edited in a copy of its conversation; a reply that was stopped is marked", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("/agents/assistant?chat=c-8");
    await say("How many orders?");
    const messages = page.locator(".message");
    await eventually(() => messages.last().textContent()).toContain("Fourteen in total");
    await messages.last().getByRole("button", { name: "Copy the message" }).click();
    await eventually(() => page.evaluate("navigator.clipboard.readText()")).toMatch(
      /^Fourteen in total, .*\.$/,
    );
    await messages.first().getByRole("button", { name: "Edit in a copy" }).click();
    await page.getByLabel("Edited message").fill("A report, please");
    await page.getByRole("button", { name: "Send in a copy" }).click();
    await page.getByRole("heading", { name: "Customer 8813" }).waitFor();
    await eventually(() => messages.first().textContent()).toBe("A report, please");
    expect(new URL(page.url()).searchParams.get("chat")).not.toBe("c-8");
    await open("/agents/talker?chat=c-9");
    await say("go");
    await page.getByText("First paragraph 59").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped here: the reply is not complete.").waitFor({ state: "attached" });
    await letOn();
    await page.reload();
    await page.getByText("Stopped here: the reply is not complete.").waitFor({ state: "attached" });
  });

  /** A chat of the assistant in which the deletion of a customer waits for approval. */
  const askForDeletion = async (chat: string) => {
    await open(`/agents/assistant?chat=${chat}`);
    await say("Delete customer 8813");
    const card = page.getByRole("region", { name: "Tool deleteCustomer" });
    await card.getByRole("button", { name: "Allow" }).waitFor();
    return card;
  };

  test("a tool call that waits is on Home and in the inbox; decided there, the reply continues in the open chat", async () => {
    const card = await askForDeletion("c-10");
    const desk = await page.context().newPage();
    await desk.goto(`${server.url}/console/`);
    const row = desk.locator(".wait-row", { hasText: "The tool deleteCustomer needs approval" });
    await eventually(() => row.textContent()).toContain("assistant / chat");
    const badge = desk.getByRole("link", { name: /^Inbox/ }).locator(".count");
    await eventually(() => badge.textContent()).toBe("1 waiting");
    await eventually(() => desk.locator('link[rel="icon"]').getAttribute("href")).toContain("icon-waiting");
    await row.getByRole("link", { name: "Allow…" }).click();
    const id = desk.getByLabel(/^Id/);
    await eventually(() => id.inputValue()).toBe("cus_8813");
    await id.fill("cus_9999");
    await desk.getByRole("radio", { name: "Yes" }).click();
    await desk
      .getByLabel(/^Reason/)
      .first()
      .fill("the duplicate");
    await desk.getByRole("button", { name: "Answer and continue" }).click();
    await desk.locator(".answered", { hasText: "needs approval" }).waitFor();
    await desk.getByText("Nothing waits for a person").waitFor();
    await eventually(() => badge.count()).toBe(0);
    await eventually(() => page.locator(".message").last().textContent()).toContain("Done.");
    await eventually(() => card.textContent()).toContain("cus_9999");
    const { messages } = await server.andante.conversations.messages("c-10");
    expect(messages.at(-1)?.parts).toContainEqual(
      expect.objectContaining({
        ...{ type: "tool-deleteCustomer", state: "output-available" },
        approval: expect.objectContaining({ approved: true, reason: "the duplicate" }),
      }),
    );
    await desk.close();
  });

  test("in the chat a call is denied with a reason, or allowed with an edited input", async () => {
    const decided = async (chat: string) => {
      const { messages } = await server.andante.conversations.messages(chat);
      return messages.at(-1)?.parts.find(({ type }) => type === "tool-deleteCustomer");
    };
    const denied = await askForDeletion("c-11");
    await denied.getByLabel("Reason", { exact: true }).fill("a legal hold");
    await denied.getByRole("button", { name: "Deny" }).click();
    await eventually(() => decided("c-11")).toMatchObject({
      ...{ state: "output-denied", approval: { approved: false, reason: "a legal hold" } },
    });
    const edited = await askForDeletion("c-12");
    await edited.getByRole("button", { name: "Edit the input…" }).click();
    await edited.getByLabel(/^Id/).fill("cus_7");
    await edited.getByRole("button", { name: "Allow with this input" }).click();
    await eventually(() => page.locator(".message").last().textContent()).toContain("Done.");
    await eventually(() => decided("c-12")).toMatchObject({
      ...{ state: "output-available", input: { id: "cus_7", reason: "GDPR request #77" } },
    });
    await eventually(() => edited.textContent()).toContain("cus_7");
  });

  test("a copy that the browser refuses is tried another way, with a note when that fails too", async () => {
    await server.andante.agents.text("assistant", "A report", { conversationId: "c-6" });
    await page.addInitScript(`
      globalThis.way = "open";
      navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
      document.execCommand = () => way === "open";
    `);
    await open("/agents/assistant?chat=c-6");
    await page.getByRole("button", { name: "Copy code" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    await page.getByRole("button", { name: "Copy code" }).waitFor();
    await page.evaluate("way = 'closed'");
    await page.getByRole("button", { name: "Copy code" }).click();
    await page.getByRole("button", { name: "Copy failed" }).waitFor();
  });
});
