// Cases of titles, metadata, search and retention of conversations.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../store/store.ts";
import { usage, writerOf } from "./conversation-writer.ts";

export function keptConversationCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of conversations that are looked after`, () => {
    let store: Store;
    /** Each test has its own: it does not see the rows of others. */
    let conversationId: string;
    let userId: string;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(() => {
      conversationId = randomUUID();
      userId = randomUUID();
    });

    const { post, keep } = writerOf(() => ({ store, conversationId, userId }));

    test("messages are read backwards from one of them", async () => {
      for (const id of ["u1", "u2", "u3"]) await post(id);
      const backwards = async (before: number, limit: number) => {
        const query = { conversationId, after: 0, before, limit };
        return (await store.conversations.messages(query))?.map(({ messageId }) => messageId);
      };
      expect(await backwards(Number.MAX_SAFE_INTEGER, 2)).toEqual(["u3", "u2"]);
      expect(await backwards(3, 2)).toEqual(["u1"]);
    });

    test("cached and reasoning tokens are added up", async () => {
      await post("u1");
      await keep("a1", { usage: { ...usage, cachedInputTokens: 2, reasoningTokens: 1 } });
      await keep("a2");
      await keep("a3", { usage: { ...usage, cachedInputTokens: 1 } });
      expect((await store.conversations.read({ conversationId }))?.usage).toEqual({
        inputTokens: 9,
        outputTokens: 6,
        totalTokens: 15,
        calls: 3,
        cachedInputTokens: 3,
        reasoningTokens: 1,
        inputTokenDetails: { cacheReadTokens: 3 },
        outputTokenDetails: { reasoningTokens: 1 },
      });
    });

    test("money and tokens written to a cache are added up; calls before there were prices count as unpriced", async () => {
      await post("u1");
      const total = async () => (await store.conversations.read({ conversationId }))?.usage;
      await keep("a1");
      expect(await total()).toEqual(usage);
      await keep("a2", { usage: { ...usage, money: 0.000_000_002 } });
      expect(await total()).toMatchObject({ money: 0.000_000_002, unpricedCalls: 1 });
      await keep("a3", { usage: { ...usage, unpricedCalls: 1 } });
      const inputTokenDetails = { cacheReadTokens: 0, cacheWriteTokens: 2 };
      await keep("a4", { usage: { ...usage, money: 1.5, inputTokenDetails } });
      const all = { calls: 4, money: 1.500_000_002, unpricedCalls: 2, inputTokenDetails };
      expect(await total()).toMatchObject(all);
    });

    test("title and metadata are changed one by one", async () => {
      await post("u1");
      const change = (fields: object) =>
        store.conversations.change({ key: randomUUID(), conversationId, at: 2_000, ...fields });
      expect(await change({ metadata: '{"a":1}' })).toBe(true);
      expect(await change({ title: "New" })).toBe(true);
      expect(await store.conversations.read({ conversationId })).toMatchObject({
        title: "New",
        metadata: '{"a":1}',
        updatedAt: 2_000,
      });
      expect(await change({ metadata: null })).toBe(true);
      expect(await store.conversations.read({ conversationId })).toMatchObject({
        title: "New",
        metadata: null,
      });
      expect(await change({ userId: randomUUID(), title: "Theirs" })).toBe(false);
    });

    test("conversations are found by a part of their title", async () => {
      await post("u1", { title: 'Überweisung "heute" 100%' });
      const found = async (title: string, owner = userId) =>
        (await store.conversations.list({ userId: owner, title, limit: 10 })).length;
      expect(await Promise.all([found("WEISUNG"), found('"heute"'), found("0%"), found("Über")])).toEqual([
        1, 1, 1, 1,
      ]);
      expect(await Promise.all([found("0_"), found("morgen"), found("heute", randomUUID())])).toEqual([
        0, 0, 0,
      ]);
    });

    test("those that nothing has changed since are removed, the longest unchanged first", async () => {
      // Older than everything that other tests have left.
      const others = [randomUUID(), randomUUID(), randomUUID()];
      for (const [index, id] of others.entries()) await post("u1", { conversationId: id, at: index - 10 });
      expect(await store.conversations.removeUnchanged({ before: -8, limit: 1 })).toEqual([others[0]]);
      expect(await store.conversations.removeUnchanged({ before: -8, limit: 10 })).toEqual([others[1]]);
      expect(await store.conversations.read({ conversationId: others[1] ?? "" })).toBeUndefined();
      expect(await store.conversations.read({ conversationId: others[2] ?? "" })).toBeDefined();
      expect(await store.conversations.removeUnchanged({ before: -7, limit: 10 })).toEqual([others[2]]);
    });
  });
}
