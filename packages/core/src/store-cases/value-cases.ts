// The cases of values that are kept once, and of the usage of agents.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Commit, Store } from "../store/store.ts";
import { commitOf, event, execution } from "./store-cases.ts";

const long = (letter: string) => JSON.stringify(letter.repeat(1_000));
const same = (sameAs: number) => ({ sameAs });

export function valueCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of values`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());

    const valuesOf = async (executionId: string, after = 0, limit = 100) =>
      (await store.events({ executionId, after, limit })).map(({ value }) => value);
    const end = (result: NonNullable<Commit["end"]>["result"]) =>
      ({ status: "completed", result, error: null }) as const;

    test("an event that refers to the input, to an event or to one of the same write is read with the value", async () => {
      const made = execution({
        input: long("i"),
        events: [event("workflow-start"), { ...event("step-start"), value: same(0) }],
      });
      const { executionId } = made;
      await store.create(made);
      await store.commit(
        commitOf(executionId, {
          events: [event("step-complete", { value: long("a") })],
          following: [{ ...event("step-start"), value: same(-1) }],
        }),
      );
      await store.commit(
        commitOf(executionId, {
          events: [{ ...event("step-complete"), value: same(3) }],
          following: [{ ...event("step-start"), value: same(-1) }],
        }),
      );
      expect(await valuesOf(executionId)).toEqual([
        null,
        long("i"),
        long("a"),
        long("a"),
        long("a"),
        long("a"),
      ]);
      // Also where the page does not hold the referenced event.
      expect(await valuesOf(executionId, 1, 1)).toEqual([long("i")]);
      expect(await valuesOf(executionId, 3, 1)).toEqual([long("a")]);
      expect(await valuesOf(executionId, 5)).toEqual([long("a")]);
    });

    test("a page ends where its length is reached, also in the middle of a write", async () => {
      const made = execution({
        events: [long("a"), long("b"), long("c")].map((value) => event("a", { value })),
      });
      await store.create(made);
      const { executionId } = made;
      const read = (after: number) => store.events({ executionId, after, limit: 10, length: 1_500 });
      expect((await read(0)).map(({ sequence }) => sequence)).toEqual([1, 2]);
      expect((await read(2)).map(({ sequence }) => sequence)).toEqual([3]);
    });

    test("a long result is that of the last event, also when that refers to another", async () => {
      for (const last of [long("r"), same(2)]) {
        const made = execution({ events: [event("workflow-start"), event("a", { value: long("r") })] });
        const { executionId } = made;
        await store.create(made);
        const following = [{ ...event("workflow-complete"), value: last }];
        await store.commit(commitOf(executionId, { following, end: end({ sameAs: -1 }) }));
        expect((await store.state(executionId))?.execution.result).toBe(long("r"));
      }
    });

    test("a short result is in the row", async () => {
      const made = execution();
      await store.create(made);
      await store.commit(
        commitOf(made.executionId, { following: [event("workflow-complete")], end: end("7") }),
      );
      expect((await store.state(made.executionId))?.execution.result).toBe("7");
    });

    test("the usage of agents is summed up, from the creation on", async () => {
      const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
      const made = execution({ usage });
      const { executionId } = made;
      await store.create(made);
      for (let n = 0; n < 2; n++) await store.commit(commitOf(executionId, { events: [event("a")], usage }));
      const total = { inputTokens: 3, outputTokens: 6, totalTokens: 9, calls: 3 };
      expect((await store.state(executionId))?.usage).toEqual(total);
      const none = execution();
      await store.create(none);
      expect((await store.state(none.executionId))?.usage).toBeNull();
    });
  });
}
