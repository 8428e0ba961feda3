// Tools over MCP: names and schemas, results, questions, progress and the protocol's own errors.
import { createWorkflow, memoryStore } from "@andante/core";
import { createApp } from "@andante/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { agents } from "../support/agents.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { workflows } from "../support/workflows.ts";
import { mcpClient, textOf, withForms } from "./client.ts";

const options = {
  agents: {},
  mcp: { expose: ["sum", "approval", "failing", "both", "nothing"], wait: 5000 },
};

test("tools have the names, descriptions and schemas of their workflows", async () => {
  const { url } = await serveForTest({ mcp: { expose: ["sum", "approval"], names: { sum: "add_up" } } });
  const { result } = await mcpClient(url).send("tools/list");
  expect(result.tools).toMatchObject([
    {
      name: "add_up",
      title: "Add up",
      description: "Adds two numbers and says so",
      inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
      outputSchema: { type: "object", anyOf: [{ properties: { total: { type: "number" } } }, {}] },
    },
    { name: "approval" },
  ]);
});

test("a tool of an agent has its name and purpose, and takes a message", async () => {
  const { url } = await serveForTest({ mcp: { expose: ["echo", "held"] } });
  const { result } = await mcpClient(url).send("tools/list");
  const inputSchema = {
    type: "object",
    properties: { input: { type: "string" }, conversationId: { type: "string" } },
    required: ["input"],
  };
  const outputSchema = {
    type: "object",
    properties: { text: { type: "string" }, conversationId: { type: "string" } },
    required: ["text"],
  };
  const schemas = { inputSchema, outputSchema };
  expect(result.tools).toMatchObject([
    {
      name: "echo",
      title: "Echo",
      description: "Says it again",
      ...schemas,
      _meta: { "andante/agentId": "echo" },
    },
    // Clients show no tool without a description.
    { name: "held", title: "held", description: "Runs held", ...schemas },
  ]);
});

test("a short call returns its result as text and as an object", async () => {
  const { url } = await serveForTest(options);
  const { call } = mcpClient(url);
  const { status, result } = await call("sum", { a: 2, b: 3 });
  expect([status, result.structuredContent, textOf(result)]).toEqual([200, { total: 5 }, '{"total":5}']);
  expect((await call("nothing")).result.structuredContent).toEqual({ result: null });
});

test("a failed execution and arguments that violate the schema are results that a model can read", async () => {
  const { url } = await serveForTest(options);
  const { call } = mcpClient(url);
  const failed = await call("failing");
  expect(failed.result.isError).toBe(true);
  expect(textOf(failed.result)).toContain("Failed to execute workflow");
  expect(textOf(failed.result)).not.toContain("hunter2");
  const invalid = await call("sum", { a: "x" });
  expect([invalid.status, invalid.result.isError]).toEqual([200, true]);
  expect(textOf(invalid.result)).toContain("Input validation failed: a");
});

test.each([
  ["an unknown tool", "tools/call", { name: "none", arguments: {} }, -32602, 200],
  ["a tool that is not exposed", "tools/call", { name: "mirror", arguments: {} }, -32602, 200],
  ["arguments that are no object", "tools/call", { name: "sum", arguments: [1] }, -32602, 200],
  ["an operator's tool where the host has none", "tools/call", { name: "inbox_list" }, -32602, 200],
  ["an unknown task", "tasks/get", { taskId: "none" }, -32602, 200],
  ["an unknown reply", "tasks/get", { taskId: "reply/a/b/c/2026-01-01T00:00:00.000Z" }, -32602, 200],
  ["an unknown resource", "resources/read", { uri: "andante://executions/none" }, -32602, 200],
  ["a resource of another kind", "resources/read", { uri: "file:///etc/passwd" }, -32602, 200],
  ["a cursor that is none", "resources/list", { cursor: "9:x" }, -32602, 200],
  ["an unknown method", "tools/destroy", {}, -32601, 404],
])("%s is the protocol's error", async (_, method, params, code, status) => {
  const { url } = await serveForTest(options);
  const reply = await mcpClient(url).send(method, params);
  expect([reply.error?.code, reply.status]).toEqual([code, status]);
});

test.each([
  ["no body", "", 400, -32700],
  ["no JSON", "{", 400, -32700],
  ["no object", "3", 400, -32600],
  ["no method", '{"jsonrpc":"2.0","id":1}', 400, -32600],
  ["an empty batch", "[]", 400, -32600],
])("%s is the protocol's error", async (_, body, status, code) => {
  const { url } = await serveForTest(options);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetch(`${url}/mcp`, { method: "POST", headers, body });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ jsonrpc: "2.0", error: { code } });
});

