// The package that makes the spans of agents: there, not there, and broken.
import { generateText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { Observation } from "../observation.ts";
import { loadIntegration } from "./ai-sdk-integration.ts";

const logger = new RecordingLogger();
const store = memoryStore();
beforeAll(() => store.open());
afterAll(() => store.close());
beforeEach(() => {
  logger.lines.length = 0;
});

const model = new MockLanguageModelV4({
  modelId: "scripted",
  doGenerate: async () => ({
    content: [{ type: "text", text: "hello" }],
    finishReason: { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 2, text: 2, reasoning: 0 },
    },
    warnings: [],
  }),
});

async function observed(agentId: string, load: typeof loadIntegration) {
  const observation = new Observation({ store, logger }, { running: () => 0, streams: () => 0 });
  await observation.tracing?.open(load);
  for (let call = 0; call < 2; call++) {
    const telemetry = observation.agentTelemetry({ agentId }, observation.logger);
    await generateText({ model, prompt: "hi", telemetry });
  }
  const { traces } = await observation.traces.list({ entityId: agentId });
  const metrics = await observation.metrics.text();
  await observation.close();
  return { traces, metrics };
}

test("where it is installed agents have traces", async () => {
  const { traces } = await observed("traced", loadIntegration);
  expect(traces).toHaveLength(2);
  expect(logger.of("info", "warn", "error")).toEqual([]);
});

test("where it is not, agents work without, tokens are counted, and one log line reports it", async () => {
  const { traces, metrics } = await observed("untraced", async () => undefined);
  expect(traces).toEqual([]);
  expect(metrics).toContain('andante_model_tokens_total{agent="untraced",model="scripted",type="output"} 4');
  expect(logger.of("info", "warn", "error")).toEqual([
    { level: "info", package: "@ai-sdk/otel", msg: expect.stringMatching(/^install this/) },
  ]);
});

test("one that cannot be loaded is named in the log, and agents work without", async () => {
  const broken = new Error("its own dependency is missing");
  const { traces } = await observed("unlucky", () => Promise.reject(broken));
  expect(traces).toEqual([]);
  expect(logger.of("info", "warn", "error")[0]).toMatchObject({
    level: "warn",
    msg: "@ai-sdk/otel could not be loaded",
  });
});
