// A call of an agent's model: its hooks at the end, and which replies bypass the AI SDK.
import { Output, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel, type Said } from "../../../test/support/controlled-model.ts";
import { allInTime } from "../../../test/support/in-time.ts";
import { PublicError } from "../../errors/index.ts";
import { Agent } from "../agent.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { AgentHooks } from "./hooks.ts";
import { Operation } from "./operation.ts";

const messages = [{ role: "user" as const, content: "hi" }];
const agentOf = (options: Partial<AgentOptions> = {}, script: Said[] = [{ text: ["yes"] }]) =>
  new Agent({
    ...{ id: "a", model: controlledModel((_, number) => script[number - 1] ?? {}), maxRetries: 0 },
    ...options,
  });
const requested = (abortSignal?: AbortSignal) => {
  const operation = Operation.from(undefined, abortSignal);
  return { messages, operation, abortSignal: operation.signal };
};

test.each<[string, Partial<AgentOptions>, boolean]>([
  ["plain text", {}, true],
  ["a time limit for the whole", { timeout: { totalMs: 60_000 } }, true],
  ["a time limit that is a number", { timeout: 60_000 }, true],
  ["a time limit for each piece", { timeout: { chunkMs: 60_000 } }, false],
  ["an output of another shape", { output: Output.json() }, false],
])("a reply with %s bypasses the AI SDK: %s", async (_, options, bypasses) => {
  const result = await agentOf(options, [{ text: ['{"a":1}'] }]).parts(requested());
  expect("text" in result).toBe(!bypasses);
  const parts = await allInTime(result.stream, "the parts");
  expect(parts.flatMap((part) => (part.type === "text-delta" ? part.text : [])).join("")).toBe('{"a":1}');
});

test("the output of one call counts before the agent's", async () => {
  const result = await agentOf({}, [{ text: ["{}"] }]).parts({ ...requested(), output: Output.json() });
  expect("text" in result).toBe(true);
});

/** Reads a reply, with the events of its hooks. */
async function read(script: Said[], hooks: AgentHooks = {}, abortSignal?: AbortSignal) {
  const events: unknown[] = [];
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  const agent = agentOf(
    {
      tools: { look },
      hooks: {
        onEnd: ({ text, finishReason }) => events.push(["end", text, finishReason]),
        onError: ({ error }) => events.push(["error", error]),
        ...hooks,
      },
    },
    script,
  );
  const { stream } = await agent.parts(requested(abortSignal));
  return { events, parts: await allInTime(stream, "the parts") };
}

test("onEnd receives the text of the last step and the reason of the end, before the end is passed on", async () => {
  const { events, parts } = await read([
    { text: ["let me see"], calls: [{ name: "look", input: {} }] },
    { text: ["do", "ne"], finish: "length" },
  ]);
  expect(events).toEqual([["end", "done", "length"]]);
  expect(parts.at(-1)?.type).toBe("finish");
});

test("a refusal by onEnd takes the place of the end", async () => {
  const { parts } = await read([{ text: ["secret"] }], {
    onEnd: () => {
      throw new PublicError("Not about that");
    },
  });
  expect(parts.filter(({ type }) => type === "finish")).toEqual([]);
  expect(parts.at(-1)).toMatchObject({
    type: "error",
    error: { code: "reply-refused", message: "Not about that" },
  });
});

test("a reply that fails or is aborted has no end; its error is reported", async () => {
  const error = new Error("provider down");
  const failed = await read([{ text: ["ha", "lf"], breakAt: { piece: 1, error } }]);
  expect(failed.events).toEqual([["error", error]]);
  const controller = new AbortController();
  const reason = new Error("left");
  const hold = (piece: number) => {
    if (piece === 1) controller.abort(reason);
  };
  const aborted = await read([{ text: ["ha", "lf"], hold }], {}, controller.signal);
  expect(aborted.events).toEqual([["error", reason]]);
  expect(aborted.parts.at(-1)?.type).toBe("abort");
});

test("a complete reply that fails is reported and thrown, and one that ends is reported once", async () => {
  const error = new Error("provider down");
  const events: unknown[] = [];
  const hooks: AgentHooks = {
    onEnd: ({ text }) => events.push(text),
    onError: (event) => events.push(event.error),
  };
  await expect(agentOf({ hooks }, [{ refuse: error }]).generate(requested())).rejects.toBe(error);
  expect((await agentOf({ hooks }).generate(requested())).text).toBe("yes");
  expect(events).toEqual([error, "yes"]);
});
