// Kept conversations without a model: exports and changes.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { controlledModel } from "../support/controlled-model.ts";
import { openStore, startProcess, userMessage } from "./processes.ts";

async function talkOf(count: number) {
  const store = await openStore();
  for (let n = 0; n < count; n++) {
    const { id: messageId, ...message } = userMessage(`m${n}`);
    const where = { conversationId: "talk", agentId: "clerk", userId: "ada", title: "A talk" };
    const body = JSON.stringify({ id: messageId, ...message });
    await store.conversations.post({ ...where, key: randomUUID(), messageId, body, again: false, at: n });
  }
  return startProcess(store, { model: controlledModel(() => ({ text: ["never asked"] })) }).andante;
}

test("all pages are exported, in order, each message once", async () => {
  const andante = await talkOf(1001);
  const ids: string[] = [];
  for await (const part of await andante.conversations.export("talk"))
    ids.push(part.type === "message" ? part.message.id : `${part.conversation.title}:`);
  expect(ids.shift()).toBe("A talk:");
  expect(ids).toEqual(Array.from({ length: 1001 }, (_, n) => `m${n}`));
});

test("metadata is an object that JSON can hold, and is not endless", async () => {
  const andante = await talkOf(1);
  const change = (metadata: unknown) =>
    Reflect.apply(andante.conversations.change, andante.conversations, ["talk", { metadata }]);
  for (const wrong of [[], null, "text", 5])
    await expect(change(wrong)).rejects.toThrow("metadata: expected an object");
  await expect(change({ big: 1n })).rejects.toThrow("metadata");
  await expect(change({ big: "x".repeat(100_000) })).rejects.toThrow("it has more than");
  expect(await change({ plan: "free" })).toMatchObject({ metadata: { plan: "free" } });
  expect(await andante.conversations.read("talk")).toMatchObject({ metadata: { plan: "free" } });
});
