// A call of an agent outside any workflow: a trace of its own, or part of its caller's.
import { generateText, streamText } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { createLogger } from "../log/create-logger.ts";
import { Observation } from "../observation.ts";
import type { SpanEvent } from "./tracing.ts";

const store = memoryStore();
const logger = createLogger({ level: "silent" });
const observation = new Observation({ store, logger }, { running: () => 0, streams: () => 0 });
beforeAll(async () => {
  await store.open();
  await observation.open();
});
afterAll(async () => {
  await observation.close();
  await store.close();
});

const model = controlledModel(() => ({ text: ["hello"], usage: { input: 3, output: 2 } }));

test("a generated answer is a trace of the agent, with its user and conversation", async () => {
  const facts = { agentId: "greeter", userId: "ada", conversationId: "c1" };
  const telemetry = observation.agentTelemetry(facts, observation.logger);
  await generateText({ model, prompt: "hi", telemetry });
  const { traces } = await observation.traces.list({ entityType: "agent", entityId: "greeter" });
  expect(traces).toMatchObject([
    { entityId: "greeter", executionId: null, userId: "ada", conversationId: "c1", status: "completed" },
  ]);
  const trace = await observation.traces.read(traces[0]?.traceId ?? "");
  const names = trace?.spans.map(({ name }) => name);
  expect(names?.[0]).toBe("invoke_agent greeter");
  expect(names).toContain("chat scripted");
  expect(trace?.spans[0]).toMatchObject({ parentSpanId: null, spanId: traces[0]?.rootSpanId });
  for (const span of trace?.spans ?? [])
    expect(span).toMatchObject({ entityType: "agent", entityId: "greeter" });
});

test("a streamed answer is part of the caller's trace, and ends when it has been read", async () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const notified: SpanEvent[] = [];
  const stop = observation.traces.follow((event) => notified.push(event));
  const telemetry = observation.agentTelemetry({ agentId: "streamer", traceparent }, observation.logger);
  await streamText({ model, prompt: "hi", telemetry }).consumeStream();
  stop();
  const { traces } = await observation.traces.list({ entityId: "streamer" });
  expect(traces).toMatchObject([{ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", status: "completed" }]);
  const ended = notified.filter(({ type }) => type === "span-end").map(({ span }) => span);
  expect(ended.at(-1)).toMatchObject({ name: "invoke_agent streamer", parentSpanId: "00f067aa0ba902b7" });
  expect(await observation.metrics.text()).toContain(
    'andante_model_tokens_total{agent="streamer",model="scripted",type="output"} 2',
  );
});

test("a model that fails leaves a trace with an error", async () => {
  const failing = controlledModel(() => ({ refuse: new Error("no answer") }));
  const telemetry = observation.agentTelemetry({ agentId: "unlucky" }, observation.logger);
  const call = generateText({ model: failing, prompt: "hi", maxRetries: 0, telemetry });
  await expect(call).rejects.toThrow("no answer");
  const { traces } = await observation.traces.list({ entityId: "unlucky" });
  expect(traces).toMatchObject([{ status: "error" }]);
});