test("a protocol version that does not exist is refused with those that do", async () => {
  const { url } = await serveForTest(options);
  const version = { "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  const client = mcpClient(url, { headers: { "mcp-protocol-version": "2099-01-01" } });
  const reply = await client.send("tools/list", {}, version);
  expect([reply.status, reply.error]).toMatchObject([
    400,
    { code: -32022, data: { supported: ["2026-07-28"] } },
  ]);
});

test("a client without tasks is asked with a form, and the repeated call has the result", async () => {
  const { url } = await serveForTest(options);
  const { call } = mcpClient(url, { capabilities: withForms });
  const asked = await call("approval", { topic: "tea" });
  expect(asked.result).toMatchObject({ resultType: "input_required" });
  const requests = Object(asked.result.inputRequests);
  const [key = ""] = Object.keys(requests);
  expect(requests[key]).toMatchObject({
    method: "elicitation/create",
    params: {
      mode: "form",
      message: expect.stringContaining("Waiting for approval"),
      requestedSchema: {
        type: "object",
        properties: { approved: { type: "boolean" } },
        required: ["approved"],
      },
    },
  });
  const { requestState } = asked.result;
  // Without an answer, and with one that violates the schema.
  expect((await call("approval", {}, { requestState })).result.resultType).toBe("input_required");
  const wrong = { inputResponses: { [key]: { action: "accept", content: { approved: 3 } } }, requestState };
  expect((await call("approval", {}, wrong)).result.isError).toBe(true);
  // With the state of another tool's call.
  expect((await call("sum", { a: 1 }, { requestState })).error?.code).toBe(-32602);
  expect((await call("approval", {}, { requestState: "none" })).error?.code).toBe(-32602);
  const right = {
    inputResponses: { [key]: { action: "accept", content: { approved: true } } },
    requestState,
  };
  const done = await call("approval", { topic: "tea" }, right);
  expect(done.result.structuredContent).toMatchObject({ approved: true, published: true });
});

test("two branches that wait are asked about at once", async () => {
  const { url } = await serveForTest(options);
  const { call } = mcpClient(url, { capabilities: withForms });
  const asked = await call("both");
  const keys = Object.keys(Object(asked.result.inputRequests));
  expect(keys).toHaveLength(2);
  const content = { answer: 7 };
  const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept", content }]));
  const done = await call("both", {}, { inputResponses, requestState: asked.result.requestState });
  expect(done.result.structuredContent).toMatchObject({ result: [content, content] });
});

test("data that no form shows are asked for as JSON", async () => {
  const { url } = await serveForTest({ mcp: { expose: ["twice"] } });
  const { call } = mcpClient(url, { capabilities: withForms });
  const first = await call("twice");
  const answerTo = ({ result }: typeof first, resumeData: string) => {
    const [key = ""] = Object.keys(Object(result.inputRequests));
    const inputResponses = { [key]: { action: "accept", content: { resumeData } } };
    return call("twice", {}, { inputResponses, requestState: result.requestState });
  };
  const broken = await answerTo(first, "{");
  expect([broken.result.isError, textOf(broken.result)]).toEqual([true, "resumeData: expected JSON"]);
  const second = await answerTo(first, '{"a":[1]}');
  const last = await answerTo(second, "2");
  expect(last.result.structuredContent).toEqual({ first: { a: [1] }, second: 2 });
});

test("a client that shows no forms learns the execution and the ways to decide it", async () => {
  const { url } = await serveForTest(options);
  const { result } = await mcpClient(url, { capabilities: {} }).call("approval", { topic: "tea" });
  const { executionId, decide } = Object(result.structuredContent);
  expect(result.isError).toBeUndefined();
  expect(textOf(result)).toContain(executionId);
  expect(decide).toContain(`/workflows/approval/executions/${executionId}/resume`);
});

test("an option that could never work is refused at the start", () => {
  const start = (mcp: object) =>
    createApp({ workflows, agents, store: memoryStore(), logger: silentLogger, mcp: { expose: [], ...mcp } });
  expect(() => start({ expose: ["nobody"] })).toThrow('"nobody" is neither a workflow nor an agent');
  expect(() => start({ expose: ["failing"] })).toThrow('"failing" is a workflow and an agent');
  expect(() => start({ expose: ["résumé 50% & more?"] })).toThrow("is no name of a tool");
  expect(() => start({ expose: ["sum", "both"], names: { sum: "both" } })).toThrow('two tools are "both"');
  expect(() => start({ names: { sum: "both" } })).toThrow('"sum" is not in expose');
  expect(() => start({ wait: -1 })).toThrow("mcp.wait");
  expect(() => start({ url: "ftp://x" })).toThrow("mcp.url");
  expect(() => start({ exposed: [] })).toThrow("exposed");
});

test("an execution has the name of the client as a tag, of either generation, beside those of its workflow", async () => {
  const own = (count: number) => Array.from({ length: count }, (_, index) => `own-${index}`);
  const step = { id: "step", execute: () => "done" };
  const few = createWorkflow({ id: "few", tags: own(2), input: z.object({}) }).andThen(step);
  const full = createWorkflow({ id: "full", tags: own(20), input: z.object({}) }).andThen(step);
  const mcp = { expose: ["few", "full"], wait: 5000 };
  const { url, andante } = await serveForTest({ workflows: { few, full }, agents: {}, mcp });
  const tagsOf = async (workflowId: string) => (await andante.list({ workflowId })).executions[0]?.tags;
  await mcpClient(url).call("few");
  expect(await tagsOf("few")).toEqual([...own(2), "mcp:test"]);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "few" } });
  const accept = "application/json, text/event-stream";
  for (const [agent, tag] of [
    ["claude-code/2.1 (cli)", "mcp:claude-code"],
    [`${"x".repeat(200)}/1`, `mcp:${"x".repeat(80)}`],
    ["", "mcp:unknown"],
  ]) {
    const headers = { "content-type": "application/json", accept, "user-agent": agent ?? "" };
    expect((await fetch(`${url}/mcp`, { method: "POST", headers, body })).status).toBe(200);
    expect(await tagsOf("few")).toEqual([...own(2), tag]);
  }
  const { result } = await mcpClient(url).call("full");
  expect(result.structuredContent).toEqual({ result: "done" });
  expect(await tagsOf("full")).toEqual(own(20));
});
