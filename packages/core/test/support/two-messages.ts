// Messages at once to one conversation, on two nodes that share a store: one turn runs at a time.
import { Agent, type Andante } from "@andante/core";
import { expect } from "vitest";
import { controlledModel } from "./controlled-model.ts";

/** An agent whose replies wait until `letGo` is called, each for a call of its own. Both nodes serve it. */
export function heldAgent() {
  let held = Promise.withResolvers<void>();
  const model = controlledModel((_, number) => {
    const { promise } = held;
    return { text: [`reply ${number}`], hold: () => promise };
  });
  const letGo = () => {
    held.resolve();
    held = Promise.withResolvers<void>();
  };
  return { agent: new Agent({ id: "held", model }), asked: model.asked, letGo };
}

/** `nodes` serve the agent as `held`. */
export async function checkMessagesAtOnce(
  nodes: readonly [Andante, Andante],
  { asked, letGo }: ReturnType<typeof heldAgent>,
): Promise<void> {
  const conversationId = "talk";
  const [a, b] = nodes;
  const send = (node: Andante, id: string) => {
    const message = { id, role: "user", parts: [{ type: "text", text: id }] };
    return node.agents.chat("held", [message], { conversationId });
  };
  /** The last part of a reply. A caller reads its own by itself: the reply to the message that waits begins after the other. */
  const lastOf = async (reply: ReturnType<typeof send>) => {
    let last: string | undefined;
    for await (const { type } of await reply) last = type;
    return last;
  };
  const kept = async () => (await a.conversations.messages(conversationId)).messages;
  const users = async () => (await kept()).filter(({ role }) => role === "user").length;

  const both = Promise.all([send(a, "m1"), send(b, "m2")].map(lastOf));
  // The message that waits is kept too.
  await expect.poll(users).toBe(2);
  expect(asked).toHaveLength(1);
  letGo();
  await expect.poll(() => asked.length).toBe(2);
  letGo();
  expect(await both).toEqual(["finish", "finish"]);
  expect((await kept()).map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(asked[1]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);

  const first = lastOf(send(a, "m3"));
  await expect.poll(() => asked.length).toBe(3);
  // The same message again is the same turn.
  const second = await send(b, "m3");
  letGo();
  expect(await Promise.all([first, lastOf(Promise.resolve(second))])).toEqual(["finish", "finish"]);
  expect(asked).toHaveLength(3);
  expect(await kept()).toHaveLength(6);
}
