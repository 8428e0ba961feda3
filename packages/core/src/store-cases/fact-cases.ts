// The cases of facts that every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { FactChange, FactSubject } from "../store/fact-store.ts";
import type { Store } from "../store/store.ts";
import { writerOf } from "./conversation-writer.ts";
import { commitOf, event, execution } from "./store-cases.ts";

export function factCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of facts`, () => {
    let store: Store;
    let of: FactSubject;
    let conversationId: string;
    const userId = "ada";
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(() => {
      // Anything that a user writes, and the characters that lines are separated by.
      of = { agentId: randomUUID(), scope: "user", subject: `a\u001f${randomUUID()} ü'"` };
      conversationId = randomUUID();
    });

    const { post } = writerOf(() => ({ store, conversationId, userId }));
    const changeOf = (at: number, fields: Partial<FactChange> = {}): FactChange => ({
      ...of,
      changeId: randomUUID(),
      patch: `{"a":${at}}`,
      by: null,
      at,
      ...fields,
    });
    const patches = async (subject: FactSubject = of) =>
      (await store.facts.read(subject)).map(({ patch }) => patch);

    test("changes are read in the order of their times, then of their ids, as they were kept", async () => {
      expect(await store.facts.read(of)).toEqual([]);
      const patch = '{"a":"\\u0000 \u001f \u0001 ü","b":null}';
      const second = changeOf(2, { patch, by: "eve\u001f" });
      for (const change of [changeOf(3, { changeId: `b${of.agentId}` }), second])
        await store.facts.append(change);
      await store.facts.append(changeOf(3, { changeId: `a${of.agentId}`, patch: "{}" }));
      await store.facts.append(second);
      const { changeId } = second;
      expect(await store.facts.read(of)).toEqual([
        { changeId, patch, by: "eve\u001f", at: 2, changes: 1 },
        { changeId: `a${of.agentId}`, patch: "{}", by: null, at: 3, changes: 1 },
        { changeId: `b${of.agentId}`, patch: '{"a":3}', by: null, at: 3, changes: 1 },
      ]);
    });

    test("each agent, scope and subject has its own", async () => {
      const changeId = randomUUID();
      await store.facts.append(changeOf(1, { changeId }));
      const others: FactSubject[] = [
        { ...of, agentId: randomUUID() },
        { ...of, scope: "conversation" },
        { ...of, subject: `${of.subject}2` },
      ];
      for (const other of others) expect(await patches(other)).toEqual([]);
      await store.facts.append(changeOf(2, { ...others[1], changeId }));
      expect(await patches()).toEqual(['{"a":1}']);
      await store.facts.remove({ scope: "user", subject: of.subject });
      expect(await patches()).toEqual([]);
      expect(await patches(others[1])).toEqual(['{"a":2}']);
    });

    test("a fold takes the place of a change and of all before it", async () => {
      const changes = [changeOf(1), changeOf(2), changeOf(3)];
      for (const change of changes) await store.facts.append(change);
      const base = {
        ...changes[1],
        ...of,
        at: 2,
        by: null,
        changeId: changes[1]?.changeId ?? "",
        changes: 2,
      };
      for (let repeated = 0; repeated < 2; repeated++) {
        await store.facts.fold({ ...base, patch: '{"folded":true}' });
        expect(await store.facts.read(of)).toMatchObject([
          { patch: '{"folded":true}', at: 2, changes: 2 },
          { patch: '{"a":3}', at: 3, changes: 1 },
        ]);
        // The change comes again because its result was lost.
        for (const change of changes.slice(1, 2)) await store.facts.append(change);
      }
    });

    test("a change is kept with the commit that names it, and with no other one", async () => {
      const executionId = randomUUID();
      await store.heartbeat({ owner: "here", lease: 60_000 });
      await store.create(execution({ executionId }));
      const commit = commitOf(executionId, { events: [event("checkpoint-complete")], facts: [changeOf(1)] });
      const result = await store.commit(commit);
      expect(result.kind).toBe("ok");
      expect(await patches()).toEqual(['{"a":1}']);
      expect(await store.commit(commit), "repeated").toEqual(result);
      expect(await patches()).toEqual(['{"a":1}']);
      const stale = { ...commit, token: "another", facts: [changeOf(2)] };
      expect((await store.commit(stale)).kind).toBe("fenced");
      expect(await patches()).toEqual(['{"a":1}']);
    });

    test("those of a conversation are removed with it, however it is removed", async () => {
      for (const isUnchanged of [false, true]) {
        const at = isUnchanged ? -1_000 : 1;
        await post("u1", { at });
        const subject = { ...of, scope: "conversation", subject: conversationId } as const;
        await store.facts.append(changeOf(1, { ...subject }));
        await store.facts.append(changeOf(1));
        if (isUnchanged) await store.conversations.removeUnchanged({ before: -999, limit: 100 });
        else await store.conversations.remove({ key: randomUUID(), conversationId });
        expect(await patches(subject)).toEqual([]);
        expect((await patches()).length).toBeGreaterThan(0);
        conversationId = randomUUID();
      }
    });
  });
}
