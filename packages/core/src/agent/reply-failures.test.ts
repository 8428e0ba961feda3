// A reply that fails is one line of the log, with the cause, however it was asked for; and its caller reads our words.
import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../test/support/controlled-model.ts";
import { allInTime } from "../../test/support/in-time.ts";
import { createAndante } from "../andante/create-andante.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import { RecordingLogger } from "../test-kit/recording-logger.ts";
import { Agent } from "./agent.ts";
import type { AgentCallOptions } from "./turn/call-options.ts";

const logger = new RecordingLogger();
const model = controlledModel(() => ({ refuse: new Error("the well is dry") }));
const agent = new Agent({ id: "a", model, maxRetries: 0 });
const andante = createAndante({ agents: { agent }, store: memoryStore(), logger });
afterAll(() => andante.close({ grace: 0 }));
beforeEach(() => {
  logger.lines.length = 0;
});

const { agents } = andante;
const schema = z.object({ n: z.number() });
const end = (parts: AsyncIterable<unknown>) => allInTime(parts, "the end of the reply");

type Way = (options: AgentCallOptions) => Promise<unknown>;
const ways: readonly [string, Way][] = [
  ["a text", (options) => agents.text("a", "go", options)],
  ["an object", (options) => agents.object("a", "go", schema, options)],
  ["a stream", async (options) => end(await agents.stream("a", "go", options))],
  ["an object that grows", async (options) => end(await agents.streamObject("a", "go", schema, options))],
  ["a chat", async (options) => end(await agents.chat("a", "go", options))],
];

test.each(
  ways.flatMap(([name, ask]) => [
    [name, "alone", ask, {}] as const,
    [name, "in a conversation", ask, { conversationId: "c" }] as const,
  ]),
)("%s, %s", async (_, __, ask, options) => {
  const told = await ask(options).catch((error: unknown) => String(error));
  expect(JSON.stringify(told)).toContain("The model provider failed to answer");
  const err = { code: "model-failed", cause: { message: "the well is dry" } };
  expect(logger.of("warn", "error")).toMatchObject([
    { level: "error", msg: "a reply of the agent failed", err },
  ]);
});
