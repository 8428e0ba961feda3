// Wrong requests get the errors of the protocol.
import { expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { a2aClient, messageOf } from "./client.ts";

const expose = ["echo", "approval"];
const text = [{ text: "hi" }];
const request = (fields: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", ...fields });

test.each([
  ["no JSON", "{", 400, -32_700],
  ["no body", "", 400, -32_700],
  ["a list", "[]", 200, -32_600],
  ["null", "null", 200, -32_600],
  ["another version of JSON-RPC", request({ jsonrpc: "1.0" }), 200, -32_600],
  ["no id", request({ id: undefined }), 200, -32_600],
  ["an object as its id", request({ id: {} }), 200, -32_600],
  ["a long id", request({ id: "x".repeat(1001) }), 200, -32_600],
  ["no method", request({ method: undefined }), 200, -32_600],
  ["an unknown method", request({ method: "message/send" }), 200, -32_601],
  ["a name of every object", request({ method: "constructor" }), 200, -32_601],
  ["params that are a list", request({ params: [] }), 200, -32_602],
])("a request with %s", async (_, body, status, code) => {
  const { url } = await serveForTest({ a2a: { expose } });
  const response = await a2aClient(url, "echo").post(body);
  expect([response.status, await response.json()]).toMatchObject([
    status,
    { jsonrpc: "2.0", error: { code } },
  ]);
});

test.each([undefined, "", "0.3", "1.1", "1.0.0", "x".repeat(5000)])("the version %s", async (version) => {
  const { url } = await serveForTest({ a2a: { expose } });
  const headers = {
    "content-type": "application/json",
    ...(version !== undefined && { "a2a-version": version }),
  };
  const body = request({ params: { id: "x" } });
  const send = (query: string) => fetch(`${url}/a2a/echo${query}`, { method: "POST", headers, body });
  expect(await (await send("")).json()).toMatchObject({
    id: 1,
    error: { code: -32_009, data: [{ reason: "VERSION_NOT_SUPPORTED", domain: "a2a-protocol.org" }] },
  });
  // The version may be in the query instead.
  if (version === undefined)
    expect(await (await send("?A2A-Version=1.0")).json()).toMatchObject({ error: { code: -32_001 } });
});

test("each wrong parameter has its error", async () => {
  const { url } = await serveForTest({ a2a: { expose } });
  const [echo, approval] = [a2aClient(url, "echo"), a2aClient(url, "approval")];
  const { task: done } = (await echo.say(text)).result;
  const { task: asked } = (await approval.say([{ data: { topic: "tea" } }])).result;
  const message = (more: object, parts: readonly Record<string, unknown>[] = text) => ({
    message: { ...messageOf(parts), ...more },
  });
  const cases: [string, object, number, client?: typeof echo][] = [
    ["GetTask", {}, -32_602],
    ["GetTask", { id: "" }, -32_602],
    ["GetTask", { id: "x".repeat(1001) }, -32_602],
    ["GetTask", { id: "none" }, -32_001],
    ["GetTask", { id: "%/%" }, -32_001],
    ["GetTask", { id: "a/b" }, -32_001],
    ["GetTask", { id: asked.id }, -32_001],
    ["GetTask", { id: done.id }, -32_001, approval],
    ["GetTask", { id: done.id, historyLength: -1 }, -32_602],
    ["GetTask", { id: done.id, historyLength: 2 ** 31 }, -32_602],
    ["GetTask", { id: done.id, historyLength: "all" }, -32_602],
    ["ListTasks", { pageSize: 0 }, -32_602],
    ["ListTasks", { pageSize: 101 }, -32_602],
    ["ListTasks", { pageToken: "x" }, -32_602],
    ["ListTasks", { pageToken: "x" }, -32_602, approval],
    ["ListTasks", { status: "TASK_STATE_RUNNING" }, -32_602],
    ["ListTasks", { statusTimestampAfter: "yesterday" }, -32_602],
    ["CancelTask", { id: "none" }, -32_001],
    ["CancelTask", { id: done.id }, -32_002],
    ["SubscribeToTask", { id: done.id }, -32_004],
    ["SubscribeToTask", { id: "none" }, -32_001],
    ["GetExtendedAgentCard", {}, -32_004],
    ["SendMessage", {}, -32_602],
    ["SendMessage", message({ messageId: "" }), -32_602],
    ["SendMessage", message({ role: "ROLE_AGENT" }), -32_602],
    ["SendMessage", message({ parts: [] }), -32_602],
    ["SendMessage", message({ parts: Array(101).fill({ text: "a" }) }), -32_602],
    ["SendMessage", message({}, [{}]), -32_602],
    ["SendMessage", message({}, [{ text: "a", url: "https://x.example" }]), -32_602],
    ["SendMessage", message({}, [{ raw: "not base64!" }]), -32_602],
    ["SendMessage", message({}, [{ raw: "aGk=" }]), -32_005],
    ["SendMessage", message({ contextId: "a\u0000b" }), -32_602],
    ["SendMessage", message({ taskId: "none" }), -32_001],
    ["SendMessage", message({ taskId: done.id }), -32_004],
    ["SendStreamingMessage", message({ taskId: done.id }), -32_004],
    ["SendMessage", message({}, [{ text: "tea" }]), -32_602, approval],
    ["SendMessage", message({}, [{ data: 1 }, { data: 2 }]), -32_005, approval],
    ["SendMessage", message({}, [{ url: "https://x.example" }]), -32_005, approval],
    ["SendMessage", message({ taskId: asked.id, contextId: "other" }), -32_602, approval],
    ["SendMessage", message({ taskId: asked.id, metadata: { questionId: "x" } }), -32_602, approval],
    ["SendMessage", message({ taskId: asked.id }, [{ data: { approved: "yes" } }]), -32_602, approval],
  ];
  for (const [method, params, code, client = echo] of cases) {
    const { status, error } = await client.send(method, params as Record<string, unknown>);
    expect([method, JSON.stringify(params).slice(0, 200), status, error?.code]).toEqual([
      ...[method, JSON.stringify(params).slice(0, 200), 200, code],
    ]);
  }
  expect((await approval.task(asked.id)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
});

test("a body above the limit keeps its status", async () => {
  const { url } = await serveForTest({ a2a: { expose }, limits: { body: 1000 } });
  const response = await a2aClient(url, "echo").post(request({ params: { id: "x".repeat(2000) } }));
  expect([response.status, await response.json()]).toMatchObject([413, { error: { code: -32_000 } }]);
});

test("null is a field that is not set, and unknown fields are ignored", async () => {
  const { url } = await serveForTest({ a2a: { expose } });
  const { send } = a2aClient(url, "echo");
  const nothing = { contextId: null, taskId: "", metadata: null, colour: "red" };
  const { result } = await send("SendMessage", {
    message: messageOf(text, nothing),
    configuration: { historyLength: 0, acceptedOutputModes: null },
    tenant: "",
  });
  expect([result.task.status.state, result.task.history]).toEqual(["TASK_STATE_COMPLETED", undefined]);
});
