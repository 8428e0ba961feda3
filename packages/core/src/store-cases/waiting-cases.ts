// The cases of lists of waiting executions that every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store, Suspension } from "../store/store.ts";
import type { WaitingQuery } from "../store/suspension.ts";
import { pauseOf } from "./pause-of.ts";
import { commitOf, execution, suspension } from "./store-cases.ts";

export function waitingCases(name: string, makeStore: () => Store): void {
  describe(`${name} listing waiting executions`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());

    const wait = async (fields: object, open: readonly Suspension[]) => {
      const made = execution(fields);
      await store.create(made);
      await store.commit(commitOf(made.executionId, { open }));
      return made;
    };
    const idsOf = async (query: Partial<WaitingQuery>) =>
      (await store.waiting({ limit: 10, ...query })).map((each) => each.suspension.suspensionId);

    test("they come oldest first, of all executions, a page at a time", async () => {
      const workflowId = randomUUID();
      const at = (suspendedAt: number) => suspension({ suspendedAt, path: `at-${suspendedAt}` });
      const [first, second, third, fourth] = [at(10), at(20), at(20), at(40)];
      // Those of one moment are in the order of their ids.
      const [one, other] = [second, third].sort((a, b) => (a.suspensionId < b.suspensionId ? -1 : 1));
      if (one === undefined || other === undefined) throw new Error("two were made");
      await wait({ workflowId, startAt: 5 }, [fourth, one]);
      const younger = await wait({ workflowId, startAt: 7, userId: "ada", conversationId: "talk" }, [
        other,
        first,
      ]);
      const all = [first, one, other, fourth].map(({ suspensionId }) => suspensionId);
      expect(await idsOf({ workflowId })).toEqual(all);
      expect(await idsOf({ workflowId, limit: 2 })).toEqual(all.slice(0, 2));
      const { suspendedAt, suspensionId } = one;
      expect(await idsOf({ workflowId, after: { suspendedAt, suspensionId } })).toEqual(all.slice(2));
      const [oldest] = await store.waiting({ workflowId, limit: 1 });
      expect(oldest).toEqual({
        executionId: younger.executionId,
        workflowId,
        agentId: null,
        userId: "ada",
        conversationId: "talk",
        startAt: 7,
        suspension: first,
      });
    });

    test("of one user alone, and none once it has ended", async () => {
      const workflowId = randomUUID();
      const [mine, later, theirs] = [
        suspension({ suspendedAt: 3 }),
        suspension({ suspendedAt: 9 }),
        suspension(),
      ];
      const userId = randomUUID();
      const ended = await wait({ workflowId, userId }, [later]);
      await wait({ workflowId, userId }, [mine]);
      await wait({ workflowId, userId: `${userId}-other` }, [theirs]);
      await wait({ workflowId }, [suspension()]);
      const ids = [mine.suspensionId, later.suspensionId];
      expect(await idsOf({ userId })).toEqual(ids);
      expect(await idsOf({ userId, workflowId })).toEqual(ids);
      expect(await idsOf({ userId, workflowId: "another" })).toEqual([]);
      const { suspendedAt, suspensionId } = mine;
      expect(await idsOf({ userId, after: { suspendedAt, suspensionId } })).toEqual([later.suspensionId]);
      await store.cancel({
        executionId: ended.executionId,
        key: randomUUID(),
        event: {
          timestamp: 1,
          type: "workflow-cancelled",
          path: null,
          stepIndex: null,
          stepType: null,
          value: null,
          detail: null,
        },
        status: "cancelled",
        error: null,
        due: null,
      });
      expect(await idsOf({ userId })).toEqual([mine.suspensionId]);
    });

    test("a pause is not among them: it waits for no answer", async () => {
      const workflowId = randomUUID();
      const userId = randomUUID();
      const gate = suspension({ suspendedAt: 2 });
      const { executionId } = await wait({ workflowId, userId }, [gate]);
      await store.pause(pauseOf(executionId, { suspensionId: randomUUID() }));
      expect(await idsOf({ workflowId })).toEqual([gate.suspensionId]);
      expect(await idsOf({ userId })).toEqual([gate.suspensionId]);
    });

    test("some of them by their ids; briefly, without their texts", async () => {
      const workflowId = randomUUID();
      const full = { data: '{"a":1}', reason: "why", onDeadline: '"fail"', resumeSchema: "{}" };
      const [first, second] = [
        suspension({ suspendedAt: 1, deadline: 50, path: "one", to: "ada", ...full }),
        suspension({ suspendedAt: 2, deadline: null, path: "two", ...full }),
      ];
      const owner = { userId: "ada", conversationId: "talk", startAt: 7 };
      const { executionId } = await wait({ workflowId, ...owner }, [first, second]);
      const suspensionIds = [second.suspensionId, randomUUID()];
      expect(await idsOf({ suspensionIds })).toEqual([second.suspensionId]);
      expect(await idsOf({ suspensionIds, workflowId: "another" })).toEqual([]);
      expect(await idsOf({ suspensionIds: [] })).toEqual([]);
      const { resumeSchema: _, ...kept } = { ...first, reason: "", data: null, onDeadline: null };
      const [brief] = await store.waiting({ workflowId, brief: true, limit: 1 });
      expect(brief).toEqual({ executionId, workflowId, agentId: null, ...owner, suspension: kept });
      const ids = (await store.waiting({ workflowId, brief: true, limit: 9 })).map((each) => each.suspension);
      expect(ids.map(({ deadline }) => deadline)).toEqual([50, null]);
    });

    test("a page ends when it is long enough", async () => {
      const workflowId = randomUUID();
      const long = () => suspension({ data: JSON.stringify("x".repeat(1000)) });
      await wait({ workflowId }, [long(), long(), long()]);
      expect(await idsOf({ workflowId, length: 1500 })).toHaveLength(2);
      expect(await idsOf({ workflowId, length: 1 })).toHaveLength(1);
    });
  });
}
