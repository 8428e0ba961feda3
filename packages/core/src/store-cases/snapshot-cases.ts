// The cases of snapshots: the newest stays, and it goes with its execution.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Snapshot, Store } from "../store/store.ts";
import { cancelOf, commitOf, event, execution } from "./store-cases.ts";

export function snapshotCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of snapshots`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());

    /** An execution with four events. */
    const created = async () => {
      const made = execution({ workflowId: randomUUID() });
      await store.create(made);
      const events = [event("step-complete"), event("step-start"), event("step-complete")];
      await store.commit(commitOf(made.executionId, { events }));
      return made;
    };
    const snapshotOf = (executionId: string, sequence: number, fields: Partial<Snapshot> = {}): Snapshot => {
      return { executionId, sequence, format: 1, body: `{"at":${sequence}}`, ...fields };
    };

    test("none is kept at first", async () => {
      const { executionId } = await created();
      expect(await store.snapshot(executionId)).toBeUndefined();
      expect(await store.snapshot("nobody")).toBeUndefined();
    });

    test("a newer one takes the place of an older, also in another format", async () => {
      const { executionId } = await created();
      await store.keepSnapshot(snapshotOf(executionId, 2));
      expect(await store.snapshot(executionId)).toEqual(snapshotOf(executionId, 2));
      const newer = snapshotOf(executionId, 4, { format: 2, body: `"\\u0000 'quoted' 🎼"` });
      await store.keepSnapshot(newer);
      expect(await store.snapshot(executionId)).toEqual(newer);
    });

    test("an older one, or the same again, changes nothing", async () => {
      const { executionId } = await created();
      const kept = snapshotOf(executionId, 3);
      for (let time = 1; time <= 2; time++) await store.keepSnapshot(kept);
      await store.keepSnapshot(snapshotOf(executionId, 3, { body: "another" }));
      await store.keepSnapshot(snapshotOf(executionId, 2, { format: 9 }));
      expect(await store.snapshot(executionId)).toEqual(kept);
    });

    test("of two at once the newer stays, whichever comes first", async () => {
      const { executionId } = await created();
      const both = [snapshotOf(executionId, 4), snapshotOf(executionId, 3)];
      await Promise.all(both.map((each) => store.keepSnapshot(each)));
      expect(await store.snapshot(executionId)).toEqual(snapshotOf(executionId, 4));
    });

    test("one that is ahead of its journal is not kept", async () => {
      const { executionId } = await created();
      await store.keepSnapshot(snapshotOf(executionId, 5));
      expect(await store.snapshot(executionId)).toBeUndefined();
    });

    test("none is kept of an execution that is not there or has ended", async () => {
      await store.keepSnapshot(snapshotOf("nobody", 1));
      expect(await store.snapshot("nobody")).toBeUndefined();
      const { executionId } = await created();
      await store.cancel(cancelOf(executionId));
      await store.keepSnapshot(snapshotOf(executionId, 4));
      expect(await store.snapshot(executionId)).toBeUndefined();
    });

    test("nothing else changes with it", async () => {
      const { executionId } = await created();
      const read = async () => [
        await store.state(executionId),
        await store.events({ executionId, after: 0, limit: 100 }),
      ];
      const before = await read();
      await store.keepSnapshot(snapshotOf(executionId, 4));
      expect(await read()).toEqual(before);
    });

    test("it is deleted with its execution", async () => {
      const { executionId } = await created();
      await store.keepSnapshot(snapshotOf(executionId, 4));
      await store.cancel(cancelOf(executionId));
      const upTo = { endAt: Number.MAX_SAFE_INTEGER, executionId: "~" };
      while ((await store.deleteFinished({ upTo, limit: 100, events: 100 })).more);
      expect(await store.state(executionId)).toBeUndefined();
      expect(await store.snapshot(executionId)).toBeUndefined();
    });
  });
}
