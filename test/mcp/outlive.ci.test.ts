// A task outlives its process: the server is killed, a person decides, and the next poll has the result.
import path from "node:path";
import { expect, test } from "vitest";
import { startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { cleanup } from "../support/cleanup.ts";
import { call, dataOf, postOf } from "../support/responses.ts";
import { startServerProcess, temporaryDatabase } from "../support/server-process.ts";
import { mcpClient } from "./client.ts";

const start = (place: string, other: readonly string[] = []) =>
  startServerProcess(path.join(import.meta.dirname, "child.ts"), [place, ...other]);

/** Starts the execution of a task at one server, which waits for a person. */
async function startTask(url: string) {
  const client = mcpClient(url);
  const { taskId } = (await client.call("publish", { text: "hello" })).result;
  await expect.poll(async () => (await client.task(taskId)).result.status).toBe("input_required");
  return String(taskId);
}

const approve = async (url: string, taskId: string) =>
  dataOf(
    await call(
      `${url}/workflows/publish/executions/${taskId}/resume`,
      postOf({ resumeData: { approved: true } }, {}),
    ),
  );
const done = {
  status: "completed",
  result: { structuredContent: { text: "hello", approved: true, published: true } },
};

test("the server is killed, a person approves, and the next poll is completed", async () => {
  const file = temporaryDatabase();
  const first = await start(file);
  const taskId = await startTask(first.url);
  await first.kill();
  const second = await start(file);
  await approve(second.url, taskId);
  expect((await mcpClient(second.url).task(taskId)).result).toMatchObject({ taskId, ...done });
}, 180_000);

test("the answer of the client itself resumes it at the next server too", async () => {
  const file = temporaryDatabase();
  const first = await start(file);
  const taskId = await startTask(first.url);
  await first.kill();
  const { task, send } = mcpClient((await start(file)).url);
  const [key = ""] = Object.keys(Object((await task(taskId)).result.inputRequests));
  const inputResponses = { [key]: { action: "accept", content: { approved: true } } };
  expect((await send("tasks/update", { taskId, inputResponses })).error).toBeUndefined();
  await expect.poll(async () => (await task(taskId)).result).toMatchObject(done);
}, 180_000);

test("one of two nodes on PostgreSQL is killed: the other one has the task", async () => {
  const postgres = await startPostgres();
  cleanup(() => postgres.remove());
  const [first, second] = [await start(postgres.url), await start(postgres.url)];
  const taskId = await startTask(first.url);
  expect((await mcpClient(second.url).task(taskId)).result.status).toBe("input_required");
  await first.kill();
  await approve(second.url, taskId);
  expect((await mcpClient(second.url).task(taskId)).result).toMatchObject(done);
}, 180_000);

test("an agent that waits for the task of another server continues after a crash of both", async () => {
  const [here, there] = [temporaryDatabase(), temporaryDatabase()];
  const remote = await start(there);
  const local = await start(here, [remote.url]);
  const conversationId = "c-1";
  await call(`${local.url}/agents/caller/text`, {
    ...postOf({ input: "go", options: { conversationId } }, { prefer: "respond-async" }),
  });
  const items = async () => JSON.stringify(dataOf(await call(`${local.url}/api/inbox`)).items);
  await expect.poll(items, { timeout: 60_000 }).toContain("Publish this?");
  await local.kill();
  const next = await start(here, [remote.url]);
  const [{ suspension }] = JSON.parse(JSON.stringify(dataOf(await call(`${next.url}/api/inbox`)).items));
  const resume = postOf({ suspensionId: suspension.suspensionId, resumeData: { approved: true } }, {});
  dataOf(await call(`${next.url}/api/conversations/${conversationId}/resume`, resume));
  const messages = async () => (await call(`${next.url}/api/conversations/${conversationId}/messages`)).text;
  await expect.poll(messages, { timeout: 60_000 }).toContain("published");
  // The tool was called once.
  const { executions } = dataOf(await call(`${remote.url}/api/executions`));
  expect(executions).toHaveLength(1);
}, 180_000);
