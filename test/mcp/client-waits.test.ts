// Agents as clients of a server whose tools wait: its questions and tasks are waits of the tool, decided here or there.
import type { Agent } from "@andante/core";
import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { callerOf } from "./caller.ts";
import { listenFor, requestedSchema, startDesk } from "./desk.ts";
import { publish } from "./publish.ts";

const remoteServer = (mcp: object = {}) =>
  serveForTest({ workflows: { publish }, mcp: { expose: ["publish"], ...mcp } });

/** A conversation in which the agent has called the tool, and its text. */
async function asked(caller: Agent) {
  const { andante, get, post } = await serveForTest({ agents: { caller } });
  const { conversationId } = await andante.agents.start("caller", "go");
  const text = async () => (await get(`/api/conversations/${conversationId}/messages`)).text;
  const questions = async () => listOf(dataOf(await get("/api/inbox")), "items");
  const resume = (suspensionId: unknown, resumeData: object) =>
    post(`/api/conversations/${conversationId}/resume`, { suspensionId, resumeData });
  return { text, questions, resume };
}

test("a question of a task is in the inbox with its schema, and its answer resumes the task", async () => {
  const remote = await remoteServer({ wait: 0 });
  const { text, questions, resume } = await asked(callerOf(remote.url));
  await expect.poll(questions, { timeout: 10_000 }).toHaveLength(1);
  const [{ suspension } = {}] = await questions();
  expect(suspension).toMatchObject({
    reason: expect.stringContaining("Publish this?"),
    resumeSchema: { type: "object", properties: { approved: { type: "boolean" } } },
  });
  const { suspensionId } = Object(suspension);
  expect((await resume(suspensionId, { approved: "yes" })).status).toBe(400);
  expect((await resume(suspensionId, { approved: true })).status).toBe(200);
  await expect.poll(text, { timeout: 10_000 }).toContain("published");
});

test("a task that a person decides at its server ends the wait of the agent", async () => {
  // The caller may not resume, so the server does not ask it.
  const remote = await serveForTest({
    workflows: { publish },
    mcp: { expose: ["publish"], wait: 0 },
    authorize: ({ action, userId }) => action !== "executions.resume" || userId === "editor",
    auth: provider(),
  });
  const token = await tokenFor("ada");
  const { text } = await asked(callerOf(remote.url, () => token));
  const headers = bearer(await tokenFor("editor"));
  const open = async () => listOf(dataOf(await remote.get("/api/inbox", headers)), "items");
  await expect.poll(open).toHaveLength(1);
  const [{ executionId } = {}] = await open();
  const path = `/workflows/publish/executions/${executionId}/resume`;
  dataOf(await remote.post(path, { resumeData: { approved: false } }, headers));
  await expect.poll(text, { timeout: 10_000 }).toContain("published");
});

test("a question in place of a result is a suspension too, and the call is repeated with its answer", async () => {
  const { url, calls } = await startDesk();
  const { text, questions, resume } = await asked(callerOf(url));
  await expect.poll(questions, { timeout: 10_000 }).toHaveLength(1);
  const [{ suspension } = {}] = await questions();
  expect(suspension).toMatchObject({ reason: "Sure?", resumeSchema: requestedSchema });
  expect((await resume(Object(suspension).suspensionId, { approved: true })).status).toBe(200);
  await expect.poll(text, { timeout: 10_000 }).toContain("published hello");
  expect(calls).toEqual([undefined, { approved: true }]);
});

test("a server that asks nothing yet is asked again after a while, not at once", async () => {
  const times: number[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "desk", version: "1" });
    server.registerTool("publish", { inputSchema: z.object({ text: z.string() }) }, async (given) => {
      times.push(performance.now());
      return times.length < 3
        ? inputRequired({ inputRequests: {}, requestState: "s-1" })
        : { content: [{ type: "text", text: `published ${given.text}` }] };
    });
    return server;
  });
  const url = await listenFor((request) => handler.fetch(request));
  const { text } = await asked(callerOf(url));
  await expect.poll(text, { timeout: 20_000 }).toContain("published hello");
  const [first = 0, second = 0, third = 0] = times;
  expect([second - first, third - second].map((each) => each >= 900)).toEqual([true, true]);
});

test("a token that is refused is asked for once more", async () => {
  const remote = await serveForTest({
    workflows: { publish },
    mcp: { expose: ["publish"], wait: 0 },
    auth: provider(),
  });
  const good = await tokenFor("ada");
  const asks: boolean[] = [];
  const { questions } = await asked(
    callerOf(remote.url, (isRefused) => {
      asks.push(isRefused);
      return isRefused ? good : "old";
    }),
  );
  await expect.poll(questions, { timeout: 10_000 }).toHaveLength(1);
  expect(asks.slice(0, 2)).toEqual([false, true]);
});
