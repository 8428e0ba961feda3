// Requests with lists of the wrong elements: one problem is reported, however many there are.

import { Agent, type AgentOptions, createWorkflow, memoryStore } from "@andante/core";
import { RecordingLogger, scriptedModel } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createApp } from "../app.ts";

const quiet = new RecordingLogger();
const names = createWorkflow({ id: "names", input: z.object({ names: z.array(z.string()) }) }).andThen({
  id: "count",
  execute: ({ data }) => data.names.length,
});

async function send(
  path: string,
  body: unknown,
  agentOptions: Pick<AgentOptions, "allowProviderOptions"> = {},
) {
  const model = scriptedModel(["Hello."]);
  const assistant = new Agent({ id: "assistant", instructions: "Be kind.", model, ...agentOptions });
  const { fetch, close } = createApp({
    workflows: { names },
    agents: { assistant },
    store: memoryStore(),
    logger: quiet,
  });
  onTestFinished(() => close());
  const init = {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  };
  const response = await fetch(new Request(`http://localhost${path}`, init));
  return { status: response.status, text: await response.text() };
}

test("resume data that is nested deeper than the stack of its schema is a bad request", async () => {
  const tree: z.ZodType<unknown> = z.lazy(() => z.array(tree));
  const wait = createWorkflow({ id: "wait", input: z.object({}) }).andThen({
    id: "stop",
    resumeSchema: tree,
    execute: ({ resumeData, suspend }) => resumeData ?? suspend("wait"),
  });
  const { fetch, close, andante } = createApp({ workflows: { wait }, store: memoryStore(), logger: quiet });
  onTestFinished(() => close());
  const { executionId } = await andante.execute("wait", {});
  const resume = async (resumeData: string) => {
    const body = `{"resumeData":${resumeData}}`;
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    const response = await fetch(
      new Request(`http://localhost/workflows/wait/executions/${executionId}/resume`, init),
    );
    return { status: response.status, text: await response.text() };
  };
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(await resume(deep(100_000))).toMatchObject({
    status: 400,
    text: expect.stringContaining("too deeply"),
  });
  expect(await resume(deep(400))).toMatchObject({ status: 200 });
});

const wrong = Array(1_300_000).fill(1);
const execute = "/workflows/names/execute";
const right = { names: ["Ada"] };

test.each([
  ["input", execute, { input: { names: wrong } }, "Input validation failed: names.0: "],
  ["tags", execute, { input: right, options: { tags: wrong } }, "body.options.tags: "],
  [
    "stopSequences",
    "/agents/assistant/text",
    { input: "Hi", options: { stopSequences: wrong } },
    "body.options.stopSequences: ",
  ],
  [
    "providerOptions",
    "/agents/assistant/text",
    { input: "Hi", options: { providerOptions: { ...wrong.slice(0, 50_000) } } },
    "body.options.providerOptions: ",
  ],
])("%s with a million wrong elements: a short message and little work", async (_, path, body, begin) => {
  const { status, text } = await send(path, body);
  expect(status).toBe(400);
  expect(text.length).toBeLessThan(200);
  expect(JSON.parse(text).error).toContain(begin);
});

test("lists of the right elements are accepted", async () => {
  const many = { names: Array(100_000).fill("Ada") };
  expect(await send(execute, { input: many, options: { tags: ["a", "b"] } })).toMatchObject({ status: 200 });
  const options = { stopSequences: ["END"], providerOptions: { scripted: { mode: "fast" }, other: {} } };
  const text = "/agents/assistant/text";
  const accepted = await send(
    text,
    { input: "Hi", options },
    { allowProviderOptions: { scripted: ["mode"], other: [] } },
  );
  expect(accepted).toMatchObject({ status: 200, text: expect.stringContaining("Hello.") });
  expect(await send(text, { input: "Hi", options })).toMatchObject({
    status: 400,
    text: expect.stringContaining("providerOptions"),
  });
});
