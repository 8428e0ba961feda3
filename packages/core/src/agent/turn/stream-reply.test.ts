// A reply as callers of `stream` read it: with the data that tools write, without internal parts.
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { deltas, finish, modelOf, toolCalls } from "../../../test/support/parts-model.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { Agent } from "../agent.ts";
import { operationContext } from "../call/operation.ts";

async function streamOf(agent: Agent) {
  const logger = createLogger({ level: "silent" });
  const andante = createAndante({ agents: { agent }, store: memoryStore(), logger });
  onTestFinished(() => andante.close({ grace: 0 }));
  return andante.agents.stream(agent.id, "go");
}

const partsOf = async (agent: Agent) => allInTime(await streamOf(agent), "the end of the stream");

test("data that a tool writes comes before the tool's result, as it is written", async () => {
  const model = controlledModel((_, number) =>
    number === 1 ? { calls: [{ name: "look", input: {} }] } : { text: ["done"] },
  );
  const look = tool({
    inputSchema: z.object({}),
    contextSchema: operationContext,
    execute: (_, { context }) => {
      for (const step of [1, 2]) context.write?.({ type: "data-step", data: { step } });
      return "seen";
    },
  });
  const parts = await partsOf(new Agent({ id: "a", model, tools: { look } }));
  const types = parts.map(({ type }) => type);
  expect(parts.filter(({ type }) => type === "data-step")).toEqual([
    { type: "data-step", data: { step: 1 } },
    { type: "data-step", data: { step: 2 } },
  ]);
  expect(types.lastIndexOf("data-step")).toBeLessThan(types.indexOf("tool-result"));
});

test("data that a tool writes comes at once, also after a provider's tool has returned", async () => {
  const [theirs, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const look = tool({
    inputSchema: z.object({}),
    contextSchema: operationContext,
    execute: async (_, { context }) => {
      await theirs.promise;
      context.write?.({ type: "data-step", data: {} });
      await written.promise;
      return "seen";
    },
  });
  const search = { toolCallId: "theirs", toolName: "search", providerExecuted: true, dynamic: true } as const;
  const model = modelOf([
    [
      { type: "tool-call", toolCallId: "ours", toolName: "look", input: "{}" },
      { type: "tool-call", input: "{}", ...search },
      { type: "tool-result", result: "found", ...search },
      toolCalls,
    ],
    [...deltas("done"), finish],
  ]);
  const parts = await streamOf(new Agent({ id: "a", model, tools: { look } }));
  const reading = async () => {
    for await (const { type, toolCallId } of parts) {
      if (type === "tool-result" && toolCallId === "theirs") theirs.resolve();
      if (type === "data-step") written.resolve();
    }
  };
  await inTime(reading(), "the end of the stream");
});

test("that the provider is still there is not a part", async () => {
  const model = controlledModel(() => ({ text: ["hello"] }));
  const pinged: LanguageModelV4 = {
    ...model,
    doStream: async (call) => {
      const { stream, ...rest } = await model.doStream(call);
      const ping = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform(part, controller) {
          if (part.type === "text-delta") controller.enqueue({ type: "ping" });
          controller.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(ping) };
    },
  };
  const parts = await partsOf(new Agent({ id: "a", model: pinged }));
  expect(parts.find(({ type }) => type === "text-delta")).toMatchObject({ delta: "hello" });
  expect(parts.filter((part) => part === undefined || part.type === "ping")).toEqual([]);
});
