// The cases that the turns of every store must pass: executions of their own kind, one live in each conversation.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { KeptSummary } from "../store/conversation-store.ts";
import type { BeginTurn, EndTurn, NewTurn, Store } from "../store/store.ts";
import { commitOf, event, execution, suspension } from "./store-cases.ts";

const used = { inputTokens: 3, outputTokens: 2, totalTokens: 5, calls: 1 };
const ended = { status: "completed", result: "{}", error: null } as const;
/** No id is greater. */
const last = "\u{10ffff}";

export function turnCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of turns`, () => {
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

    const post = (messageId: string, fields: object = {}) => {
      const message = {
        messageId,
        body: JSON.stringify({ id: messageId }),
        title: null,
        again: false,
        at: 1_000,
      };
      return { kind: "post" as const, ...message, ...fields };
    };
    const beginOf = (message: BeginTurn["message"], fields: Partial<NewTurn> = {}): BeginTurn => ({
      message,
      turn: {
        executionId: randomUUID(),
        agentId,
        conversationId,
        userId,
        input: '{"messageId":"a1"}',
        context: "{}",
        startAt: 1_000,
        claim: { owner: "here", token: "token" },
        events: [event("workflow-start"), event("step-start", { path: "reply" })],
        ...fields,
      },
    });
    const begun = async (messageId: string) => {
      const begin = beginOf(post(messageId));
      expect(await store.beginTurn(begin)).toEqual({ kind: "begun" });
      return begin.turn.executionId;
    };
    const endOf = (executionId: string, fields: Partial<EndTurn["reply"]> = {}): EndTurn => ({
      commit: commitOf(executionId, {
        following: [event("workflow-complete", { timestamp: 5_000 })],
        end: ended,
      }),
      reply: {
        conversationId,
        userId,
        replyTo: "u1",
        message: { messageId: "a1", body: '{"id":"a1"}', partial: false },
        at: 5_000,
        ...fields,
      },
    });
    const ids = async () => {
      const messages = await store.conversations.messages({ conversationId, after: 0, limit: 100 });
      return messages?.map(({ messageId }) => messageId);
    };
    const claims = async (agentIds: readonly string[]) => {
      const query = { owner: "there", key: randomUUID(), workflowIds: [""], agentIds, limit: 10 };
      return store.claimAbandoned({ ...query, suspects: false, suspectAfter: 9 });
    };

    test("a turn that goes idle keeps its reply so far, is due at its time, and its usage counts once", async () => {
      const executionId = await begun("m1");
      const waits = async (number: number, fields: object, reply: object = {}) =>
        store.endTurn({
          commit: commitOf(executionId, { number, usage: used, ...fields }),
          reply: {
            ...{ conversationId, userId, replyTo: "m1", at: 2_000 },
            message: { messageId: "a1", body: JSON.stringify({ id: "a1", number }), partial: false },
            ...reply,
          },
        });
      const idle = { resumes: 0, event: null };
      const timers = [{ path: "reply#sleep", dueAt: 5_000 }];
      const asleep = { timers, idle, events: [event("checkpoint-complete", { path: "reply#sleep" })] };
      expect(await waits(1, asleep)).toMatchObject({ kind: "ok", idle: true });
      expect(await waits(1, asleep), "a repeated commit").toMatchObject({ kind: "ok", idle: true });
      const usage = async () => (await store.conversations.read({ conversationId }))?.usage.calls;
      const bodies = async () =>
        (await store.conversations.recent({ conversationId, userId, limit: 5 }))?.map(({ body }) => body);
      expect([await usage(), (await bodies())?.at(-1)]).toEqual([1, '{"id":"a1","number":1}']);
      expect(await store.due({ workflowIds: [], limit: 5 })).toEqual([]);
      const [timer] = await store.due({ workflowIds: [], agentIds: [agentId], limit: 5 });
      expect(timer).toMatchObject({ kind: "timer", executionId, workflowId: "", dueAt: 5_000 });
      const claim = { owner: "here", token: "again" };
      expect(await store.wake({ executionId, now: 5_000, claim })).toBe(true);
      const other = beginOf(post("m2"));
      expect(await store.beginTurn(other), "it runs").toEqual({ kind: "busy", executionId });
      const over = { token: "again", end: ended, clear: ["reply#sleep"] };
      expect(await waits(1, over)).toMatchObject({ kind: "ok" });
      expect([await usage(), (await bodies())?.length]).toEqual([2, 2]);
      expect(await store.liveTurn(conversationId)).toBeUndefined();
    });

    test("another turn ends one that only sleeps", async () => {
      const executionId = await begun("m1");
      const idle = { resumes: 0, event: null };
      const timers = [{ path: "reply#sleep", dueAt: 5_000 }];
      await store.commit(commitOf(executionId, { timers, idle }));
      await begun("m2");
      expect((await store.heads([executionId]))[0]?.status).toBe("cancelled");
    });

    test("the live turn of a conversation is found, and no other", async () => {
      expect(await store.liveTurn(conversationId)).toBeUndefined();
      const executionId = await begun("m1");
      const live = { executionId, kind: "turn", workflowId: "", agentId, userId, status: "running" };
      expect(await store.liveTurn(conversationId)).toMatchObject({ ...live, sequence: 2, owner: "here" });
      expect(await store.heads([executionId])).toEqual([await store.liveTurn(conversationId)]);
      await store.endTurn(endOf(executionId));
      expect(await store.liveTurn(conversationId)).toBeUndefined();
    });

    test("message and turn are one write", async () => {
      const executionId = await begun("u1");
      expect(await ids()).toEqual(["u1"]);
      const state = await store.state(executionId);
      expect(state?.execution).toMatchObject({
        kind: "turn",
        workflowId: "",
        agentId,
        conversationId,
        userId,
        status: "running",
        sequence: 2,
        input: '{"messageId":"a1"}',
      });
      expect(await store.events({ executionId, after: 1, limit: 5 })).toMatchObject([{ path: "reply" }]);
    });

    test("reply, usage and end are one write", async () => {
      const executionId = await begun("u1");
      await store.commit(commitOf(executionId, { events: [event("step-complete")], usage: used }));
      const end = endOf(executionId);
      const result = await store.endTurn({ ...end, commit: { ...end.commit, usage: used } });
      expect(result).toEqual({ kind: "ok", sequence: 4, idle: false });
      expect(await ids()).toEqual(["u1", "a1"]);
      const conversation = await store.conversations.read({ conversationId });
      expect(conversation).toMatchObject({
        updatedAt: 5_000,
        usage: { inputTokens: 6, outputTokens: 4, totalTokens: 10, calls: 2 },
      });
      expect(await store.state(executionId)).toMatchObject({
        execution: { status: "completed", endAt: 5_000 },
        usage: { inputTokens: 6, outputTokens: 4, totalTokens: 10, calls: 2 },
      });
    });

    test("a summary is kept with the reply, in the place before a message of the user, once", async () => {
      const talk = async (question: string, reply: string, summary?: KeptSummary) => {
        const executionId = await begun(question);
        const message = { messageId: reply, body: '"reply"', partial: false };
        expect(
          await store.endTurn(endOf(executionId, { replyTo: question, message, summary })),
        ).toMatchObject({
          kind: "ok",
        });
      };
      const summary = (messageId: string, before: string) => ({ messageId, before, body: `"${messageId}"` });
      await talk("u1", "a1");
      await talk("u2", "a2", summary("s0", "u1"));
      await talk("u3", "a3", summary("s1", "u2"));
      expect(await ids(), "nothing is before the first message").toEqual([
        "u1",
        "a1",
        "s1",
        "u2",
        "a2",
        "u3",
        "a3",
      ]);
      await talk("u4", "a4", summary("s2", "u2"));
      await talk("u5", "a5", summary("s3", "gone"));
      await talk("u6", "a6", summary("s4", "u4"));
      const all = ["u1", "a1", "s1", "u2", "a2", "u3", "a3", "s4", "u4", "a4", "u5", "a5", "u6", "a6"];
      expect(await ids()).toEqual(all);
      const recent = await store.conversations.recent({ conversationId, userId, upTo: "u4", limit: 3 });
      expect(recent?.map(({ messageId, body }) => [messageId, body])).toEqual([
        ["a3", '"reply"'],
        ["s4", '"s4"'],
        ["u4", '{"id":"u4"}'],
      ]);

      const which = { conversationId, messageId: "s4", key: randomUUID() };
      const remove = (fields: object) =>
        store.conversations.removeSummary({ ...which, key: randomUUID(), ...fields });
      expect(await remove({ messageId: "u4" }), "no summary").toBe(false);
      expect(await remove({ userId: "bob" }), "of another user").toBe(false);
      expect(await store.conversations.removeSummary(which)).toBe(true);
      expect(await store.conversations.removeSummary(which), "repeated").toBe(true);
      expect(await remove({}), "again").toBe(false);
      expect(await ids()).toEqual(all.filter((id) => id !== "s4"));
      // It goes with the message after which the user asks again.
      const again = beginOf(post("u1", { again: true }));
      expect(await store.beginTurn(again)).toEqual({ kind: "begun" });
      expect(await ids()).toEqual(["u1"]);
    });

    test("a turn that begins reads as many of the messages before its own as it asks for", async () => {
      const readWith = async (messageId: string, limit: number) => {
        const begin = { ...beginOf(post(messageId, { again: true })), before: limit };
        const result = await store.beginTurn(begin);
        if (result.kind !== "begun") throw new Error(`expected it to begin: ${result.kind}`);
        expect(await store.beginTurn(begin), "repeated").toEqual(result);
        const message = { messageId: `to ${messageId}`, body: '"reply"', partial: false };
        await store.endTurn(endOf(begin.turn.executionId, { replyTo: messageId, message }));
        return result.before;
      };
      expect(await readWith("u1", 5)).toEqual([]);
      expect(await readWith("u2", 5)).toEqual([
        { sequence: 1, messageId: "u1", body: '{"id":"u1"}', partial: false, createdAt: 1_000 },
        { sequence: 2, messageId: "to u1", body: '"reply"', partial: false, createdAt: 5_000 },
      ]);
      expect((await readWith("u3", 3))?.map(({ messageId }) => messageId)).toEqual(["to u1", "u2", "to u2"]);
      expect((await readWith("u2", 5))?.map(({ messageId }) => messageId)).toEqual(["u1", "to u1"]);
      expect(await ids(), "what came after it is taken back").toEqual(["u1", "to u1", "u2", "to u2"]);
    });

    test("a turn whose claim is another's keeps nothing, and one that has ended is not ended again", async () => {
      const executionId = await begun("u1");
      const end = endOf(executionId);
      const fenced = { ...end, commit: { ...end.commit, token: "stolen" } };
      expect(await store.endTurn(fenced)).toMatchObject({ kind: "fenced" });
      expect(await ids()).toEqual(["u1"]);
      expect(await store.endTurn(end)).toMatchObject({ kind: "ok" });
      const late = endOf(executionId, { message: { messageId: "a2", body: "{}", partial: true } });
      expect(await store.endTurn({ ...late, commit: { ...late.commit, number: 99 } })).toMatchObject({
        kind: "ended",
      });
      expect(await ids()).toEqual(["u1", "a1"]);
    });

    test("both, repeated because their results were lost, return the first and change nothing", async () => {
      const begin = beginOf(post("u1"));
      expect(await store.beginTurn(begin)).toEqual({ kind: "begun" });
      expect(await store.beginTurn(begin)).toEqual({ kind: "begun" });
      const { executionId } = begin.turn;
      const commit = commitOf(executionId, {
        following: [event("workflow-complete")],
        end: ended,
        usage: used,
      });
      const end = { ...endOf(executionId), commit };
      const first = await store.endTurn(end);
      expect(await store.endTurn(end)).toEqual(first);
      expect((await store.conversations.read({ conversationId }))?.usage).toEqual(used);
      expect(await ids()).toEqual(["u1", "a1"]);
    });

    test("of many turns that begin in a conversation one is live, until it has ended", async () => {
      const begins = Array.from({ length: 10 }, (_, n) => beginOf(post(`u${n}`)));
      const results = await Promise.all(begins.map((begin) => store.beginTurn(begin)));
      const winner = begins[results.findIndex(({ kind }) => kind === "begun")]?.turn.executionId ?? "";
      const others = results.filter(({ kind }) => kind !== "begun");
      expect(others).toEqual(Array.from({ length: 9 }, () => ({ kind: "busy", executionId: winner })));
      expect(await ids()).toHaveLength(1);
      await store.endTurn(endOf(winner, { message: null }));
      await begun("u99");
    });

    test("a turn in another agent's conversation is refused where that counts", async () => {
      const executionId = await begun("u1");
      await store.endTurn(endOf(executionId));
      const other = () => beginOf(post("u2", { ownConversation: true }), { agentId: "other" });
      expect(await store.beginTurn(other())).toEqual({ kind: "foreign" });
      expect(await ids()).not.toContain("u2");
      const own = beginOf(post("u2", { ownConversation: true }));
      expect(await store.beginTurn(own)).toEqual({ kind: "begun" });
    });

    test("a refused message begins no turn, and another user learns nothing", async () => {
      const executionId = await begun("u1");
      const foreign = await store.beginTurn(beginOf(post("u2"), { userId: "eve" }));
      expect(foreign).toEqual({ kind: "foreign" });
      await store.endTurn(endOf(executionId));
      const again = beginOf(post("u1"));
      expect(await store.beginTurn(again)).toEqual({ kind: "has-reply" });
      expect(await store.state(again.turn.executionId)).toBeUndefined();
      expect(await store.beginTurn(beginOf(post("u1", { again: true })))).toEqual({ kind: "begun" });
      expect(await ids()).toEqual(["u1"]);
    });

    test("a decision about the last message begins a turn that continues it", async () => {
      await store.endTurn(endOf(await begun("u1")));
      const decided = { kind: "replace", messageId: "a1", body: '"decided"', at: 6_000 } as const;
      const stale = await store.beginTurn(beginOf({ ...decided, previous: '"other"' }));
      expect(stale).toEqual({ kind: "changed" });
      const earlier = await store.beginTurn(
        beginOf({ ...decided, messageId: "u1", previous: '{"id":"u1"}' }),
      );
      expect(earlier, "it is not the last one").toEqual({ kind: "changed" });
      const begin = beginOf({ ...decided, previous: '{"id":"a1"}' });
      expect(await store.beginTurn(begin)).toEqual({ kind: "begun" });
      const message = { messageId: "a1", body: '"continued"', partial: false };
      await store.endTurn(endOf(begin.turn.executionId, { replyTo: undefined, message }));
      const messages = await store.conversations.messages({ conversationId, after: 0, limit: 10 });
      expect(messages?.map(({ body }) => body)).toEqual(['{"id":"u1"}', '"continued"']);
    });

    /** Ends the work of a turn whose reply waits for a person. */
    const waitOf = (executionId: string): EndTurn => {
      const open = [suspension({ path: "reply#1" }), suspension({ path: "reply#2", suspendedAt: 3_000 })];
      const following = [event("workflow-complete", { timestamp: 5_000 })];
      const idle = { resumes: 0, event: null };
      const commit = commitOf(executionId, { following, open, idle, usage: used });
      return { ...endOf(executionId), commit };
    };
    const begunTurn = async () => {
      const begin = beginOf(post("u1"));
      await store.beginTurn(begin);
      return begin;
    };
    const waiting = async (which: object = { userId }) =>
      (await store.waiting({ ...which, limit: 1_000 })).filter((each) => each.agentId === agentId);

    test("the deadline of a call that waits is due for its agent alone, until the call is decided", async () => {
      const { turn } = beginOf(post("u1"));
      await store.beginTurn({ message: post("u1"), turn });
      const end = endOf(turn.executionId);
      const open = [
        suspension({ path: "reply#1", deadline: 7_000, onDeadline: '"fail"' }),
        suspension({ path: "reply#2", deadline: 6_000, onDeadline: '"fail"' }),
      ];
      const idle = { resumes: 0, event: null };
      await store.endTurn({ ...end, commit: { ...end.commit, following: [], open, end: null, idle } });
      const due = (agentIds?: readonly string[]) => store.due({ workflowIds: ["gate"], agentIds, limit: 10 });
      expect([await due(), await due(["another"])]).toEqual([[], []]);
      const place = { kind: "deadline", executionId: turn.executionId, workflowId: "", timerAt: null };
      expect(await due([agentId])).toEqual([
        { ...place, dueAt: 6_000, suspensionId: open[1]?.suspensionId, path: "reply#2", stepIndex: 0 },
        { ...place, dueAt: 7_000, suspensionId: open[0]?.suspensionId, path: "reply#1", stepIndex: 0 },
      ]);
      await begun("u2");
      expect(await due([agentId])).toEqual([]);
    });

    test("a turn whose reply waits for a person is suspended, and its calls are in the list of waits", async () => {
      const { turn } = await begunTurn();
      const end = waitOf(turn.executionId);
      const first = await store.endTurn(end);
      expect(first).toMatchObject({ kind: "ok", idle: true });
      expect(await store.endTurn(end)).toEqual(first);
      expect((await store.conversations.read({ conversationId }))?.usage, "counted once").toEqual(used);
      expect(await ids()).toEqual(["u1", "a1"]);
      const head = { executionId: turn.executionId, status: "suspended", owner: null };
      expect(await store.liveTurn(conversationId)).toMatchObject(head);
      const { executionId, startAt } = turn;
      const common = { executionId, workflowId: "", agentId, userId, conversationId, startAt };
      const expected = end.commit.open.map((each) => ({ ...common, suspension: each }));
      expect(await waiting()).toMatchObject(expected);
      expect(await waiting({})).toMatchObject(expected);
      expect(await waiting({ workflowId: "another" })).toEqual([]);
      expect(await store.waiting({ agentId, limit: 1_000 })).toMatchObject(expected);
      expect(await store.waiting({ agentId, userId, limit: 1_000 })).toMatchObject(expected);
      expect(await store.waiting({ agentId: "another", limit: 1_000 })).toEqual([]);
      expect(await store.waiting({ agentId, brief: true, limit: 1 })).toHaveLength(1);
      await store.heartbeat({ owner: "here", lease: 0 });
      expect(await claims([agentId]), "no process has to run it").toEqual([]);
      const upTo = { endAt: 99_000, executionId: last };
      await store.deleteFinished({ kind: "turn", upTo, limit: 1_000, events: 10_000 });
      expect(await waiting(), "it is kept as long as it waits").toHaveLength(2);
    });

    test.each<[string, BeginTurn["message"]]>([
      [
        "a decision",
        { kind: "replace", messageId: "a1", previous: '{"id":"a1"}', body: '"decided"', at: 6_000 },
      ],
      ["another message of the user", { ...post("u2"), at: 6_000 }],
    ])("%s ends the turn that waited", async (_, message) => {
      const { turn } = await begunTurn();
      const end = waitOf(turn.executionId);
      await store.endTurn(end);
      expect(await store.beginTurn(beginOf(message, { userId: "eve" }))).toEqual({ kind: "foreign" });
      expect(await waiting(), "nothing is closed by a turn that does not begin").toHaveLength(2);
      const next = beginOf(message, { startAt: 6_000 });
      expect(await store.beginTurn(next)).toMatchObject({ kind: "begun" });
      expect(await store.beginTurn(next), "repeated").toMatchObject({ kind: "begun" });
      expect(await waiting()).toEqual([]);
      const [head] = await store.heads([turn.executionId]);
      expect(head).toMatchObject({ status: "cancelled" });
      const { executionId } = next.turn;
      expect(await store.liveTurn(conversationId)).toMatchObject({ executionId, status: "running" });
    });

    test("a message that has no reply after the turn that waits does not keep it from being decided", async () => {
      const { turn } = await begunTurn();
      const later = { ...post("u2"), key: randomUUID(), conversationId, userId, agentId };
      const queue = { request: "{}", most: 1 };
      expect(await store.conversations.post({ ...later, queue })).toEqual({ kind: "posted" });
      await store.endTurn(waitOf(turn.executionId));
      expect(await ids()).toEqual(["u1", "a1", "u2"]);
      const decided = { kind: "replace", messageId: "a1", previous: '{"id":"a1"}', at: 6_000 } as const;
      const next = beginOf({ ...decided, body: '"decided"' });
      expect(await store.beginTurn(next)).toMatchObject({ kind: "begun" });
      const message = { messageId: "a1", body: '"continued"', partial: false };
      await store.endTurn(endOf(next.turn.executionId, { replyTo: undefined, message }));
      const messages = await store.conversations.messages({ conversationId, after: 0, limit: 10 });
      expect(messages?.map(({ body }) => body)).toEqual(['{"id":"u1"}', '"continued"', '{"id":"u2"}']);
      await store.endTurn(
        endOf(await begun("u2"), { replyTo: "u2", message: { ...message, messageId: "a2" } }),
      );
      const late = beginOf({ ...decided, previous: '"continued"', body: '"late"' });
      expect(await store.beginTurn(late), "another reply follows").toEqual({ kind: "changed" });
    });

    test("of two decisions one begins a turn", async () => {
      const { turn } = await begunTurn();
      const end = waitOf(turn.executionId);
      await store.endTurn(end);
      const decide = () =>
        store.beginTurn(
          beginOf({
            ...{ kind: "replace", messageId: "a1", previous: '{"id":"a1"}', at: 6_000 },
            body: `"${randomUUID()}"`,
          }),
        );
      const results = await Promise.all([decide(), decide(), decide()]);
      expect(results.filter(({ kind }) => kind === "begun")).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === "busy" || kind === "changed")).toHaveLength(2);
    });

    test("a conversation in which a reply waits is removed with its waits, by a person or because it is old", async () => {
      for (const remove of [
        () => store.conversations.remove({ conversationId, key: randomUUID() }),
        () => store.conversations.removeUnchanged({ before: 99_000, limit: 1_000 }),
      ]) {
        conversationId = randomUUID();
        const { turn } = await begunTurn();
        const end = waitOf(turn.executionId);
        await store.endTurn(end);
        expect(await waiting()).toHaveLength(2);
        await remove();
        expect(await waiting()).toEqual([]);
        expect(await store.state(turn.executionId)).toBeUndefined();
        expect(await ids()).toBeUndefined();
      }
    });

    test("an abandoned turn is claimed by its agent's name, never by a workflow's", async () => {
      const executionId = await begun("u1");
      await store.heartbeat({ owner: "here", lease: 0 });
      expect(await claims([])).toEqual([]);
      expect(await claims(["another"])).toEqual([]);
      const [claimed] = await claims([agentId]);
      expect(claimed?.row).toMatchObject({ executionId, kind: "turn", agentId, recoveries: 1 });
      await store.heartbeat({ owner: "there", lease: 60_000 });
      expect(await store.commit(commitOf(executionId, { number: 1 }))).toMatchObject({ kind: "fenced" });
    });

    test("lists, counts and retention of executions do not see turns", async () => {
      const before = await store.countUnfinished();
      const executionId = await begun("u1");
      for (const query of [{}, { status: "running" as const }, { userId }, { idPrefix: executionId }])
        expect((await store.list({ ...query, limit: 1_000 })).map((row) => row.executionId)).not.toContain(
          executionId,
        );
      expect(await store.countUnfinished()).toEqual(before);
      await store.endTurn(endOf(executionId));
      expect(await store.list({ status: "completed", userId, limit: 1_000 })).toEqual([]);
      const upTo = { endAt: 9_000, executionId: last };
      const deleted = await store.deleteFinished({ upTo, limit: 10, events: 100 });
      expect(deleted.executionIds).not.toContain(executionId);
      expect(await store.endedBeyond({ keep: 0 })).toBeUndefined();
    });

    test("turns that have ended are deleted apart, and their conversation keeps its messages", async () => {
      const executionId = await begun("u1");
      await store.endTurn(endOf(executionId));
      const workflow = execution();
      await store.create(workflow);
      await store.commit(
        commitOf(workflow.executionId, { following: [event("workflow-complete")], end: ended }),
      );
      const upTo = { endAt: 9_000, executionId: last };
      const { executionIds } = await store.deleteFinished({ kind: "turn", upTo, limit: 100, events: 1_000 });
      expect(executionIds).toContain(executionId);
      expect(executionIds).not.toContain(workflow.executionId);
      expect(await store.state(executionId)).toBeUndefined();
      expect(await ids()).toEqual(["u1", "a1"]);
    });

    test("a conversation is removed with its turns: the owner of one is fenced", async () => {
      const executionId = await begun("u1");
      await store.conversations.remove({ conversationId, key: randomUUID() });
      expect(await store.state(executionId)).toBeUndefined();
      expect(await store.events({ executionId, after: 0, limit: 5 })).toEqual([]);
      expect(await store.endTurn(endOf(executionId))).toMatchObject({ kind: "fenced" });
      expect(await ids()).toBeUndefined();
    });
  });
}
