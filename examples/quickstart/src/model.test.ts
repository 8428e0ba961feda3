import { once } from "node:events";
import { createServer } from "node:http";
import { generateText } from "ai";
import { expect, test } from "vitest";
import { chooseModel, type Environment } from "./model.ts";

const chosen = (environment: Environment) => {
  const { model } = chooseModel(environment);
  return typeof model === "string" ? model : `${model.provider} ${model.modelId}`;
};

test("without any key the offline demo model replies", async () => {
  const { model, label } = chooseModel({});
  expect(label).toContain("offline demo model");
  expect((await generateText({ model, prompt: 'say exactly "hello"' })).text).toBe("hello");
});

test("a key chooses its provider, and MODEL the model", () => {
  expect(chosen({ OPENAI_API_KEY: "k" })).toMatch(/^openai.* gpt-5$/);
  expect(chosen({ ANTHROPIC_API_KEY: "k" })).toMatch(/^anthropic.* claude-/);
  expect(chosen({ ANTHROPIC_API_KEY: "k", MODEL: "claude-x" })).toMatch(/ claude-x$/);
});

test("OPENAI_BASE_URL asks the server at that address", async () => {
  const asked: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    asked.push(request.url, request.headers.authorization, body.model);
    response.setHeader("content-type", "application/json");
    const message = { role: "assistant", content: "from loopback" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.end(
      JSON.stringify({ id: "1", object: "chat.completion", created: 0, model: body.model, choices }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const { model } = chooseModel({
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_API_KEY: "k",
    MODEL: "local",
  });
  expect((await generateText({ model, prompt: "hi" })).text).toBe("from loopback");
  expect(asked).toEqual(["/v1/chat/completions", "Bearer k", "local"]);
  server.close();
});
