// The agent looks up an order without approval, and refunds it once after a person has approved.
import { createAndante, memoryStore } from "@andante/core";
import { type ScriptedTurn, scriptedModel } from "@andante/core/test";
import { demoModel } from "@andante/demo-model";
import type { LanguageModel, UIMessage } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { supportWith } from "./support.ts";

const conversationId = "c-1";
const question: UIMessage = {
  id: "m-1",
  role: "user",
  parts: [{ type: "text", text: "Please refund order A-1" }],
};
const wantsRefund: ScriptedTurn = { toolCalls: [{ toolName: "refund", input: { order: "A-1" } }] };

function open(model: LanguageModel) {
  const refunds: string[] = [];
  const support = supportWith(model, {
    find: async (order) => ({ order, amount: 40, status: "shipped" }),
    refund: async (order) => void refunds.push(order),
  });
  const andante = createAndante({ agents: { support }, store: memoryStore() });
  onTestFinished(() => andante.close());
  const say = async (...messages: unknown[]) => {
    const chunks = await andante.agents.chat("support", messages, { conversationId });
    const seen: string[] = [];
    for await (const chunk of chunks) seen.push(chunk.type);
    return seen;
  };
  /** The assistant's message of the chat client, with the person's decision. */
  const decided = async (approved: boolean) => {
    const { messages } = await andante.conversations.messages(conversationId);
    const text = JSON.stringify(messages.at(-1));
    const waiting = '"state":"approval-requested"';
    expect(text).toContain(waiting);
    return JSON.parse(
      text
        .replace(waiting, '"state":"approval-responded"')
        .replace(/"approval":\{([^}]*)\}/, `"approval":{$1,"approved":${approved}}`),
    );
  };
  return { say, decided, refunds };
}

test("a refund waits for a person, and is paid once it is allowed", async () => {
  const lookUp: ScriptedTurn = { toolCalls: [{ toolName: "findOrder", input: { order: "A-1" } }] };
  const { say, decided, refunds } = open(scriptedModel([lookUp, wantsRefund, "Your money is on its way."]));
  const asked = await say(question);
  expect(asked).toContain("tool-output-available");
  expect(asked).toContain("tool-approval-request");
  expect(refunds).toEqual([]);
  const replied = await say(question, await decided(true));
  expect(replied).toContain("text-delta");
  expect(refunds).toEqual(["A-1"]);
});

test("a denied refund is not paid, and the agent replies", async () => {
  const { say, decided, refunds } = open(scriptedModel([wantsRefund, "I cannot do that."]));
  await say(question);
  expect(await say(question, await decided(false))).toContain("text-delta");
  expect(refunds).toEqual([]);
});

test("the demo model asks for the refund too", async () => {
  const { say, refunds } = open(demoModel());
  expect(await say(question)).toContain("tool-approval-request");
  expect(refunds).toEqual([]);
});
