// Replies that wait, in the customer's open chat: for a workflow that a person approves on another node days later, and for
// decisions about a call, which a person makes in the inbox or a deadline.
import { Agent, createWorkflow, workflowTool } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { postgresStore } from "@andante/postgres";
import { tool } from "ai";
import type { Page } from "playwright-core";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { buildPage } from "./build-page.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

const [files, browser] = await Promise.all([buildPage("/page/", "client-page"), openBrowser()]);

const published: string[] = [];
/** Held before the model says that it is done. */
let held: Promise<unknown> | undefined;
beforeEach(() => {
  published.length = 0;
  held = undefined;
});

const publish = createWorkflow({
  id: "publish",
  name: "Publish",
  purpose: "Publishes an article",
  input: z.object({ title: z.string() }),
})
  .andThen({
    id: "approve",
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: ({ data, suspend, resumeData }) =>
      resumeData === undefined ? suspend(`Publish ${data.title}?`) : { ...data, ...resumeData },
  })
  .andThen({
    id: "publish",
    execute: ({ data }) => {
      if (data.approved) published.push(data.title);
      return data.approved ? `/${data.title}` : "refused";
    },
  });

/** Calls its tool for the first message, and then says that it is done. */
function modelOf(name: string, input: object) {
  return controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? { text: [`Done: ${JSON.stringify(prompt.at(-1)?.content)}`], hold: () => held }
      : { text: ["Let me see. "], calls: [{ id: "call-1", name, input }] },
  );
}

const agentsOf = () => ({
  editor: new Agent({
    id: "editor",
    model: modelOf("publish", { title: "tea" }),
    tools: { publish: workflowTool(publish) },
    recoverWithin: "30d",
  }),
  careful: new Agent({
    id: "careful",
    model: modelOf("remove", { file: "a.txt" }),
    tools: {
      remove: tool({
        inputSchema: z.object({ file: z.string() }),
        execute: ({ file }) => `${file} is gone`,
      }),
    },
    toolApproval: {
      remove: () => ({ type: "user-approval", deadline: "2d", onDeadline: "approve" }),
    },
    recoverWithin: "30d",
  }),
});

async function nodes(clock: TestClock): Promise<readonly [TestServer, TestServer]> {
  const database = await startPostgres();
  onTestFinished(() => database.remove());
  const node = () =>
    serveForTest({
      agents: agentsOf(),
      workflows: { publish },
      store: postgresStore({ url: database.url, schema: "waiting", connectTimeout: 20_000 }),
      clock,
      configureApp: (app) => {
        app.get("/page/:file{.+}", (http) => {
          const file = files.get(http.req.param("file"));
          return file === undefined
            ? http.notFound()
            : http.body(file.content, 200, { "content-type": file.contentType });
        });
      },
    });
  return [await node(), await node()];
}

async function openChat(server: TestServer, agent: string, complaints: string[]): Promise<Page> {
  const page = await openPage(browser, (what) => complaints.push(what));
  onTestFinished(() => page.context().close());
  await page.goto(`${server.url}/page/index.html?agent=${agent}&conversation=talk`);
  await page.getByLabel("Message").fill("go");
  await page.getByRole("button", { name: "Send" }).click();
  return page;
}

/** A person answers yes in the console of this node, in a browser of their own. */
async function approveInInbox(server: TestServer, reason: string, complaints: string[]): Promise<void> {
  const inbox = await openPage(browser, (what) => complaints.push(what));
  onTestFinished(() => inbox.context().close());
  await inbox.setViewportSize({ width: 1440, height: 900 });
  await inbox.goto(`${server.url}/console/inbox`);
  await inbox.getByRole("radio", { name: "Yes" }).click();
  await inbox.getByRole("button", { name: "Answer and continue" }).click();
  await inbox.getByText(`Answered: ${reason}`).waitFor();
}

