// Several models of one agent, and waits for a busy provider: the provider's package talks to a server that fails in each
// way that a provider can.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { tool } from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { scriptedModel } from "../../src/test-kit/scripted-model.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { flow, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

type Answer = (response: ServerResponse, isStream: boolean) => void;

/** The answers of each model, the last one for all further calls; and the models in the order of their calls. */
let answers: Record<string, Answer[]> = {};
let asked: string[] = [];

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { model, stream = false } = JSON.parse(Buffer.concat(chunks).toString());
    asked.push(model);
    const own = answers[model] ?? [];
    const answer = own.length > 1 ? own.shift() : own[0];
    if (answer === undefined) throw new Error(`the model ${model} has no answer`);
    answer(response, stream);
  });
});

const piece = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: "r", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const begin = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });

/** Replies word by word. */
const says =
  (...words: string[]): Answer =>
  (response, isStream) => {
    const message = { role: "assistant", content: words.join("") };
    if (!isStream) {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ id: "r", choices: [{ message, finish_reason: "stop" }] }));
    }
    begin(response);
    for (const content of words) response.write(piece({ content }));
    const usage = { prompt_tokens: 3, completion_tokens: words.length, total_tokens: 3 + words.length };
    response.write(piece({}, "stop"));
    response.end(`data: ${JSON.stringify({ id: "r", choices: [], usage })}\n\ndata: [DONE]\n\n`);
  };
const refuses =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: "no", type: "refused" } }));
  };
/** An error inside of a stream that began with status 200. */
const errsInBand: Answer = (response) => {
  begin(response).write(piece({ role: "assistant", content: "" }));
  response.end(`data: ${JSON.stringify({ error: { message: "overloaded", type: "server_error" } })}\n\n`);
};
const breaksOff: Answer = (response) => {
  begin(response);
  for (const content of ["one ", "two ", "three"]) response.write(piece({ content }));
  response.write(piece({ content: "" }), () => setImmediate(() => response.destroy()));
};
const saysNothing: Answer = (response) =>
  void begin(response).write(piece({ role: "assistant", content: "" }));

let provider: ReturnType<typeof createOpenAICompatible>;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  provider = createOpenAICompatible({ name: "loopback", baseURL: `http://127.0.0.1:${port}/v1` });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers = { b: [says("from ", "b")] };
  asked = [];
});

const agentWith = (options: Partial<AgentOptions> = {}) =>
  new Agent({ id: "a", maxRetries: 0, model: [provider("a"), provider("b")], ...options });

const failures: [string, Answer, Partial<AgentOptions>][] = [
  ["an error inside of its stream", errsInBand, {}],
  ["a server error", refuses(500), {}],
  ["a refusal of its key", refuses(401), {}],
  ["too many requests", refuses(429, { "retry-after": "3600" }), {}],
  ["silence for longer than `after`", saysNothing, { fallback: { after: 30 } }],
  ["silence for longer than the timeout", saysNothing, { timeout: 1000 }],
];

