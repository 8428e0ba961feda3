// The cases that the conversations of every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../store/store.ts";
import { usage, writerOf } from "./conversation-writer.ts";

export function conversationCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of conversations`, () => {
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

    const { post, keep, ids } = writerOf(() => ({ store, conversationId, userId }));

    test("the first message begins a conversation, and its user is the owner", async () => {
      expect(await post("u1")).toEqual({ kind: "posted" });
      expect(await store.conversations.read({ conversationId })).toEqual({
        conversationId,
        agentId: "agent",
        userId,
        title: "A title",
        metadata: null,
        createdAt: 1_000,
        updatedAt: 1_000,
        usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 0 },
      });
      expect(await store.conversations.messages({ conversationId, after: 0, limit: 10 })).toEqual([
        { sequence: 1, messageId: "u1", body: '{"id":"u1"}', partial: false, createdAt: 1_000 },
      ]);
    });

    test("messages are in the order of their arrival, replies add their usage", async () => {
      await post("u1");
      await keep("a1");
      await post("u2", { title: "Another", at: 3_000 });
      expect(await keep("a2", { at: 4_000 })).toBe(true);
      expect(await ids()).toEqual(["u1", "a1", "u2", "a2"]);
      expect(await store.conversations.read({ conversationId })).toMatchObject({
        title: "A title",
        updatedAt: 4_000,
        usage: { inputTokens: 6, outputTokens: 4, totalTokens: 10, calls: 2 },
      });
    });

    test("a message is kept once, even when it is posted again", async () => {
      await post("u1");
      expect(await post("u1")).toEqual({ kind: "posted" });
      expect(await ids()).toEqual(["u1"]);
      const many = await Promise.all(Array.from({ length: 20 }, () => post("u2")));
      expect(new Set(many.map(({ kind }) => kind))).toEqual(new Set(["posted"]));
      expect(await ids()).toEqual(["u1", "u2"]);
    });

    test("one that has a reply is refused, unless another reply is wanted", async () => {
      await post("u1");
      await keep("a1");
      expect(await post("u1")).toEqual({ kind: "has-reply" });
      expect(await ids()).toEqual(["u1", "a1"]);
      expect(await post("u1", { again: true })).toEqual({ kind: "posted" });
      expect(await ids()).toEqual(["u1"]);
      await keep("a2");
      expect(await ids()).toEqual(["u1", "a2"]);
    });

    test("the place after a message is its reply's, also when other messages came before the reply", async () => {
      await post("u1");
      await post("u2");
      expect(await keep("a1", { replyTo: "u1" })).toBe(true);
      expect(await ids()).toEqual(["u1", "a1", "u2"]);
      await keep("a2", { replyTo: "u2" });
      await post("u3");
      await keep("a3", { replyTo: "gone" });
      await keep("a4", { replyTo: "u1" });
      expect(await ids(), "a place that is taken, or unknown: last").toEqual([
        ...["u1", "a1", "u2", "a2", "u3"],
        ...["a3", "a4"],
      ]);
    });

    test("messages that wait for a reply are kept, and those that are there stay as they are", async () => {
      const queue = { request: "{}", most: 5 };
      await post("u1");
      expect(await post("u2", { queue })).toEqual({ kind: "posted" });
      expect(await post("u1", { queue, body: '"changed"', again: true })).toEqual({ kind: "posted" });
      expect(await post("u1", { waits: true, body: '"changed"' })).toEqual({ kind: "posted" });
      expect(await ids()).toEqual(["u1", "u2"]);
      expect(await post("u1"), "nothing after it is a reply").toEqual({ kind: "posted" });
      expect(await ids()).toEqual(["u1", "u2"]);
      const [first] = (await store.conversations.messages({ conversationId, after: 0, limit: 1 })) ?? [];
      expect(first?.body).toBe('{"id":"u1"}');
      await keep("a2", { replyTo: "u2" });
      expect(await post("u1"), "its own reply is still to come").toEqual({ kind: "posted" });
      expect(await post("u2")).toEqual({ kind: "has-reply" });
      await keep("a1", { replyTo: "u1" });
      expect(await post("u1")).toEqual({ kind: "has-reply" });
      expect(await ids()).toEqual(["u1", "a1", "u2", "a2"]);
    });

    test("one that was changed takes back later messages", async () => {
      await post("u1");
      await keep("a1");
      await post("u2");
      expect(await post("u1", { body: '{"id":"u1","changed":true}' })).toEqual({ kind: "posted" });
      const messages = await store.conversations.messages({ conversationId, after: 0, limit: 10 });
      expect(messages).toMatchObject([{ messageId: "u1", body: '{"id":"u1","changed":true}' }]);
    });

    test("a user's message cannot take the place of a reply, nor a reply that of a user's message", async () => {
      await post("u1");
      await keep("a1");
      expect(await post("a1", { again: true, body: "{}" })).toEqual({ kind: "has-reply" });
      await keep("u1", { message: { messageId: "u1", body: '{"stolen":true}', partial: false } });
      const messages = await store.conversations.messages({ conversationId, after: 0, limit: 10 });
      expect(messages?.map(({ body }) => body)).toEqual(['{"id":"u1"}', '{"id":"a1"}']);
    });

    test("a partial reply is marked, and replaced when it is continued", async () => {
      await post("u1");
      await keep("a1", { message: { messageId: "a1", body: '"half"', partial: true } });
      const read = () => store.conversations.messages({ conversationId, after: 1, limit: 10 });
      expect(await read()).toMatchObject([{ body: '"half"', partial: true }]);
      await keep("a1", { message: { messageId: "a1", body: '"whole"', partial: false } });
      expect(await read()).toMatchObject([{ body: '"whole"', partial: false }]);
    });

    test("usage counts also for an empty reply", async () => {
      await post("u1");
      expect(await keep("", { message: null })).toBe(true);
      expect(await ids()).toEqual(["u1"]);
      expect((await store.conversations.read({ conversationId }))?.usage).toEqual(usage);
    });

    test("another user's conversation is treated as missing", async () => {
      await post("u1");
      for (const other of ["eve", null]) {
        expect(await post("u2", { userId: other })).toEqual({ kind: "foreign" });
        expect(await post("u1", { userId: other, again: true, body: "{}" })).toEqual({ kind: "foreign" });
        expect(await keep("a1", { userId: other })).toBe(false);
        const which = { conversationId, userId: other };
        expect(await store.conversations.read(which)).toBeUndefined();
        expect(await store.conversations.recent({ ...which, limit: 10 })).toBeUndefined();
        expect(await store.conversations.messages({ ...which, after: 0, limit: 10 })).toBeUndefined();
        expect(
          await store.conversations.change({ ...which, key: randomUUID(), title: "Mine", at: 9_000 }),
        ).toBe(false);
        expect(await store.conversations.remove({ ...which, key: randomUUID() })).toBe(false);
      }
      expect(await ids()).toEqual(["u1"]);
      expect(await store.conversations.read({ conversationId, userId })).toMatchObject({ title: "A title" });
    });

    test("another agent's conversation is refused where that counts", async () => {
      await post("u1", { ownConversation: true });
      expect(await post("u2", { ownConversation: true })).toEqual({ kind: "posted" });
      const other = { agentId: "other", ownConversation: true };
      for (const queue of [undefined, { request: "{}", most: 10 }])
        for (const id of ["u1", "u3"])
          expect(await post(id, { ...other, queue })).toEqual({ kind: "foreign" });
      expect(await ids()).toEqual(["u1", "u2"]);
      expect(await post("u3", { agentId: "other" })).toEqual({ kind: "posted" });
    });

    test("one without a user is not a user's", async () => {
      await post("u1", { userId: null });
      expect(await post("u2")).toEqual({ kind: "foreign" });
      expect(await store.conversations.read({ conversationId, userId: null })).toMatchObject({
        userId: null,
      });
    });

    test("the newest messages are read oldest first", async () => {
      for (let n = 1; n <= 5; n++) await post(`u${n}`);
      const recent = await store.conversations.recent({ conversationId, userId, limit: 3 });
      expect(recent?.map(({ messageId }) => messageId)).toEqual(["u3", "u4", "u5"]);
      const upTo = await store.conversations.recent({ conversationId, userId, upTo: "u3", limit: 2 });
      expect(upTo?.map(({ messageId }) => messageId)).toEqual(["u2", "u3"]);
      const all = await store.conversations.recent({ conversationId, userId, upTo: "none", limit: 9 });
      expect(all).toHaveLength(5);
      expect(await store.conversations.recent({ conversationId: "none", userId, limit: 3 })).toBeUndefined();
    });

    test("messages are read page by page", async () => {
      for (let n = 1; n <= 5; n++) await post(`u${n}`);
      const first = await store.conversations.messages({ conversationId, after: 0, limit: 2 });
      const after = first?.at(-1)?.sequence ?? 0;
      const second = await store.conversations.messages({ conversationId, after, limit: 10 });
      expect([...(first ?? []), ...(second ?? [])].map(({ messageId }) => messageId)).toEqual(await ids());
    });

    test("lists show the latest change first, a page at a time, of one user or of all", async () => {
      const made: string[] = [];
      for (let n = 0; n < 5; n++) {
        conversationId = `${userId}-${n}`;
        made.unshift(conversationId);
        await post("u1", { at: 5_000 + Math.floor(n / 2), agentId: n === 0 ? "other" : "agent" });
      }
      const sorted = [made[0], made[1], made[2], made[3], made[4]];
      const first = await store.conversations.list({ userId, limit: 2 });
      const last = first.at(-1);
      if (last === undefined) throw new Error("the page is empty");
      const rest = await store.conversations.list({ userId, before: last, limit: 10 });
      expect([...first, ...rest].map((row) => row.conversationId)).toEqual(sorted);
      expect(await store.conversations.list({ userId, agentId: "other", limit: 10 })).toHaveLength(1);
      expect((await store.conversations.list({ limit: 1_000 })).length).toBeGreaterThanOrEqual(5);
      expect(await store.conversations.list({ userId: null, agentId: "none", limit: 10 })).toEqual([]);
    });

    test("a conversation is renamed and removed with its messages; a late reply does not bring it back", async () => {
      await post("u1");
      const which = { conversationId, userId };
      expect(await store.conversations.change({ ...which, key: randomUUID(), title: "New", at: 9_000 })).toBe(
        true,
      );
      expect(await store.conversations.read(which)).toMatchObject({ title: "New", updatedAt: 9_000 });
      expect(await store.conversations.remove({ ...which, key: randomUUID() })).toBe(true);
      expect(await store.conversations.remove({ ...which, key: randomUUID() })).toBe(false);
      expect(await keep("a1")).toBe(false);
      expect(await store.conversations.messages({ conversationId, after: 0, limit: 10 })).toBeUndefined();
      await post("u9");
      expect(await ids()).toEqual(["u9"]);
    });

    test("a write that is repeated because its result was lost returns the first result and changes nothing", async () => {
      const everything = async () => ({
        conversation: await store.conversations.read({ conversationId }),
        messages: await store.conversations.messages({ conversationId, after: 0, limit: 100 }),
      });
      const twice = async <Result>(write: () => Promise<Result>) => {
        const first = await write();
        const before = await everything();
        expect(await write()).toEqual(first);
        expect(await everything()).toEqual(before);
        return first;
      };
      const key = () => ({ key: randomUUID() });
      const posting = key();
      expect(await twice(() => post("u1", posting))).toEqual({ kind: "posted" });
      await keep("a1");
      expect(await post("u1", posting), "though it has a reply by now").toEqual({ kind: "posted" });
      const renaming = { conversationId, ...key(), title: "New", at: 4_000 };
      expect(await twice(() => store.conversations.change(renaming))).toBe(true);
      const removing = { conversationId, ...key() };
      expect(await twice(() => store.conversations.remove(removing))).toBe(true);
    });
  });
}
