// Tools of agents that wait for an event: in a step of a workflow, and in the turn of a chat.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { durable } from "../../src/agent/call/durable.ts";
import { createAndante, createWorkflow, defineEvent, memoryStore } from "../../src/index.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { all, userMessage } from "../turns/processes.ts";

const paid = defineEvent({
  name: "order.paid",
  data: z.object({ order: z.string(), amount: z.number() }),
  key: ({ data }) => data.order,
});

/** Its tool waits for the payment of an order; the model repeats the result of the tool. */
function clerk() {
  const model = controlledModel(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role === "tool") return { text: [`After ${JSON.stringify(last.content)}`] };
    return { calls: [{ id: "call-1", name: "order", input: { order: "17" } }] };
  });
  const order = tool({
    inputSchema: z.object({ order: z.string() }),
    execute: async ({ order }, options) => {
      const { amount } = await durable(options).suspend("Waiting for the payment", undefined, {
        resumeSchema: z.object({ amount: z.number() }),
        event: paid,
        key: order,
      });
      return { amount };
    },
  });
  return new Agent({ id: "clerk", model, tools: { order } });
}

test("in a step of a workflow the tool continues with the data of the event", async () => {
  const workflow = createWorkflow({ id: "ask", input: z.object({}) }).andAgent({
    id: "ask",
    agent: clerk(),
    prompt: "go",
  });
  const andante = createAndante({ workflows: { workflow }, events: { paid }, store: memoryStore() });
  try {
    const { executionId, status } = await andante.execute("ask", {});
    expect(status).toBe("suspended");
    expect((await andante.find(executionId)).suspensions).toMatchObject([
      { events: [{ name: "order.paid", key: "17" }] },
    ]);
    const receipt = await andante.send(paid, { order: "17", amount: 9 });
    expect(receipt.woken).toEqual([executionId]);
    await andante.settled();
    expect(JSON.stringify((await andante.find(executionId)).result)).toContain("amount");
  } finally {
    await andante.close({ grace: 0 });
  }
});

test("in a chat the reply continues by itself, live and with an event that came before", async () => {
  const andante = createAndante({ agents: { clerk: clerk() }, events: { paid }, store: memoryStore() });
  const last = async (conversationId: string) => {
    const { messages } = await andante.conversations.messages(conversationId);
    return JSON.stringify(messages.at(-1)?.parts);
  };
  try {
    const ask = async (conversationId: string) =>
      all(await andante.agents.chat("clerk", [userMessage("u1")], { conversationId, userId: "ada" }));
    await ask("live");
    expect(await last("live")).toContain("data-waiting");
    const other = await andante.send(paid, { order: "18", amount: 1 });
    expect(other.woken).toEqual([]);
    expect((await andante.send(paid, { order: "17", amount: 9 })).woken).toHaveLength(1);
    await expect.poll(() => last("live")).toContain("After");
    expect(await last("live")).toContain('\\"amount\\":9');
  } finally {
    await andante.close({ grace: 0 });
  }
});