onMemory((bench) => {
  describe("the next model replies where the first one fails before its first text", () => {
    test.each(failures)("%s", async (name, answer, options) => {
      answers.a = [answer];
      const logger = new RecordingLogger();
      const agent = agentWith(options);
      const andante = bench.andanteWith({ agents: { agent }, logger });
      const reply = await andante.agents.text("a", "hi", { conversationId: name.replaceAll(/\W/g, "-") });
      expect([reply.text, reply.usage.calls, asked]).toEqual(["from b", 1, ["a", "b"]]);
      expect(logger.lines.map(({ msg }) => msg)).toContain("the model did not reply; the next one is asked");
      expect((await agent.generate({ prompt: "hi" })).text).toBe("from b");
    });
  });

  test("it does not after the first text: the reply breaks off, and is kept so far", async () => {
    answers.a = [breaksOff];
    const { agents, conversations } = bench.andanteWith({ agents: { agent: agentWith() } });
    await expect(agents.text("a", "hi", { conversationId: "broken" })).rejects.toThrow(
      "The model provider failed to answer",
    );
    expect(asked).toEqual(["a"]);
    const { messages } = await conversations.messages("broken");
    expect(messages.at(-1)).toMatchObject({ partial: true, parts: expect.any(Array) });
    expect(JSON.stringify(messages.at(-1)?.parts)).toContain("one two three");
  });

  test("each record names the model that replied, with its usage", async () => {
    answers.a = [refuses(500)];
    const workflow = flow().andAgent({ id: "ask", agent: agentWith(), prompt: "p" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    const events = await andante.events(workflow.id, executionId);
    expect(events.filter(({ type }) => type === "checkpoint-complete")).toMatchObject([
      { call: { kind: "model", model: "loopback.chat/b" }, usage: { outputTokens: 2, calls: 1 } },
    ]);
  });

  test("only the failures of `on` count, and the last model's error is the caller's", async () => {
    Object.assign(answers, { a: [refuses(401)], b: [refuses(500)] });
    const busy = agentWith({ id: "busy", fallback: { on: ["busy"] } });
    const { agents } = bench.andanteWith({ agents: { all: agentWith(), busy } });
    await expect(agents.text("busy", "hi")).rejects.toMatchObject({ code: "model-failed" });
    expect(asked).toEqual(["a"]);
    await expect(agents.text("a", "hi")).rejects.toMatchObject({ code: "model-failed" });
    expect(asked).toEqual(["a", "a", "b"]);
  });

  test("a function may return several, and none of them is an error that names it", async () => {
    answers.a = [refuses(503)];
    const model = () => [provider("a"), provider("b")];
    const none = new Agent({ id: "none", model: () => [] });
    const { agents } = bench.andanteWith({ agents: { agent: agentWith({ model }), none } });
    expect((await agents.text("a", "hi")).text).toBe("from b");
    await expect(agents.text("none", "hi")).rejects.toThrow("The agent's model failed");
    expect(() => new Agent({ id: "a", model: [] })).toThrow('Agent "a": model is an empty list');
    expect(() => new Agent({ id: "a", model: "a/b", fallback: { on: ["bored" as never] } })).toThrow(
      "fallback.on must be a list of busy, failed, timeout, auth",
    );
  });
});

test("a reply that continues after a crash keeps its model", async () => {
  const recovered = ({ prompt }: { prompt: readonly { role: string }[] }) =>
    prompt.at(-1)?.role === "tool" ? "from a" : new Error("not yet");
  const asks = ({ prompt }: { prompt: readonly { role: string }[] }) =>
    prompt.at(-1)?.role === "tool" ? "from b" : { toolCalls: [{ toolName: "look" }] };
  const many = <Turn>(turn: Turn) => Array.from({ length: 200 }, () => turn);
  const b = { ...scriptedModel(many(asks)), modelId: "second" };
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  const model = [scriptedModel(many(recovered)), b];
  const agent = new Agent({ id: "a", model, tools: { look }, maxRetries: 0 });
  const workflow = flow().andAgent({ id: "ask", agent, prompt: "p" });
  const { expected, differences } = await crashTest({ workflow, input: {}, timeout: 30_000 });
  expect([expected.result, differences]).toEqual([{ text: "from b" }, []]);
});

describe("a provider that is busy, in a workflow with onBusy: wait", () => {
  const waiting = (maxWait?: "1m") =>
    flow().andAgent({
      ...{
        id: "ask",
        agent: agentWith({ model: provider("a"), maxRetries: 2 }),
        prompt: "p",
        onBusy: "wait",
      },
      ...(maxWait && { maxWait }),
    });

  test("a crash at any write, also while it waits, changes nothing", async () => {
    const reset = () =>
      Object.assign(answers, { a: [refuses(429, { "retry-after": "3600" }), says("here")] });
    const { expected, runs, differences } = await crashTest({
      workflow: waiting(),
      input: {},
      timeout: 30_000,
      reset,
    });
    expect([expected.result, differences]).toEqual([{ text: "here" }, []]);
    expect(runs.some(({ events }) => events.includes("checkpoint-retry ask#call[0]"))).toBe(true);
  });

  onMemoryAndFile((bench) => {
    test("it sleeps until the provider's time, and explains that", async () => {
      answers.a = [refuses(429, { "retry-after": "3600" }), says("here")];
      const clock = new TestClock({ skipSleeps: false });
      const workflow = waiting();
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.start(workflow.id, {});
      const until = new Date(clock.now() + 3_600_000).toISOString();
      await expect
        .poll(async () => (await andante.explain(executionId)).sentence)
        .toBe(`Step ask waits for the provider until ${until}.`);
      expect(asked).toEqual(["a"]);
      clock.advance(3_600_000);
      await expect.poll(async () => (await andante.state(workflow.id, executionId)).status).toBe("completed");
      expect(asked).toEqual(["a", "a"]);
    });

    test("one that would wait beyond maxWait in all fails at once", async () => {
      answers.a = [refuses(429, { "retry-after": "40" }), refuses(429, { "retry-after": "40" })];
      const workflow = waiting("1m");
      const andante = bench.andanteWith({ clock: new TestClock() }, workflow);
      const { status, executionId } = await andante.execute(workflow.id, {});
      const events = await andante.events(workflow.id, executionId);
      expect([status, events.filter(({ type }) => type === "checkpoint-retry").length]).toEqual(["error", 1]);
    });
  });
});
