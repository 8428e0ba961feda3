// Ids of tool calls that a model repeats.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { type ToolSet, tool, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { allInTime } from "../../../test/support/in-time.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { Agent } from "../agent.ts";
import type { ModelPart } from "../durable/model-parts.ts";
import { CallIds } from "./distinct-calls.ts";

const start = (id: string): ModelPart => ({ type: "tool-input-start", id, toolName: "look" });
const delta = (id: string): ModelPart => ({ type: "tool-input-delta", id, delta: "{}" });
const end = (id: string): ModelPart => ({ type: "tool-input-end", id });
const call = (toolCallId: string, fields = {}): ModelPart => ({
  ...{ type: "tool-call", toolCallId, toolName: "look", input: "{}" },
  ...fields,
});
const renamed = (parts: readonly ModelPart[], prompt: LanguageModelV4Prompt = []) => {
  const ids = new CallIds(prompt);
  return parts.map((part) => ids.rename(part));
};

test("an id of its own stays; a repeated one is changed in all parts of its call", () => {
  const own = [start("a"), delta("a"), end("a"), call("a"), call("b")];
  expect(renamed(own)).toEqual(own);
  expect(renamed([...own, start("a"), delta("a"), end("a"), call("a"), call("b"), call("b")])).toEqual([
    ...own,
    ...[start("a-2"), delta("a-2"), end("a-2"), call("a-2"), call("b-2"), call("b-3")],
  ]);
});

test("ids of earlier replies are not given again, and calls that the provider runs keep theirs", () => {
  const said = { type: "tool-call" as const, toolName: "look", input: {} };
  const prompt: LanguageModelV4Prompt = [
    { role: "assistant", content: ["a", "a-2"].map((toolCallId) => ({ ...said, toolCallId })) },
  ];
  expect(renamed([call("a")], prompt)).toEqual([call("a-3")]);
  const own = call("a", { providerExecuted: true });
  expect(renamed([own], prompt)).toEqual([own]);
});

/** A conversation in which the model asks for the tool twice under one id, and then says "end". */
function conversation(look: ToolSet[string]) {
  const calls = [1, 2].map((at) => ({ id: "call_0", name: "look", input: { at } }));
  const model = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "user" ? { calls } : { text: ["end"] },
  );
  const looker = new Agent({ id: "looker", model, tools: { look } });
  const logger = createLogger({ level: "silent" });
  const andante = createAndante({ agents: { looker }, store: memoryStore(), logger });
  const say = async (message: unknown) => {
    const options = { conversationId: "c" };
    await allInTime(await andante.agents.chat("looker", [message], options), "the end of the reply");
    const { messages } = await andante.conversations.messages("c", {});
    const last: UIMessage | undefined = messages.at(-1);
    if (last === undefined) throw new Error("nothing is kept");
    return last;
  };
  const user = (id: string) => ({ id, role: "user", parts: [{ type: "text", text: "go" }] });
  return { say, user, model, close: () => andante.close() };
}

const inputSchema = z.object({ at: z.number() });

test("in a conversation each call gets its own approval, in every reply", async () => {
  const ran: number[] = [];
  const look = tool({ inputSchema, needsApproval: true, execute: ({ at }) => ran.push(at) });
  const { say, user, close } = conversation(look);
  for (const id of ["one", "two"]) {
    const asked = await say(user(id));
    const decided = asked.parts.map((part) =>
      "toolCallId" in part && part.approval
        ? {
            ...part,
            state: "approval-responded",
            approval: { ...part.approval, approved: Object(part.input).at === 2 },
          }
        : part,
    );
    const reply = await say({ ...asked, parts: decided });
    const states = reply.parts.flatMap((part) => ("toolCallId" in part ? [part.state] : []));
    expect(states).toEqual(["output-denied", "output-available"]);
  }
  expect(ran).toEqual([2, 2]);
  await close();
});

test("in a conversation each call gets the output that the client made for it", async () => {
  const { say, user, model, close } = conversation({ inputSchema });
  for (const id of ["one", "two"]) {
    const asked = await say(user(id));
    const parts = asked.parts.map((part) =>
      "toolCallId" in part
        ? { ...part, state: "output-available", output: `seen ${Object(part.input).at}` }
        : part,
    );
    await say({ ...asked, parts });
    const read = JSON.stringify(model.asked.at(-1)?.prompt.at(-1));
    expect(read).toMatch(/seen 1.*seen 2/);
  }
  await close();
});