test("a chat calls a workflow, a person approves it three days later on another node, and the open chat shows the closing message", async () => {
  const clock = new TestClock({ skipSleeps: false });
  const [here, there] = await nodes(clock);
  const complaints: string[] = [];
  const chat = await openChat(here, "editor", complaints);
  await chat.locator("article.assistant .tool").waitFor();
  const wait = chat.locator("article.assistant .waiting");
  await eventually(() => wait.allTextContents()).toEqual(["The tool publish waits for the workflow publish"]);
  await eventually(() => chat.locator("#status").textContent()).toBe("ready");
  await eventually(async () =>
    (await there.andante.live.waiting({ limit: 5 })).items.map((item) => item.workflowId),
  ).toEqual(["publish"]);
  clock.advance("3d");
  await approveInInbox(there, "Publish tea?", complaints);
  await chat.getByText(/Done: .*\/tea/).waitFor();
  await eventually(() => chat.locator("#status").textContent()).toBe("ready");
  expect(published).toEqual(["tea"]);
  await eventually(() => chat.locator("article.assistant").count()).toBe(1);
  await eventually(() => chat.locator("article.assistant .output").textContent()).toBe('"/tea"');
  await eventually(() => wait.count(), "nothing waits any more").toBe(0);
  expect(complaints).toEqual([]);
}, 240_000);

test("a person decides about a call in the inbox of another node while the customer's chat is open, and the reply continues there", async () => {
  const clock = new TestClock({ skipSleeps: false });
  const [here, there] = await nodes(clock);
  const complaints: string[] = [];
  const chat = await openChat(here, "careful", complaints);
  await chat.getByRole("button", { name: "Approve" }).waitFor();
  await eventually(() => chat.locator("#status").textContent()).toBe("ready");
  await approveInInbox(there, "The tool remove needs approval", complaints);
  await chat.getByText(/Done: .*a\.txt is gone/).waitFor();
  await eventually(() => chat.locator("#status").textContent()).toBe("ready");
  await eventually(() => chat.locator("article.assistant").count()).toBe(1);
  await eventually(() => chat.locator("article.assistant .output").textContent()).toBe('"a.txt is gone"');
  await eventually(() => chat.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(complaints).toEqual([]);
}, 240_000);

test("a deadline decides about a call while the customer's chat is open, and the reply continues there", async () => {
  const clock = new TestClock({ skipSleeps: false });
  const [here] = await nodes(clock);
  const complaints: string[] = [];
  const chat = await openChat(here, "careful", complaints);
  await chat.getByRole("button", { name: "Approve" }).waitFor();
  await eventually(() => chat.locator("#status").textContent()).toBe("ready");
  clock.advance("3d");
  await chat.getByText(/Done: .*a\.txt is gone/).waitFor();
  await eventually(() => chat.locator("#status").textContent()).toBe("ready");
  await eventually(() => chat.locator("article.assistant .output").textContent()).toBe('"a.txt is gone"');
  await eventually(() => chat.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(complaints).toEqual([]);
}, 240_000);

test("a reply that ends between the look that finds it and the request for its stream is shown", async () => {
  const clock = new TestClock({ skipSleeps: false });
  const [here] = await nodes(clock);
  const complaints: string[] = [];
  const chat = await openChat(here, "careful", complaints);
  await chat.getByRole("button", { name: "Approve" }).waitFor();
  await eventually(() => chat.locator("#status").textContent()).toBe("ready");
  const { promise, resolve: release } = Promise.withResolvers<void>();
  held = promise;
  let isFound = false;
  await chat.context().route("**/agents/careful/chat/talk/stream*", async (route) => {
    if (isFound) {
      release();
      await eventually(async () => {
        const { status, body } = await fetch(route.request().url());
        await body?.cancel();
        return status;
      }).toBe(204);
    }
    await route.continue();
  });
  chat.on("response", (response) => {
    if (response.url().includes("/chat/talk/stream") && response.status() === 200) isFound = true;
  });
  clock.advance("3d");
  await chat.getByText(/Done: .*a\.txt is gone/).waitFor();
  expect(isFound).toBe(true);
  expect(complaints).toEqual([]);
}, 240_000);
