// Kept conversations without a model: exports and changes.
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import type { ForkResult } from "../../src/store/conversation-store.ts";
import type { Store } from "../../src/store/store.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { openStore, startProcess, userMessage } from "./processes.ts";

async function talkOf(count: number, change: (store: Store) => void = () => undefined) {
  const store = await openStore();
  for (let n = 0; n < count; n++) {
    const { id: messageId, ...message } = userMessage(`m${n}`);
    const where = { conversationId: "talk", agentId: "clerk", userId: "ada", title: "A talk" };
    const body = JSON.stringify({ id: messageId, ...message });
    await store.conversations.post({ ...where, key: randomUUID(), messageId, body, again: false, at: n });
  }
  change(store);
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

test("messages have one of two orders, and a page of a given length", async () => {
  const andante = await talkOf(3);
  const page = async (options: object) => {
    const { messages, nextCursor } = await andante.conversations.messages("talk", options);
    return [messages.map(({ id }) => id).join(" "), nextCursor !== null];
  };
  expect(await page({})).toEqual(["m0 m1 m2", false]);
  expect(await page({ order: "newest", limit: 2 })).toEqual(["m2 m1", true]);
  const refused = (options: object) => expect(page(options)).rejects;
  await refused({ order: "random" }).toThrow("order: expected oldest or newest");
  for (const limit of [0, 1.5, 501])
    await refused({ limit }).toThrow("limit: expected a whole number from 1 to 500");
});

test("a copy of many pages is made, and one whose source never stays as it was is given up", async () => {
  const fork = vi.fn<(copied: number) => Promise<ForkResult>>();
  const andante = await talkOf(1, ({ conversations }) =>
    Object.assign(conversations, { fork: () => fork(fork.mock.calls.length) }),
  );
  fork.mockImplementation(async (pages) =>
    pages < 20 ? { kind: "more", copied: pages } : { kind: "taken" },
  );
  await expect(andante.conversations.fork("talk", { forkId: "copy" })).rejects.toThrow(
    "There is already a conversation copy",
  );
  fork.mockReset();
  fork.mockResolvedValue({ kind: "more", copied: 0 });
  await expect(andante.conversations.fork("talk")).rejects.toThrow(
    "The conversation was changed again and again while it was copied, try again later",
  );
  expect(fork).toHaveBeenCalledTimes(6);
});

test("a copy up to a message that is not there is refused", async () => {
  const andante = await talkOf(2);
  await expect(andante.conversations.fork("talk", { upTo: "m9" })).rejects.toThrow(
    "upTo: the conversation has no such message",
  );
  await expect(andante.conversations.fork("none", { upTo: "m9" })).rejects.toMatchObject({ status: 404 });
  const { conversationId } = await andante.conversations.fork("talk", { upTo: "m0" });
  const { messages } = await andante.conversations.messages(conversationId);
  expect(messages.map(({ id }) => id)).toEqual(["m0"]);
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
