// Tasks over MCP: a call that takes long is an execution, which is polled, answered and cancelled by its id.
import { expect, test } from "vitest";
import { agents } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { mcpClient, textOf, withForms } from "./client.ts";

// An id of a workflow too.
const { failing: _, ...others } = agents;
const serve = (wait = 0) =>
  serveForTest({
    agents: others,
    mcp: { expose: ["sum", "approval", "gated", "failing", "echo", "forgetful", "careful"], wait },
  });

test("a call that takes longer than the wait is a task with the id of its execution", async () => {
  const { url, get } = await serve();
  const { call, task } = mcpClient(url);
  const { result } = await call("gated", { door: "mcp-task" });
  expect(result).toMatchObject({ resultType: "task", status: "working", ttlMs: null });
  const taskId = String(result.taskId);
  await gates.arrival("mcp-task");
  expect((await task(taskId)).result).toMatchObject({ resultType: "complete", status: "working", taskId });
  expect(dataOf(await get(`/api/executions/${taskId}`)).workflowId).toBe("gated");
  gates.open("mcp-task");
  await expect.poll(async () => (await task(taskId)).result.status).toBe("completed");
  const { result: done } = await task(taskId);
  expect(done.result).toMatchObject({ structuredContent: { passed: "mcp-task" } });
});

test("a suspension is a question of the task, and its answer a resume that the schema checks", async () => {
  const { url } = await serve();
  const { call, task, send } = mcpClient(url);
  const { result } = await call("approval", { topic: "tea" });
  const { taskId } = result;
  await expect.poll(async () => (await task(taskId)).result.status).toBe("input_required");
  const { inputRequests } = (await task(taskId)).result;
  const [key = ""] = Object.keys(Object(inputRequests));
  const answer = (content: object, action = "accept") =>
    send("tasks/update", { taskId, inputResponses: { [key]: { action, content } } });
  expect((await answer({ approved: "yes" })).error).toMatchObject({ code: -32602 });
  // A question that was declined stays open, and one that was never asked is ignored.
  expect((await answer({}, "decline")).result).toMatchObject({ resultType: "complete" });
  await send("tasks/update", { taskId, inputResponses: { other: { action: "accept", content: {} } } });
  expect((await task(taskId)).result.status).toBe("input_required");
  expect((await answer({ approved: true })).result).not.toHaveProperty("taskId");
  await expect.poll(async () => (await task(taskId)).result.status).toBe("completed");
  expect((await task(taskId)).result.result).toMatchObject({ structuredContent: { published: true } });
  // Answered once.
  expect((await answer({ approved: false })).error).toBeUndefined();
});

test("a person decides over HTTP, and the next poll is completed", async () => {
  const { url, post } = await serve();
  const { call, task } = mcpClient(url);
  const { taskId } = (await call("approval", { topic: "tea" })).result;
  await expect.poll(async () => (await task(taskId)).result.status).toBe("input_required");
  await post(`/workflows/approval/executions/${taskId}/resume`, { resumeData: { approved: true } });
  expect((await task(taskId)).result.status).toBe("completed");
});

test("a client that shows no forms sees a task that works, with the ways to decide it", async () => {
  const { url } = await serve();
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const { call, task } = mcpClient(url, { capabilities });
  const { taskId } = (await call("approval", { topic: "tea" })).result;
  await expect.poll(async () => (await task(taskId)).result.statusMessage).toContain("Waiting for approval");
  expect((await task(taskId)).result).toMatchObject({ status: "working", pollIntervalMs: 5000 });
});

test("a task is cancelled, also a second time and after its end", async () => {
  const { url } = await serve();
  const { call, task, send } = mcpClient(url);
  const { taskId } = (await call("approval", { topic: "tea" })).result;
  expect((await send("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
  expect((await task(taskId)).result.status).toBe("cancelled");
  expect((await send("tasks/cancel", { taskId })).error).toBeUndefined();
});

test("a failed execution is a completed task with an error that a model can read", async () => {
  const { url } = await serve();
  const { call, task } = mcpClient(url);
  const { taskId } = (await call("failing")).result;
  await expect.poll(async () => (await task(taskId)).result.status).toBe("completed");
  expect((await task(taskId)).result.result).toMatchObject({ isError: true });
});

test.each(["tasks/get", "tasks/update", "tasks/cancel"])(
  "%s of a client that has not declared tasks is refused with the capability",
  async (method) => {
    const { url } = await serve();
    const reply = await mcpClient(url, { capabilities: withForms }).send(method, {
      taskId: "any",
      inputResponses: {},
    });
    expect([reply.status, reply.error]).toMatchObject([400, { code: -32021 }]);
  },
);

test("an execution of a workflow that is not exposed is no task", async () => {
  const { url, post } = await serve();
  const { executionId } = dataOf(await post("/workflows/mirror/execute", { input: {} }));
  expect((await mcpClient(url).task(executionId)).error?.code).toBe(-32602);
});

test("an agent replies, and continues its conversation", async () => {
  const { url } = await serve(5000);
  const { call } = mcpClient(url);
  const { result } = await call("echo", { input: "one" });
  expect(textOf(result)).toBe("You said: one");
  const { conversationId } = Object(result.structuredContent);
  const again = await call("echo", { input: "two", conversationId });
  expect(Object(again.result.structuredContent)).toEqual({ text: "You said: two", conversationId });
  // One without conversations, and one for a client without tasks, replies at once.
  expect(textOf((await call("forgetful", { input: "x" })).result)).toContain("seen");
  const plain = await mcpClient(url, { capabilities: {} }).call("echo", { input: "three" });
  expect(textOf(plain.result)).toBe("You said: three");
  expect((await call("echo", { input: 3 })).result.isError).toBe(true);
});

test("a reply that waits for a person is a task until it is decided or stopped", async () => {
  const { url, get, post } = await serve();
  const { call, task, send } = mcpClient(url);
  const { taskId } = (await call("careful", { input: "delete a.txt" })).result;
  await expect.poll(async () => (await task(taskId)).result.statusMessage).toContain("waits for a decision");
  const { items } = dataOf(await get("/api/inbox"));
  const [{ conversationId, approvalId }] = JSON.parse(JSON.stringify(items));
  await post(`/api/conversations/${conversationId}/decisions`, { approvalId, approved: true });
  await expect.poll(async () => (await task(taskId)).result.status).toBe("completed");
  expect((await send("tasks/cancel", { taskId })).error).toBeUndefined();
});

test("a reply that waits for another one is withdrawn, and the other one continues", async () => {
  const { url } = await serveForTest({ agents: others, mcp: { expose: ["held"], wait: 0 } });
  const { call, task, send } = mcpClient(url);
  const first = (await call("held", { input: "mcp-first" })).result.taskId;
  await gates.arrival("mcp-first");
  const conversationId = String(first).split("/")[2];
  const second = (await call("held", { input: "mcp-second", conversationId })).result.taskId;
  expect((await task(second)).result.status).toBe("working");
  expect((await send("tasks/cancel", { taskId: second })).error).toBeUndefined();
  expect((await task(second)).error?.code).toBe(-32602);
  gates.open("mcp-first");
  await expect.poll(async () => (await task(first)).result.status).toBe("completed");
  expect((await task(first)).result.result).toMatchObject({
    structuredContent: { text: "first second third" },
  });
});
