// The cases of heads: how far executions have come, for processes that share a store.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../store/store.ts";
import { pauseOf } from "./pause-of.ts";
import { cancelOf, commitOf, event, execution } from "./store-cases.ts";

export function headCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of heads`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
      await store.heartbeat({ owner: "here", lease: 60_000 });
    });
    afterAll(() => store.close());

    const created = async () => {
      const made = execution({ workflowId: randomUUID(), userId: "ada" });
      await store.create(made);
      return made;
    };
    const headOf = async (executionId: string) => (await store.heads([executionId]))[0];

    test("reads the head of an execution as it makes progress", async () => {
      const made = await created();
      const { executionId, workflowId } = made;
      const first = {
        executionId,
        kind: "workflow",
        workflowId,
        agentId: null,
        userId: "ada",
        conversationId: null,
        status: "running",
        sequence: 1,
        paused: false,
        parked: false,
        owner: made.claim.owner,
      };
      expect(await headOf(executionId)).toEqual(first);
      await store.commit(commitOf(executionId, { events: [event("step-complete")] }));
      expect(await headOf(executionId)).toEqual({ ...first, sequence: 2 });
      await store.pause(pauseOf(executionId, { suspensionId: randomUUID() }));
      expect(await headOf(executionId)).toEqual({ ...first, sequence: 3, status: "suspended", paused: true });
      await store.release({ executionId, token: "token" });
      expect(await headOf(executionId)).toMatchObject({ owner: null });
      await store.cancel(cancelOf(executionId));
      expect(await headOf(executionId)).toMatchObject({ status: "cancelled", sequence: 4, owner: null });
    });

    test("reads many heads at once, and leaves out those that do not exist", async () => {
      const some = await Promise.all(Array.from({ length: 20 }, created));
      const ids = some.map(({ executionId }) => executionId);
      const heads = await store.heads(["nobody", ...ids, "\u{10ffff}", ...ids.slice(0, 3)]);
      expect(heads.map(({ executionId }) => executionId).sort()).toEqual([...ids].sort());
      expect(await store.heads([])).toEqual([]);
    });

    test("reads a thousand heads", async () => {
      const { executionId } = await created();
      const others = Array.from({ length: 999 }, () => randomUUID());
      expect(await store.heads([...others, executionId])).toHaveLength(1);
    });
  });
}
