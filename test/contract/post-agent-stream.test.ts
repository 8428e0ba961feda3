// POST /agents/:id/stream: every part of an answer as it comes
import { expect, test } from "vitest";
import { aborted } from "../support/agents.ts";
import { typesOf } from "../support/event-reader.ts";
import { gates } from "../support/gates.ts";
import { errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const stream = (agent: string, input: unknown, options = {}) =>
  server.stream(`/agents/${agent}/stream`, { input, options });

test("the parts of an answer, with each text in `delta` and `text`", async () => {
  const reader = await stream("echo", "a b");
  expect(reader.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const parts = await reader.rest();
  expect(typesOf(parts)).toEqual([
    "start",
    "start-step",
    "text-start",
    ...Array(4).fill("text-delta"),
    "text-end",
    "finish-step",
    "finish",
  ]);
  const deltas = parts.filter(({ type }) => type === "text-delta");
  expect(deltas.map(({ delta }) => delta).join("")).toBe("You said: a b");
  for (const { delta, text } of deltas) expect(text).toBe(delta);
  expect(parts.at(-1)).toMatchObject({
    finishReason: "stop",
    totalUsage: { inputTokens: 10, outputTokens: 5 },
  });
});

test("tool calls and their results", async () => {
  const parts = await (await stream("adder", "add")).rest();
  expect(parts).toContainEqual(
    expect.objectContaining({ type: "tool-call", toolName: "add", input: { a: 1, b: 2 } }),
  );
  expect(parts).toContainEqual(expect.objectContaining({ type: "tool-result", toolName: "add", output: 3 }));
  expect(parts.at(-1)).toMatchObject({ type: "finish" });
});

test("the error of a failing tool has a general message, unless its own is meant for everyone", async () => {
  const parts = await (await stream("adder", "add badly")).rest();
  expect(parts).toContainEqual(expect.objectContaining({ type: "tool-error", error: "The tool failed" }));
  expect(JSON.stringify(parts.filter(({ type }) => type === "tool-error"))).not.toContain("hunter2");
  const open = await (await stream("public-tool", "x")).rest();
  expect(open).toContainEqual(expect.objectContaining({ type: "tool-error", error: "closed on Sundays" }));
});

test.each([
  ["401", "The model provider failed to answer"],
  ["429", "The model provider is busy, try again later"],
  ["500", "The model provider failed to answer"],
])("a provider that answers %s ends the stream with an error in safe words", async (input, error) => {
  const parts = await (await stream("failing", input)).rest();
  expect(parts.filter(({ type }) => type === "error")).toEqual([{ type: "error", error }]);
  expect(JSON.stringify(parts)).not.toContain("hunter2");
});

test("a provider that breaks off half way ends the stream with an error, after its text", async () => {
  const parts = await (await stream("cut", "x")).rest();
  expect(parts).toContainEqual(expect.objectContaining({ type: "text-delta", delta: "half " }));
  expect(parts.at(-1)).toEqual({ type: "error", error: "The model provider failed to answer" });
  expect(JSON.stringify(parts)).not.toContain("hunter2");
});

test("a connection that is cut silently is not a complete reply", async () => {
  const parts = await (await stream("silent", "x")).rest();
  expect(parts.at(-1)).toEqual({ type: "error", error: "The model provider failed to answer" });
});

test("a model that takes too long ends the stream with an error", async () => {
  const parts = await (await stream("deaf", "x")).rest();
  expect(parts).toContainEqual({ type: "error", error: "The model did not answer within 0.03 seconds" });
});

test("a client that goes away stops the model", async () => {
  const reader = await stream("held", "dropped-stream");
  await gates.arrival("dropped-stream");
  await reader.drop();
  await expect.poll(() => aborted).toContain("dropped-stream");
  await expect.poll(async () => (await server.andante.agents.read("held")).status).toBe("idle");
});

test("the provider's requests and headers are left out", async () => {
  const parts = await (await stream("echo", "x")).rest();
  for (const part of parts) {
    expect(part).not.toHaveProperty("request");
    expect(Object.keys(Object(part.response))).not.toContain("headers");
  }
});

test("a request that is not valid is an envelope and no stream", async () => {
  expect(errorOf(await server.post("/agents/echo/stream", {}), 400)).toBe(
    "Input validation failed: input: required",
  );
});
