// A React page with useChat, in a real Chromium, against a real server, as users of the chat endpoints build it.
import { Agent } from "@andante/core";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { controlledModel, lastText } from "../../packages/core/test/support/controlled-model.ts";
import { agents, carefulHeld, deleted, secretWords } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { dataOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { buildPage } from "./build-page.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

const pieces = ["One. ", "Two. ", "Three."];
const stopped: string[] = [];

/** Waits before each piece at a door that is named by the question and the piece. */
const teller = new Agent({
  id: "teller",
  model: controlledModel((call) => ({
    text: pieces,
    hold: async (piece, signal) => {
      const question = lastText(call);
      if (piece === 0) signal?.addEventListener("abort", () => stopped.push(question));
      await gates.pass(`${question}/${piece}`);
    },
  })),
});

/** Fails half way the first time, and replies in full the second time. */
const shaky = new Agent({
  id: "shaky",
  model: controlledModel((_, number) =>
    number === 1
      ? { text: ["half ", "an ", "answer"], breakAt: { piece: 2, error: new Error(secretWords) } }
      : { text: ["a whole answer"] },
  ),
});

describe("useChat in Chromium", async () => {
  const [files, browser] = await Promise.all([buildPage("/page/"), openBrowser()]);
  const server = await serveForTest({
    agents: { ...agents, carefulHeld, teller, shaky },
    configureApp: (app) => {
      app.get("/page/:file{.+}", (http) => {
        const file = files.get(http.req.param("file"));
        return file === undefined
          ? http.notFound()
          : http.body(file.content, 200, { "content-type": file.contentType });
      });
    },
  });
  const complaints: string[] = [];
  let page: Page;
  let made = 0;
  let conversation = "";

  beforeEach(async () => {
    conversation = `chat ${++made}`;
    page = await openPage(browser, (what) => complaints.push(what));
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });

  const open = (agent: string) =>
    page.goto(
      `${server.url}/page/index.html?agent=${agent}&conversation=${encodeURIComponent(conversation)}`,
    );
  const say = async (text: string) => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const answers = () => page.locator("article.assistant");
  const texts = () => page.locator("article").allTextContents();
  /** Resolves when the last answer is exactly this. */
  const reads = (text: string) => eventually(() => answers().last().textContent()).toBe(text);
  const is = (status: string) => eventually(() => page.locator("#status").textContent()).toBe(status);

  test("a message that steers is shown between two steps of the answer that reads it", async () => {
    await open("teller");
    await say("first");
    await gates.arrival("first/0");
    gates.open("first/0");
    await gates.arrival("first/1");
    await reads("One. ");
    // Sent from elsewhere, such as another tab: the open chat shows it.
    const parts = [{ type: "text", text: "second" }];
    const options = { whenBusy: "steer" };
    const body = { id: conversation, messages: [{ id: "steers", role: "user", parts }], options };
    const steering = server.stream("/agents/teller/chat", body).then((reader) => reader.rest());
    const queue = `/agents/teller/chat/${encodeURIComponent(conversation)}/queue`;
    await eventually(async () => listOf(dataOf(await server.get(queue)), "messages")).toHaveLength(1);
    for (const door of ["first/1", "first/2", "first/3", "second/0", "second/1", "second/2", "second/3"])
      gates.open(door);
    await eventually(() => page.locator(".assistant .steering").allTextContents()).toEqual(["second"]);
    await reads("One. Two. Three.secondOne. Two. Three.");
    expect((await steering).map(({ type }) => type)).toContain("steering-message");
    await is("ready");
    await page.reload();
    await reads("One. Two. Three.secondOne. Two. Three.");
    await eventually(texts).toHaveLength(2);
  });

  test("an answer appears piece by piece", async () => {
    await open("teller");
    await say("pieces");
    await gates.arrival("pieces/0");
    expect((await page.locator(".assistant .text").allTextContents()).join("")).toBe("");
    gates.open("pieces/0");
    await gates.arrival("pieces/1");
    await reads("One. ");
    await is("streaming");
    gates.open("pieces/1");
    await reads("One. Two. ");
    gates.open("pieces/2");
    await reads("One. Two. Three.");
    gates.open("pieces/3");
    await is("ready");
    await eventually(texts).toEqual(["pieces", "One. Two. Three."]);
  });

  test("a tool is shown with its input and its output", async () => {
    await open("adder");
    await say("add");
    await is("ready");
    const tool = answers().locator(".tool");
    await eventually(() => tool.locator("b").textContent()).toBe("add");
    await eventually(() => tool.locator("i").textContent()).toBe("output-available");
    await eventually(() => tool.locator(".input").textContent()).toBe('{"a":1,"b":2}');
    await eventually(() => tool.locator(".output").textContent()).toBe("3");
    await eventually(() => answers().locator(".text").textContent()).toContain("The tool says");
  });

  test("an approved tool runs, and the reply continues in the same message", async () => {
    await open("careful");
    await say("delete approved.txt");
    await page.getByRole("button", { name: "Approve" }).click();
    await eventually(() => answers().locator(".output").textContent()).toBe('"approved.txt is gone"');
    await is("ready");
    expect(deleted).toContain("approved.txt");
    await eventually(() => answers().count()).toBe(1);
    await eventually(() => answers().locator(".text").allTextContents()).toEqual([
      "Let me see. ",
      expect.stringContaining("Done: "),
    ]);
  });

  test("a denied tool does not run, and the model learns of the denial", async () => {
    await open("careful");
    await say("delete denied.txt");
    await page.getByRole("button", { name: "Deny" }).click();
    await eventually(() => answers().locator("i").textContent()).toBe("output-denied");
    await is("ready");
    expect(deleted).not.toContain("denied.txt");
    await eventually(() => answers().locator(".text").last().textContent()).toContain("denied");
  });

  test("a request for approval survives a reload", async () => {
    await open("careful");
    await say("delete later.txt");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await is("ready");
    await page.reload();
    await page.getByRole("button", { name: "Approve" }).click();
    await eventually(() => answers().locator(".output").textContent()).toBe('"later.txt is gone"');
    await is("ready");
    expect(deleted).toContain("later.txt");
    await eventually(() => answers().count()).toBe(1);
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
    await page.reload();
    await reads("One. Two. Three.");
    await eventually(texts).toEqual(["reload", "One. Two. Three."]);
  });

  test("a reload while an approved tool is being answered re-attaches to the same message", async () => {
    await open("careful-held");
    await say("go");
    await page.getByRole("button", { name: "Approve" }).click();
    await gates.arrival("careful-held");
    await eventually(() => answers().locator(".text").last().textContent()).toBe("It is ");
    await page.reload();
    await eventually(() => answers().locator(".text").last().textContent()).toBe("It is ");
    gates.open("careful-held");
    await eventually(() => answers().locator(".text").last().textContent()).toBe("It is done.");
    await is("ready");
    await eventually(() => answers().count()).toBe(1);
    await eventually(() => answers().locator("i").allTextContents()).toEqual(["output-available"]);
    await eventually(() => answers().locator(".text").allTextContents()).toEqual(["May I? ", "It is done."]);
  });

  test("stop ends the call of the model; its text stays", async () => {
    await open("teller");
    await say("stop");
    gates.open("stop/0");
    await reads("One. ");
    await gates.arrival("stop/1");
    await page.getByRole("button", { name: "Stop" }).click();
    await is("ready");
    expect(stopped).toContain("stop");
    expect(await page.getByRole("alert").count()).toBe(0);
    await eventually(texts).toEqual(["stop", "One. "]);
    await page.reload();
    await reads("One. ");
    await is("ready");
  });

  test("a provider that fails in the middle is shown as an error in safe words, and the chat continues", async () => {
    await open("shaky");
    await say("break");
    await eventually(() => page.getByRole("alert").textContent()).toBe("The model provider failed to answer");
    await is("error");
    await reads("half an ");
    expect(await page.content()).not.toContain("hunter2");
    await say("once more");
    await reads("a whole answer");
    await eventually(() => page.getByRole("alert").count()).toBe(0);
    await page.reload();
    await reads("a whole answer");
    await eventually(texts).toEqual(["break", "half an ", "once more", "a whole answer"]);
  });

  test("a request that is refused is shown in the server's words", async () => {
    await open("nobody");
    await eventually(() => page.getByRole("alert").textContent()).toBe("Agent nobody not found");
  });

  test("the history is there after a reload, and the next reply builds on it", async () => {
    await open("echo");
    await say("first");
    await reads("You said: first");
    await say("second");
    await reads("You said: second");
    const before = await texts();
    expect(before).toEqual(["first", "You said: first", "second", "You said: second"]);
    await page.reload();
    await reads("You said: second");
    await eventually(texts).toEqual(before);
    await say("third");
    await reads("You said: third");
    await eventually(texts).toEqual([...before, "third", "You said: third"]);
  });

  test("an answer is made again in the place of the old one", async () => {
    await open("echo");
    await say("again");
    await reads("You said: again");
    await is("ready");
    const [response] = await Promise.all([
      page.waitForResponse((each) => each.request().method() === "POST"),
      page.getByRole("button", { name: "Again" }).click(),
    ]);
    await response.finished();
    await is("ready");
    await reads("You said: again");
    await page.reload();
    await reads("You said: again");
    await eventually(texts).toEqual(["again", "You said: again"]);
  });
});
