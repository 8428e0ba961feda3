// The cases of queues: messages that wait in a conversation until their turns begin.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PostMessage } from "../store/conversation-store.ts";
import type { BeginTurn, Store } from "../store/store.ts";
import { writerOf } from "./conversation-writer.ts";
import { commitOf, event, suspension } from "./store-cases.ts";

export function queueCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of queues`, () => {
    let store: Store;
    let conversationId: string;
    let agentId: string;
    const userId = "ada";
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(async () => {
      conversationId = randomUUID();
      agentId = randomUUID();
      await store.heartbeat({ owner: "here", lease: 60_000 });
    });

    const { post, ids } = writerOf(() => ({ store, conversationId, userId }));
    const enqueue = (messageId: string, fields: Partial<PostMessage> = {}) =>
      post(messageId, { agentId, queue: { request: `"${messageId}"`, most: 3 }, ...fields });
    const waiting = async (owner?: string) =>
      (await store.conversations.queue({ conversationId, userId: owner }))?.map((each) => each.messageId);
    const left = () => store.conversations.leftQueues({ agentIds: [agentId, "other"], limit: 10 });
    const leave = (messageId: string, fields: object = {}) =>
      store.conversations.leaveQueue({ key: randomUUID(), conversationId, messageId, ...fields });
    const turnOf = (messageId: string, fields: Partial<BeginTurn["message"]> = {}): BeginTurn => {
      const body = JSON.stringify({ id: messageId });
      const message = { kind: "post", messageId, body, title: null, again: false, at: 2_000 } as const;
      const where = { agentId, conversationId, userId, input: "{}", context: "{}", startAt: 2_000 };
      const claim = { owner: "here", token: "token" };
      const events = [event("workflow-start")];
      const turn = { executionId: randomUUID(), ...where, claim, events };
      return { message: { ...message, ...fields } as BeginTurn["message"], turn };
    };
    const begin = async (messageId: string, fields: Partial<BeginTurn["message"]> = {}) => {
      const turn = turnOf(messageId, fields);
      return { ...(await store.beginTurn(turn)), id: turn.turn.executionId };
    };
    const end = (executionId: string, replyTo: string) =>
      store.endTurn({
        commit: commitOf(executionId, { end: { status: "completed", result: "{}", error: null } }),
        reply: {
          ...{ conversationId, userId, replyTo, at: 3_000 },
          message: { messageId: `${replyTo}-reply`, body: "{}", partial: false },
        },
      });

    test("messages wait in their order with their requests, until their turns begin", async () => {
      const { id } = await begin("u1");
      await enqueue("u2");
      await enqueue("u3", { at: 1_500 });
      expect(await store.conversations.queue({ conversationId })).toEqual([
        { messageId: "u2", body: '{"id":"u2"}', createdAt: 1_000, agentId, request: '"u2"' },
        { messageId: "u3", body: '{"id":"u3"}', createdAt: 1_500, agentId, request: '"u3"' },
      ]);
      expect(await waiting("eve"), "of another user").toBeUndefined();
      expect(await enqueue("u2", { queue: { request: "changed", most: 3 } })).toEqual({ kind: "posted" });
      expect(await begin("u2", { wasQueued: true })).toMatchObject({ kind: "busy" });
      await end(id, "u1");
      expect(await begin("u3"), "the first goes first").toMatchObject({ kind: "behind" });
      expect(await begin("u4"), "also before a new one").toMatchObject({ kind: "behind" });
      const second = await begin("u2", { wasQueued: true });
      expect(second.kind).toBe("begun");
      expect(await waiting()).toEqual(["u3"]);
      await end(second.id, "u2");
      const third = await begin("u3", { wasQueued: true });
      await end(third.id, "u3");
      expect(await begin("u3", { wasQueued: true }), "it has its reply").toMatchObject({ kind: "has-reply" });
      expect(await waiting()).toEqual([]);
      expect(await ids()).toEqual(["u1", "u1-reply", "u2", "u2-reply", "u3", "u3-reply"]);
    });

    test("a message that was taken from the queue is gone, or stays without a reply", async () => {
      await enqueue("u1");
      await enqueue("u2");
      await enqueue("u3");
      expect(await leave("u1", { userId: "eve" })).toBe(false);
      const key = randomUUID();
      expect(await leave("u2", { key, userId })).toBe(true);
      expect(await leave("u2", { key, userId }), "repeated").toBe(true);
      expect(await leave("u2")).toBe(false);
      expect(await leave("u3", { keep: true })).toBe(true);
      expect(await leave("u3")).toBe(false);
      expect(await waiting()).toEqual(["u1"]);
      expect(await ids()).toEqual(["u1", "u3"]);
      expect(await begin("u2", { wasQueued: true }), "gone").toMatchObject({ kind: "withdrawn" });
      expect(await begin("u1")).toMatchObject({ kind: "begun" });
      expect(await begin("u2", { wasQueued: true }), "a turn runs").toMatchObject({ kind: "busy" });
      const withdrawn = await post("u2", { wasQueued: true });
      expect(withdrawn).toEqual({ kind: "withdrawn" });
      conversationId = randomUUID();
      expect(await begin("u2", { wasQueued: true })).toMatchObject({ kind: "withdrawn" });
      expect(await store.conversations.read({ conversationId })).toBeUndefined();
    });

    test("a full queue takes no further message", async () => {
      for (const id of ["u1", "u2", "u3"]) expect(await enqueue(id)).toEqual({ kind: "posted" });
      expect(await enqueue("u4")).toEqual({ kind: "full" });
      expect(await enqueue("u3"), "it is there").toEqual({ kind: "posted" });
      expect(await ids()).toEqual(["u1", "u2", "u3"]);
      await leave("u2");
      expect(await enqueue("u4")).toEqual({ kind: "posted" });
    });

    test("queues are found in which no turn runs, by the agent of their first message", async () => {
      const { id } = await begin("u1");
      expect(await left()).toEqual([]);
      await enqueue("u2");
      expect(await left(), "a turn runs").toEqual([]);
      await end(id, "u1");
      const first = { conversationId, userId, messageId: "u2" };
      expect(await left()).toEqual([first]);
      const others = { agentIds: [randomUUID()], limit: 10 };
      expect(await store.conversations.leftQueues(others)).toEqual([]);
      const earlier = conversationId;
      conversationId = randomUUID();
      await enqueue("u5", { at: 500 });
      const second = { conversationId, userId, messageId: "u5" };
      expect(await left(), "the oldest first").toEqual([second, first]);
      expect(await store.conversations.leftQueues({ agentIds: [agentId], limit: 1 })).toEqual([second]);
      await store.conversations.remove({ key: randomUUID(), conversationId });
      conversationId = earlier;
      await leave("u2", { keep: true });
      expect(await left()).toEqual([]);
    });

    test("a reply that waits for a person leaves the queue to the next turn, which ends the wait", async () => {
      const { id } = await begin("u1");
      await enqueue("u2");
      const open = [suspension({ suspensionId: randomUUID(), path: "reply/approval" })];
      await store.commit(commitOf(id, { open, idle: { resumes: 0, event: null } }));
      expect(await left()).toEqual([{ conversationId, userId, messageId: "u2" }]);
      const next = await begin("u2", { wasQueued: true });
      expect(next.kind).toBe("begun");
      expect(await store.heads([id])).toMatchObject([{ status: "cancelled" }]);
      expect(await left()).toEqual([]);
    });

    test("another reply to an earlier message takes back the queue after it", async () => {
      const { id } = await begin("u1");
      await enqueue("u2");
      await end(id, "u1");
      expect(await begin("u1", { again: true })).toMatchObject({ kind: "begun" });
      expect([await waiting(), await ids()]).toEqual([[], ["u1"]]);
    });

    test("a copy of a conversation has no queue", async () => {
      await enqueue("u1");
      const forkId = randomUUID();
      const page = { rows: 10, bytes: 10_000 };
      const bounds = { maxBytes: 10_000, page, at: 3_000 };
      const fork = { key: randomUUID(), copyId: randomUUID(), conversationId, forkId, ...bounds };
      expect(await store.conversations.fork(fork)).toEqual({ kind: "forked" });
      expect(await store.conversations.queue({ conversationId: forkId })).toEqual([]);
      expect(await left()).toEqual([{ conversationId, userId, messageId: "u1" }]);
    });
  });
}
