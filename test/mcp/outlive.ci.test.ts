// A task outlives its process: the server is killed, a person decides, and the next poll has the result. So does the call of
// an agent that waits for it.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { cleanup } from "../support/cleanup.ts";
import { call, dataOf, postOf } from "../support/responses.ts";
import { startServerProcess, temporaryDatabase } from "../support/server-process.ts";
import { bearer, tokenFor } from "../support/tokens.ts";
import { mcpClient } from "./client.ts";
import { startDesk } from "./desk.ts";

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

/** Has the agent of a server call the tool of another one, in the conversation `c-1`. */
async function startCaller(place: string, other: string) {
  const local = await start(place, [other]);
  const options = { conversationId: "c-1" };
  await call(
    `${local.url}/agents/caller/text`,
    postOf({ input: "go", options }, { prefer: "respond-async" }),
  );
  return local;
}

const messagesOf = async (url: string) => (await call(`${url}/api/conversations/c-1/messages`)).text;
const inboxOf = async (url: string) => JSON.stringify(dataOf(await call(`${url}/api/inbox`)).items);

/** Answers the only question of a server. */
async function answer(url: string) {
  const [{ suspension }] = JSON.parse(await inboxOf(url));
  const body = { suspensionId: suspension.suspensionId, resumeData: { approved: true } };
  dataOf(await call(`${url}/api/conversations/c-1/resume`, postOf(body, {})));
}

test("an agent that waits for the task of another server continues after a crash of both", async () => {
  const [here, there] = [temporaryDatabase(), temporaryDatabase()];
  const remote = await start(there);
  const local = await startCaller(here, remote.url);
  await expect.poll(() => inboxOf(local.url), { timeout: 60_000 }).toContain("Publish this?");
  await local.kill();
  const next = await start(here, [remote.url]);
  await answer(next.url);
  await expect.poll(() => messagesOf(next.url), { timeout: 60_000 }).toContain("published");
  // The tool was called once.
  const { executions } = dataOf(await call(`${remote.url}/api/executions`));
  expect(executions).toHaveLength(1);
}, 180_000);

/** A server whose task asks its client nothing: a user of this name alone may resume it. */
const startEditors = (place: string, port = "0") => start(place, ["", port, "editor"]);

/** The ids of all tasks of such a server. */
async function tasksOf(url: string): Promise<string[]> {
  const headers = bearer(await tokenFor("ada"));
  const { executions } = dataOf(await call(`${url}/api/executions`, { headers }));
  return JSON.parse(JSON.stringify(executions)).map(
    ({ executionId }: { executionId: string }) => executionId,
  );
}

async function approveAsEditor(url: string) {
  const [executionId] = await tasksOf(url);
  const headers = bearer(await tokenFor("editor"));
  const path = `/workflows/publish/executions/${executionId}/resume`;
  dataOf(await call(url + path, postOf({ resumeData: { approved: true } }, headers)));
}

/** An address in front of a server. `polled` resolves with the first poll of a task, `failed` when the server is away. */
async function relayTo(url: string) {
  const [polled, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = createServer((socket) => {
    const there = connect(Number(new URL(url).port), "127.0.0.1");
    socket.pipe(there).pipe(socket);
    socket.on("data", (data) => void (data.includes("tasks/get") && polled.resolve()));
    socket.on("error", () => there.destroy()).on("close", () => there.destroy());
    there.on("error", () => failed.resolve()).on("close", () => socket.destroy());
  });
  cleanup(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, polled: polled.promise, failed: failed.promise };
}

test("the other server is killed while an agent polls its task, and comes back", async () => {
  const [here, there] = [temporaryDatabase(), temporaryDatabase()];
  const remote = await startEditors(there);
  const relay = await relayTo(remote.url);
  const local = await startCaller(here, relay.url);
  await relay.polled;
  await remote.kill();
  await relay.failed;
  const next = await startEditors(there, new URL(remote.url).port);
  await approveAsEditor(next.url);
  await expect.poll(() => messagesOf(local.url), { timeout: 90_000 }).toContain("published");
  expect(await tasksOf(next.url)).toHaveLength(1);
}, 180_000);

test("an agent is killed while it polls, the other server decides, and the next process replies", async () => {
  const [here, there] = [temporaryDatabase(), temporaryDatabase()];
  const remote = await startEditors(there);
  const relay = await relayTo(remote.url);
  const local = await startCaller(here, relay.url);
  await relay.polled;
  await local.kill();
  await approveAsEditor(remote.url);
  const next = await start(here, [relay.url]);
  await expect.poll(() => messagesOf(next.url), { timeout: 90_000 }).toContain("published");
  expect(await tasksOf(remote.url)).toHaveLength(1);
}, 180_000);

test("an agent is killed while a question in place of a result is open, which is answered then", async () => {
  const here = temporaryDatabase();
  const { url, calls } = await startDesk();
  const local = await startCaller(here, url);
  await expect.poll(() => inboxOf(local.url), { timeout: 60_000 }).toContain("Sure?");
  await local.kill();
  const next = await start(here, [url]);
  await answer(next.url);
  await expect.poll(() => messagesOf(next.url), { timeout: 60_000 }).toContain("published hello");
  expect(calls).toEqual([undefined, { approved: true }]);
}, 180_000);
