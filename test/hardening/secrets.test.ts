// An error of the host's code may hold a secret, such as a connection string: no way out of the process shows it.
import { Agent, createWorkflow, memoryStore, PublicError } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { SocketClient } from "../support/socket-client.ts";

const words = "cannot reach postgres://ada:hunter2@db.example/orders";
const shown = "cannot reach postgres://[redacted]@db.example/orders";

const failing = createWorkflow({ id: "failing", input: z.object({ how: z.string() }) })
  .andThen({ id: "before", execute: ({ data }) => data })
  .andThen({
    id: "connect",
    retry: { attempts: 2, delay: 1 },
    execute: async ({ data, checkpoint }) => {
      if (data.how === "public") throw new PublicError(words);
      if (data.how === "text") throw words;
      if (data.how === "object")
        throw { problem: words, apiKey: "hunter2", nested: [{ password: "hunter2" }] };
      if (data.how === "checkpoint")
        await checkpoint("save", () => {
          throw new Error(words);
        });
      throw new Error(words, { cause: new Error(words) });
    },
  });

test.each(["error", "public", "text", "object", "checkpoint"])("of a step that throws: %s", async (how) => {
  const exporter = new InMemorySpanExporter();
  const store = memoryStore();
  const processors = [new SimpleSpanProcessor(exporter)];
  const server = await serveForTest({ workflows: { failing }, store, tracing: { processors } });
  const spans = await SocketClient.connect(server, "/ws/observability");
  const stream = await server.stream("/workflows/failing/stream", { input: { how } });
  const events = await stream.rest();
  const { executions } = dataOf(await server.get("/api/executions"));
  const { executionId } = Object(Object(executions)[0]);
  const { traces } = dataOf(await server.get(`/api/traces?executionId=${executionId}`));
  const { traceId } = Object(Object(traces)[0]);
  const paths = [
    `/workflows/failing/executions/${executionId}/state`,
    `/workflows/failing/executions/${executionId}/events`,
    `/api/traces/${traceId}`,
    "/api/executions",
    "/api/logs",
    "/api/inbox",
  ];
  const texts = await Promise.all(paths.map(async (path) => (await server.get(path)).text));
  const exported = exporter.getFinishedSpans().map(({ status, events }) => ({ status, events }));
  const everything = [
    ...texts,
    JSON.stringify(events),
    JSON.stringify(exported),
    JSON.stringify(spans.arrived),
  ].join("\n");
  expect(everything).not.toContain("hunter2");
  expect(texts[1]).toContain(shown);
  expect(texts[2]).toContain(shown);
  expect(texts[3]).toContain(shown);
  expect(JSON.stringify(exported)).toContain(shown);
  // The database, its copies and its backups neither.
  expect(JSON.stringify(await store.events({ executionId, after: 0, limit: 100 }))).not.toContain("hunter2");
});

test.each([
  ["a public error", () => new PublicError(words)],
  ["an object", () => ({ problem: words, apiKey: "hunter2", nested: [{ password: "hunter2" }] })],
  ["a text", () => words],
])(
  "of a tool that throws %s: in the reply, the conversation, the spans and the next call of the model",
  async (how, thrown) => {
    const exporter = new InMemorySpanExporter();
    const prompts: string[] = [];
    const model = scriptedModel([{ toolCalls: [{ toolName: "save", input: {} }] }, "It did not work."]);
    const doGenerate = model.doStream.bind(model);
    model.doStream = (call) => {
      prompts.push(JSON.stringify(call.prompt));
      return doGenerate(call);
    };
    const save = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw thrown();
      },
    });
    const clerk = new Agent({ id: "clerk", model, tools: { save } });
    const processors = [new SimpleSpanProcessor(exporter)];
    const server = await serveForTest({ agents: { clerk }, tracing: { processors } });
    const input = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Save it." }] }];
    const options = { userId: "ada", conversationId: "c1" };
    const stream = await server.stream("/agents/clerk/chat", { input, options });
    const chunks = JSON.stringify(await stream.rest());
    const { text } = await server.get("/api/conversations/c1/messages?userId=ada");
    const exported = exporter
      .getFinishedSpans()
      .map(({ status, events, attributes }) => ({ status, events, attributes }));
    const everything = [chunks, text, JSON.stringify(exported), ...prompts].join("\n");
    expect(everything).not.toContain("hunter2");
    expect(chunks.includes(shown)).toBe(how === "a public error");
    expect(prompts[1]).toContain(shown);
  },
);
