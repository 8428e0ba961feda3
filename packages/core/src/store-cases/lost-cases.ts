// The cases of a store that lacks writes of the owner of a claim, as after a failover to a replica without the
// last transactions; and of the claims that an owner holds.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Commit, NewExecution, Store } from "../store/store.ts";
import type { WrittenEvent } from "../store/stored-event.ts";
import { pauseOf } from "./pause-of.ts";
import { commitOf, event, execution, suspension } from "./store-cases.ts";

const lost = { kind: "lost", sequence: 0, idle: false };
const long = JSON.stringify("a".repeat(1_000));

export function lostCases(name: string, makeStore: () => Store): void {
  describe(`${name} that lacks events an owner had recorded`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(() => store.heartbeat({ owner: "here", lease: 60_000 }));

    const created = async (fields: Partial<NewExecution> = {}) => {
      const made = execution(fields);
      await store.create(made);
      return made.executionId;
    };
    const commit = (executionId: string, number: number, fields: Partial<Commit> = {}) =>
      store.commit(commitOf(executionId, { number, events: [event("step-complete")], ...fields }));
    const sequenceOf = async (executionId: string) =>
      (await store.state(executionId))?.execution.sequence ?? 0;
    const pause = (executionId: string) =>
      store.pause(pauseOf(executionId, { suspensionId: randomUUID(), reason: "", at: 3_000, userId: "ada" }));

    test("a commit whose number leaves one out is lost and leaves no trace; the next one counts", async () => {
      for (const after of [undefined, 1]) {
        const executionId = await created();
        const known = after === undefined ? {} : { after };
        expect(await commit(executionId, 2, known)).toEqual(lost);
        const end = { status: "completed", result: null, error: null } as const;
        expect(await commit(executionId, 2, { ...known, end })).toEqual(lost);
        expect(await commit(executionId, 2, { ...known, idle: { resumes: 0, event: null } })).toEqual(lost);
        expect(await sequenceOf(executionId)).toBe(1);
        expect(await commit(executionId, 1, known)).toEqual({ kind: "ok", sequence: 2, idle: false });
      }
    });

    test("a commit after an event that the journal lacks is lost; after an earlier one it counts", async () => {
      const executionId = await created();
      expect(await commit(executionId, 1, { after: 2 })).toEqual(lost);
      expect(await commit(executionId, 1, { after: 1 })).toMatchObject({ kind: "ok", sequence: 2 });
      // Another process has written: its owner does not know of that yet.
      await pause(executionId);
      expect(await commit(executionId, 2, { after: 4 })).toEqual(lost);
      expect(await commit(executionId, 2, { after: 2 })).toMatchObject({ kind: "paused", sequence: 4 });
    });

    test("a loss shows also when others have written as many events since", async () => {
      const executionId = await created();
      await pause(executionId);
      // The owner's first commit was the event 2, which is now a pause.
      expect(await commit(executionId, 2, { after: 2 })).toEqual(lost);
      expect(await sequenceOf(executionId)).toBe(2);
    });

    test("a commit after another writer's event that the journal lacks, or has with another time, is lost", async () => {
      const executionId = await created();
      const paused = await pause(executionId);
      const { sequence, timestamp: at } = paused.kind === "paused" ? paused.event : expect.fail(paused.kind);
      for (const others of [
        { sequence, at: at + 1 },
        { sequence: sequence - 1, at },
        { sequence: sequence + 1, at },
      ])
        expect(await commit(executionId, 1, { after: sequence, others })).toEqual(lost);
      expect(await sequenceOf(executionId)).toBe(sequence);
      const known = { after: sequence, others: { sequence, at } };
      expect(await commit(executionId, 1, known)).toMatchObject({ kind: "paused", sequence: sequence + 1 });
    });

    test("another writer's event is found also before later ones and among those of one write", async () => {
      const many = [event("workflow-start", { timestamp: 5 }), event("step-start", { timestamp: 6 })];
      const executionId = await created({ events: many });
      await commit(executionId, 1);
      for (const [sequence, at] of [
        [1, 5],
        [2, 6],
      ] as const) {
        const lostOne = { others: { sequence, at: at + 9 }, after: 3 };
        expect(await commit(executionId, 2, lostOne)).toEqual(lost);
      }
      const known = { others: { sequence: 1, at: 5 }, after: 3 };
      expect(await commit(executionId, 2, known)).toMatchObject({ kind: "ok", sequence: 4 });
    });

    test("a request to go idle that counts more resumes than the journal holds is lost", async () => {
      const executionId = await created();
      expect(await commit(executionId, 1, { idle: { resumes: 1, event: null } })).toEqual(lost);
      expect(await commit(executionId, 1, { idle: { resumes: 0, event: null } })).toMatchObject({
        idle: true,
      });
    });

    test("the end of a turn is lost in the same way, and its conversation keeps nothing of it", async () => {
      const [conversationId, executionId] = [randomUUID(), randomUUID()];
      const owner = { conversationId, userId: null };
      const claim = { owner: randomUUID(), token: "token" };
      const turn = { ...owner, executionId, agentId: "clerk", input: "{}", context: "{}", startAt: 1, claim };
      const message = {
        kind: "post",
        messageId: "u1",
        body: "{}",
        title: null,
        again: false,
        at: 1,
      } as const;
      await store.beginTurn({ message, turn: { ...turn, events: [event("workflow-start")] } });
      const end = { status: "completed", result: "{}", error: null } as const;
      const reply = {
        ...owner,
        replyTo: "u1",
        message: { messageId: "a1", body: "{}", partial: false },
        at: 5,
      };
      const ending = (number: number) => ({ commit: commitOf(executionId, { number, end }), reply });
      const kept = async () =>
        (await store.conversations.messages({ conversationId, after: 0, limit: 9 }))?.length;
      expect(await store.claims({ owner: claim.owner, limit: 9 })).toMatchObject([{ executionId }]);
      expect(await store.endTurn(ending(2))).toEqual(lost);
      expect(await kept()).toBe(1);
      expect(await store.endTurn(ending(1))).toMatchObject({ kind: "ok" });
      expect(await kept()).toBe(2);
    });

    test("a value that refers to its own event or a later one is refused; to an earlier one it is kept", async () => {
      const executionId = await created({ events: [event("workflow-start", { value: long })] });
      const referring = (sameAs: number): WrittenEvent => ({ ...event("step-complete"), value: { sameAs } });
      for (const after of [undefined, 1]) {
        const known = after === undefined ? {} : { after };
        for (const sameAs of [2, 3, -3])
          await expect(
            commit(executionId, 1, { ...known, events: [referring(sameAs)] }),
          ).rejects.toMatchObject({
            code: "store-refused",
          });
      }
      const first = { events: [referring(1)] };
      await expect(store.create(execution(first))).rejects.toMatchObject({ code: "store-refused" });
      expect(await commit(executionId, 1, { events: [referring(1), referring(-1)] })).toMatchObject({
        kind: "ok",
      });
      const events = await store.events({ executionId, after: 0, limit: 10 });
      expect(events.map(({ value }) => value)).toEqual([long, long, long]);
    });

    test("recovery from an owner that never had a heartbeat does not count, from one that had does", async () => {
      for (const [owner, recoveries] of [
        ["unheard", 0],
        ["dead", 1],
      ] as const) {
        if (owner === "dead") await store.heartbeat({ owner, lease: 0 });
        const workflowId = randomUUID();
        const executionId = await created({ workflowId, claim: { owner, token: "t" } });
        const query = { owner: "there", key: randomUUID(), workflowIds: [workflowId], limit: 1 };
        const found = await store.claimAbandoned({ ...query, suspects: false, suspectAfter: 9 });
        expect(found).toMatchObject([{ row: { executionId, recoveries } }]);
      }
    });

    test("the claims of an owner are listed in pages, without those that were given back", async () => {
      const owner = randomUUID();
      const made: string[] = [];
      for (const startAt of [1, 2, 2, 3]) {
        const token = `token ${made.length}`;
        made.push(await created({ startAt, claim: { owner, token } }));
      }
      await created();
      const [first = "", second = "", third = "", fourth = ""] = made;
      const pageAfter = (after: Parameters<Store["claims"]>[0]["after"]) =>
        store.claims({ owner, after, limit: 2 });
      const page = await pageAfter(undefined);
      const rest = await pageAfter(page.at(-1));
      expect(page[0]).toEqual({ executionId: first, startAt: 1, token: "token 0" });
      expect([...page, ...rest].map(({ executionId }) => executionId)).toEqual([
        first,
        ...[second, third].sort(),
        fourth,
      ]);
      expect(await pageAfter(rest.at(-1))).toEqual([]);
      await store.release({ executionId: first, token: "token 0" });
      await store.commit(
        commitOf(second, { token: "token 1", open: [suspension()], idle: { resumes: 0, event: null } }),
      );
      const end = { status: "completed", result: null, error: null } as const;
      await store.commit(commitOf(third, { token: "token 2", end }));
      expect(await store.claims({ owner, limit: 9 })).toEqual([
        { executionId: fourth, startAt: 3, token: "token 3" },
      ]);
    });
  });
}
