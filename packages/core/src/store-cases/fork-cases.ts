// The cases of forks: copies of conversations, page by page.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ForkConversation } from "../store/conversation-store.ts";
import type { Store } from "../store/store.ts";
import { writerOf } from "./conversation-writer.ts";

export function forkCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of forks`, () => {
    let store: Store;
    /** Each test has its own: those of the others do not show. */
    let conversationId: string;
    let userId: string;
    let forkId: string;
    let copyId: string;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(() => {
      [conversationId, userId, forkId, copyId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    });

    const { post, keep, ids } = writerOf(() => ({ store, conversationId, userId }));
    /** The next page, of two messages by default. */
    const fork = (fields: Partial<ForkConversation> = {}) =>
      store.conversations.fork({
        key: randomUUID(),
        copyId,
        conversationId,
        userId,
        forkId,
        maxBytes: 1_000_000,
        page: { rows: 2, bytes: 1_000_000 },
        at: 9_000,
        ...fields,
      });
    /** The ids of the messages that it has; undefined when there is no such conversation. */
    const copiedIds = async (id = forkId) => {
      const messages = await store.conversations.messages({ conversationId: id, after: 0, limit: 100 });
      return messages?.map(({ messageId }) => messageId);
    };
    const remove = (id: string) =>
      store.conversations.remove({ key: randomUUID(), conversationId: id, userId });

    test("a fork begins with the messages up to one of them, and goes its own way", async () => {
      await post("u1");
      await keep("a1", { replyTo: "u1" });
      await post("u2");
      await store.conversations.change({ key: randomUUID(), conversationId, metadata: '{"a":1}', at: 1 });
      const key = randomUUID();
      expect(await fork({ key, upTo: "a1" })).toEqual({ kind: "forked" });
      expect(await fork({ key, upTo: "a1" }), "the same again").toEqual({ kind: "forked" });
      expect(await fork({ upTo: "a1" })).toEqual({ kind: "taken" });
      expect(await store.conversations.read({ conversationId: forkId })).toEqual({
        conversationId: forkId,
        agentId: "agent",
        userId,
        title: "A title",
        metadata: '{"a":1}',
        createdAt: 9_000,
        updatedAt: 9_000,
        usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 0 },
      });
      await post("u3", { conversationId: forkId });
      const copied = await store.conversations.messages({ conversationId: forkId, after: 0, limit: 9 });
      expect(copied?.map(({ messageId, createdAt }) => [messageId, createdAt])).toEqual([
        ["u1", 1_000],
        ["a1", 2_000],
        ["u3", 1_000],
      ]);
      expect(await ids()).toEqual(["u1", "a1", "u2"]);
      forkId = randomUUID();
      expect(await fork({ upTo: "u9" })).toEqual({ kind: "missing" });
      expect(await fork({ userId: "other" })).toEqual({ kind: "missing" });
    });

    test("a fork of more bytes than are allowed copies nothing; a part of it may fit", async () => {
      const body = JSON.stringify("ü".repeat(100));
      for (const id of ["u1", "u2"]) await post(id, { body });
      const one = Buffer.byteLength(body);
      expect(await fork({ maxBytes: 2 * one - 1 })).toEqual({ kind: "too-long" });
      expect(await store.conversations.read({ conversationId: forkId })).toBeUndefined();
      expect(await copiedIds()).toBeUndefined();
      expect(await fork({ maxBytes: one - 1, upTo: "u1" })).toEqual({ kind: "too-long" });
      expect(await fork({ maxBytes: one, upTo: "u1" })).toEqual({ kind: "forked" });
      await remove(forkId);
      expect(await fork({ maxBytes: 2 * one })).toEqual({ kind: "forked" });
      expect(await copiedIds()).toEqual(["u1", "u2"]);
    });

    test("a page ends at its number of messages or of bytes, and nothing shows before the last page", async () => {
      // With places for replies and summaries: 1, 4, 7, 10, 13.
      for (const id of ["u1", "u2", "u3", "u4", "u5"])
        await post(id, { body: JSON.stringify("x".repeat(8)) });
      expect(await fork()).toEqual({ kind: "more", copied: 4 });
      const key = randomUUID();
      // Two messages are 20 bytes long.
      expect(await fork({ key, page: { rows: 9, bytes: 19 } })).toEqual({ kind: "more", copied: 7 });
      expect(await fork({ key }), "the same again").toEqual({ kind: "more", copied: 7 });
      expect(await store.conversations.read({ conversationId: forkId })).toBeUndefined();
      expect(await copiedIds()).toBeUndefined();
      expect(await store.conversations.list({ userId, limit: 9 })).toHaveLength(1);
      expect(await fork({ page: { rows: 9, bytes: 20 } })).toEqual({ kind: "forked" });
      expect(await copiedIds()).toEqual(["u1", "u2", "u3", "u4", "u5"]);
    });

    test("a message that is longer than a page is one of its own", async () => {
      for (const id of ["u1", "u2"]) await post(id);
      expect(await fork({ page: { rows: 9, bytes: 1 } })).toEqual({ kind: "more", copied: 1 });
      expect(await fork({ page: { rows: 9, bytes: 1 } })).toEqual({ kind: "forked" });
      expect(await copiedIds()).toEqual(["u1", "u2"]);
    });

    test("messages after the last one to copy do not disturb a fork under way", async () => {
      for (const id of ["u1", "u2", "u3"]) await post(id);
      expect(await fork()).toEqual({ kind: "more", copied: 4 });
      await post("u4");
      expect(await fork()).toEqual({ kind: "forked" });
      expect(await copiedIds()).toEqual(["u1", "u2", "u3"]);
    });

    test("an edit, or a reply, during a copy starts it over: the fork has one state of the conversation", async () => {
      for (const id of ["u1", "u2", "u3", "u4"]) await post(id);
      expect(await fork({ page: { rows: 1, bytes: 1_000 } })).toEqual({ kind: "more", copied: 1 });
      expect(await fork()).toEqual({ kind: "more", copied: 7 });
      await post("u2", { body: '"edited"' });
      expect(await fork({ page: { rows: 1, bytes: 1_000 } })).toEqual({ kind: "more", copied: 1 });
      await keep("a1", { replyTo: "u1" });
      expect(await fork()).toEqual({ kind: "more", copied: 2 });
      expect(await fork()).toEqual({ kind: "forked" });
      const copied = await store.conversations.messages({ conversationId: forkId, after: 0, limit: 9 });
      expect(copied?.map(({ messageId, body }) => [messageId, body])).toEqual([
        ["u1", '{"id":"u1"}'],
        ["a1", '{"id":"a1"}'],
        ["u2", '"edited"'],
      ]);
    });

    test("the removal of a conversation removes its copied messages", async () => {
      for (const id of ["u1", "u2", "u3"]) await post(id);
      expect(await fork()).toEqual({ kind: "more", copied: 4 });
      await remove(conversationId);
      expect(await fork()).toEqual({ kind: "missing" });
      // Under the same id another conversation begins, with none of them.
      await post("n1", { conversationId: forkId });
      expect(await copiedIds()).toEqual(["n1"]);
      // Also where the source has come back.
      await post("n1");
      forkId = randomUUID();
      expect(await fork()).toEqual({ kind: "forked" });
      expect(await copiedIds()).toEqual(["n1"]);
    });

    test("a message under the id of a fork under way begins its own conversation, and the fork is refused", async () => {
      for (const id of ["u1", "u2", "u3"]) await post(id);
      expect(await fork()).toEqual({ kind: "more", copied: 4 });
      await post("n1", { conversationId: forkId });
      expect(await fork()).toEqual({ kind: "taken" });
      expect(await copiedIds()).toEqual(["n1"]);
      // Nor does the fork continue where it was when that conversation is gone.
      await remove(forkId);
      expect(await fork()).toEqual({ kind: "more", copied: 4 });
      expect(await fork()).toEqual({ kind: "forked" });
      expect(await copiedIds()).toEqual(["u1", "u2", "u3"]);
    });

    test("another copy to the same id is refused for ten seconds after a page, and then replaces it", async () => {
      for (const id of ["u1", "u2", "u3"]) await post(id);
      const at = 1_000_000;
      expect(await fork({ at })).toEqual({ kind: "more", copied: 4 });
      const other = { copyId: randomUUID(), upTo: "u1" };
      expect(await fork({ ...other, at: at + 9_999 })).toEqual({ kind: "taken" });
      expect(await fork({ ...other, at: at + 10_000 })).toEqual({ kind: "forked" });
      expect(await fork({ at: at + 10_000 })).toEqual({ kind: "taken" });
      expect(await copiedIds()).toEqual(["u1"]);
    });

    test("pages of an abandoned copy are removed, those of others are kept", async () => {
      const conversations = [randomUUID(), randomUUID()];
      for (const id of ["u1", "u2", "u3"]) await post(id);
      // Older than the rows of other tests.
      const [left = "", current = ""] = conversations;
      expect(await fork({ forkId: left, at: -20 })).toEqual({ kind: "more", copied: 4 });
      expect(await fork({ forkId: current, at: -10 })).toEqual({ kind: "more", copied: 4 });
      expect(await store.conversations.removeUnfinishedFork({ before: -20 })).toBe(false);
      expect(await store.conversations.removeUnfinishedFork({ before: -10 })).toBe(true);
      expect(await store.conversations.removeUnfinishedFork({ before: -10 })).toBe(false);
      expect(await fork({ forkId: current })).toEqual({ kind: "forked" });
      expect(await fork({ forkId: left })).toEqual({ kind: "more", copied: 4 });
      expect(await fork({ forkId: left })).toEqual({ kind: "forked" });
      for (const id of conversations) expect(await copiedIds(id)).toEqual(["u1", "u2", "u3"]);
    });
  });
}
