// Pages on the client in a real Chromium: useChat on its transport, and its hooks.
import { Agent } from "@andante/core";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { controlledModel, lastText } from "../../packages/core/test/support/controlled-model.ts";
import { CuttingProxy } from "../client/cutting-proxy.ts";
import { agents, carefulHeld, deleted } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { approval } from "../support/workflows.ts";
import { buildPage } from "./build-page.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

const pieces = ["One. ", "Two. ", "Three."];

/** The questions of calls of the model that were ended. */
const ended: string[] = [];

/** Waits before each piece at a door that is named by the question and the piece. */
const teller = new Agent({
  id: "teller",
  model: controlledModel((call) => ({
    text: pieces,
    hold: (piece, signal) => {
      if (piece === 0) signal?.addEventListener("abort", () => ended.push(lastText(call)));
      return gates.pass(`${lastText(call)}/${piece}`);
    },
  })),
});

const [files, browser] = await Promise.all([buildPage("/page/", "client-page"), openBrowser()]);
const server = await serveForTest({
  agents: { ...agents, carefulHeld, teller },
  workflows: { approval },
  configureApp: (app) => {
    app.get("/page/:file{.+}", (http) => {
      const file = files.get(http.req.param("file"));
      return file === undefined
        ? http.notFound()
        : http.body(file.content, 200, { "content-type": file.contentType });
    });
  },
});
const proxy = await CuttingProxy.to(server.url);
const complaints: string[] = [];
let page: Page;
let made = 0;
let conversation = "";

beforeEach(async () => {
  conversation = `client ${++made}`;
  page = await openPage(browser, (what) => complaints.push(what));
});
afterEach(async () => {
  await page.context().close();
  expect(complaints.splice(0)).toEqual([]);
});

describe("useChat on the client's transport", () => {
  const open = (agent: string) =>
    page.goto(`${proxy.url}/page/index.html?agent=${agent}&conversation=${encodeURIComponent(conversation)}`);
  const say = async (text: string) => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const replies = () => page.locator("article.assistant");
  const texts = () => page.locator("article").allTextContents();
  const reads = (text: string) => eventually(() => replies().last().textContent()).toBe(text);
  const is = (status: string) => eventually(() => page.locator("#status").textContent()).toBe(status);

  test("only the last message is sent, and the reply builds on all of them", async () => {
    await open("echo");
    await say("first");
    await reads("You said: first");
    const [request] = await Promise.all([
      page.waitForRequest((each) => each.method() === "POST"),
      say("second"),
    ]);
    expect(request.postDataJSON()).toMatchObject({
      input: [{ role: "user", parts: [{ type: "text", text: "second" }] }],
      options: { conversationId: conversation },
    });
    await reads("You said: second");
    await is("ready");
    await page.getByRole("button", { name: "Again" }).click();
    await is("ready");
    await page.reload();
    await reads("You said: second");
    await eventually(texts).toEqual(["first", "You said: first", "second", "You said: second"]);
  });

  test("a connection that is lost in the middle of a reply is not noticed", async () => {
    await open("teller");
    await say("cut");
    gates.open("cut/0");
    await reads("One. ");
    proxy.cut();
    gates.open("cut/1");
    await reads("One. Two. ");
    await is("streaming");
    proxy.cut();
    for (const piece of [2, 3]) gates.open(`cut/${piece}`);
    await reads("One. Two. Three.");
    await is("ready");
    expect(await page.getByRole("alert").count()).toBe(0);
    await eventually(texts).toEqual(["cut", "One. Two. Three."]);
  });

  test("a reload in the middle of a reply re-attaches: it continues and appears once", async () => {
    await open("teller");
    await say("reload");
    gates.open("reload/0");
    await reads("One. ");
    await page.reload();
    await reads("One. ");
    await is("streaming");
    for (const piece of [1, 2, 3]) gates.open(`reload/${piece}`);
    await reads("One. Two. Three.");
    await is("ready");
    await eventually(texts).toEqual(["reload", "One. Two. Three."]);
  });

  test("an approved tool runs, also after a reload, and the reply continues in the same message", async () => {
    await open("careful");
    await say("delete client.txt");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await is("ready");
    await page.reload();
    await page.getByRole("button", { name: "Approve" }).click();
    await eventually(() => replies().locator(".output").textContent()).toBe('"client.txt is gone"');
    await is("ready");
    expect(deleted).toContain("client.txt");
    await eventually(() => replies().count()).toBe(1);
    await eventually(() => replies().locator(".text").allTextContents()).toEqual([
      "Let me see. ",
      expect.stringContaining("Done: "),
    ]);
  });

  test("a connection that is lost while the reply continues after an approval is not noticed", async () => {
    await open("careful-held");
    await say("go");
    await page.getByRole("button", { name: "Approve" }).click();
    await gates.arrival("careful-held");
    await eventually(() => replies().locator(".text").last().textContent()).toBe("It is ");
    proxy.cut();
    gates.open("careful-held");
    await eventually(() => replies().locator(".text").last().textContent()).toBe("It is done.");
    await is("ready");
    await eventually(() => replies().locator("i").allTextContents()).toEqual(["output-available"]);
    await eventually(() => replies().locator(".text").allTextContents()).toEqual(["May I? ", "It is done."]);
  });

  test("stop ends the reply at the server; its text stays", async () => {
    await open("teller");
    await say("stop");
    gates.open("stop/0");
    await reads("One. ");
    await gates.arrival("stop/1");
    await page.getByRole("button", { name: "Stop" }).click();
    await is("ready");
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.reload();
    await reads("One. ");
    await is("ready");
  });

  test("the function of useStop ends the call of the model; its text stays, and the next message is replied to", async () => {
    await open("teller");
    await say("end");
    gates.open("end/0");
    await reads("One. ");
    await gates.arrival("end/1");
    await page.getByRole("button", { name: "End", exact: true }).click();
    await eventually(() => ended).toContain("end");
    await is("ready");
    expect(await page.getByRole("alert").count()).toBe(0);
    await reads("One. ");
    const { messages } = await server.andante.conversations.messages(conversation);
    expect(messages.at(-1)).toMatchObject({ role: "assistant", partial: true });
    for (const piece of [0, 1, 2, 3]) gates.open(`again/${piece}`);
    await say("again");
    await reads("One. Two. Three.");
    await is("ready");
    expect(ended).not.toContain("again");
  });

  test("a request that is refused is shown in the server's words", async () => {
    await open("nobody");
    await eventually(() => page.getByRole("alert").textContent()).toBe("Agent nobody not found");
  });
});

describe("hooks", () => {
  test("open requests appear and go by themselves, and an execution is shown to its end", async () => {
    await page.goto(`${proxy.url}/page/index.html`);
    await eventually(() => page.locator("#read").textContent()).toBe("true");
    const { executionId } = await server.andante.execute("approval", { topic: "rivers" });
    await eventually(() => page.locator("li span").allTextContents()).toEqual([executionId]);
    // The feed connects again and reads the changes that it missed.
    proxy.cut();
    const second = await server.andante.execute("approval", { topic: "lakes" });
    await eventually(() => page.locator("li").count()).toBe(2);
    await page.locator("li", { hasText: executionId }).getByRole("button").click();
    await eventually(() => page.locator("li span").allTextContents()).toEqual([second.executionId]);
    await eventually(() => page.locator("#state").textContent()).toBe("completed");
    await eventually(() => page.locator("#events").textContent()).toMatch(
      /^workflow-start .* workflow-result$/,
    );
  });
});
