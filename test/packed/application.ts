// An application as a host writes it, for the packed packages in a folder of their own: an agent with a tool, a
// workflow that asks a person, all of it over HTTP and once without a server.
import assert from "node:assert/strict";
import { createClient } from "@andante/client";
import { chatTransport } from "@andante/client/chat";
import {
  Agent,
  createAndante,
  createWorkflow,
  type Logger,
  sqliteStore,
  type TracingOptions,
} from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { demoModel } from "@andante/demo-model";
import { serve } from "@andante/server";
import { generateText, tool } from "ai";
import { z } from "zod";

/** The application's results, for its parent process. */
export interface Seen {
  /** Names of the spans in its traces. */
  readonly spans: readonly string[];
  /** Lines of its log, information and worse. */
  readonly lines: readonly string[];
}

const clock = tool({
  description: "Tells the time",
  inputSchema: z.object({}),
  execute: () => "twelve o'clock",
});
const writer = new Agent({
  id: "writer",
  purpose: "Writes short posts",
  model: demoModel(),
  instructions: "Write one paragraph.",
  tools: { clock },
});
const publish = createWorkflow({
  id: "publish",
  name: "Publish a post",
  input: z.object({ topic: z.string() }),
  result: z.object({ text: z.string(), approved: z.boolean() }),
})
  .andAgent({ id: "draft", agent: writer, prompt: ({ data }) => `Write about ${data.topic}` })
  .andThen({
    id: "approve",
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: ({ data, suspend, resumeData }) =>
      resumeData ? { ...data, ...resumeData } : suspend("Waiting for approval"),
  });
const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
  id: "times-two",
  execute: ({ data }) => data.n * 2,
});

const reply = z.object({ data: z.record(z.string(), z.unknown()) });

export async function runApplication(tracing: TracingOptions = {}): Promise<Seen> {
  assert.match(import.meta.resolve("@andante/core"), /node_modules\/@andante\/core\/dist\/index\.js$/);
  const lines: string[] = [];
  const keep = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: () => {}, info: keep, warn: keep, error: keep, child: () => logger };

  const server = await serve({
    agents: { writer },
    workflows: { publish },
    store: sqliteStore({ path: "application.db" }),
    port: 0,
    logger,
    tracing,
  });
  const post = async (path: string, body: unknown) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(response.status, 200, path);
    return reply.parse(await response.json()).data;
  };
  const told = await post("/agents/writer/text", { input: "What time is it?" });
  assert.match(String(told.text), /twelve o'clock/);
  const { executionId, status } = await post("/workflows/publish/execute", { input: { topic: "rivers" } });
  assert.equal(status, "suspended");
  const path = `/workflows/publish/executions/${executionId}/resume`;
  const { result } = await post(path, { resumeData: { approved: true } });
  assert.equal(Object(result).approved, true);
  assert.equal((await fetch(`${server.url}/doc`)).status, 200);
  const client = createClient<typeof server>({ baseUrl: server.url });
  const state = await client.workflow("publish").execution(String(executionId)).state();
  assert.equal(state.status === "completed" && state.result.approved, true);
  assert.equal(typeof chatTransport(client, "writer").sendMessages, "function");

  const { traces } = await server.andante.traces.list();
  const full = await Promise.all(traces.map(({ traceId }) => server.andante.traces.read(traceId)));
  const spans = full.flatMap((trace) => trace?.spans ?? []).map(({ name }) => name);
  await server.close();

  const andante = createAndante({
    workflows: { double },
    store: sqliteStore({ path: "application.db" }),
    logger,
  });
  const doubled = await andante.execute("double", { n: 21 });
  assert.equal(doubled.result, 42);
  assert.equal((await generateText({ model: scriptedModel(["hello"]), prompt: "hi" })).text, "hello");
  await andante.close();
  return { spans, lines };
}
