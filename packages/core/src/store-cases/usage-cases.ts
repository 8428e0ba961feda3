// The cases that the usage of models of every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../store/store.ts";
import { type UsageEntry, type UsageQuery, type UsageTotal, usageFields } from "../store/usage-store.ts";
import { pauseOf } from "./pause-of.ts";
import { commitOf, event, execution } from "./store-cases.ts";

function entry(fields: Partial<UsageEntry> = {}): UsageEntry {
  return {
    ...{ day: 100, userId: "ann", agentId: "writer", workflowId: "publish", model: "scripted/one" },
    ...{ calls: 1, inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 2, outputTokens: 5 },
    ...{ reasoningTokens: 3, nanos: 1_500, unpricedCalls: 0 },
    ...fields,
  };
}

function totalOf(of: string, given: UsageEntry, times = 1): UsageTotal {
  const [calls, input, cached, written, output, reasoned, nanos, unpriced] = usageFields.map(
    (name) => given[name] * times,
  );
  return {
    of,
    ...{ calls: calls ?? 0, inputTokens: input ?? 0, cachedInputTokens: cached ?? 0 },
    ...{ cacheWriteTokens: written ?? 0, outputTokens: output ?? 0, reasoningTokens: reasoned ?? 0 },
    ...{ nanos: nanos ?? 0, unpricedCalls: unpriced ?? 0 },
  };
}

const used = { inputTokens: 10, outputTokens: 5, totalTokens: 15, calls: 1 };

export function usageCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of usage`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    const add = (entries: readonly UsageEntry[], writer = randomUUID(), number = 1) =>
      store.usage.add({ writer, number, entries });
    const totals = (query: Partial<UsageQuery>) =>
      store.usage.totals({ by: "day", from: 0, to: 1000, limit: 100, offset: 0, rows: 1000, ...query });

    test("usage of several processes is added up, by each part of its key", async () => {
      const userId = randomUUID();
      const one = entry({ userId });
      const other = entry({
        userId,
        day: 101,
        agentId: "editor",
        workflowId: "",
        model: "scripted/two",
        nanos: 9,
      });
      await Promise.all([add([one, other]), add([one]), add([one])]);
      expect(await totals({ userId })).toEqual([totalOf("101", other), totalOf("100", one, 3)]);
      expect(await totals({ userId, by: "userId" })).toMatchObject([{ of: userId, calls: 4, nanos: 4509 }]);
      expect(await totals({ userId, by: "agentId" })).toEqual([
        totalOf("writer", one, 3),
        totalOf("editor", other),
      ]);
      expect(await totals({ userId, by: "workflowId" })).toEqual([
        totalOf("publish", one, 3),
        totalOf("", other),
      ]);
      expect(await totals({ userId, by: "model" })).toEqual([
        totalOf("scripted/one", one, 3),
        totalOf("scripted/two", other),
      ]);
    });

    test("a batch that is written again adds nothing, the next one does", async () => {
      const userId = randomUUID();
      const writer = randomUUID();
      const once = [entry({ userId })];
      await add(once, writer, 1);
      await add(once, writer, 1);
      expect(await totals({ userId })).toMatchObject([{ calls: 1 }]);
      await add(once, writer, 2);
      expect(await totals({ userId })).toMatchObject([{ calls: 2 }]);
    });

    test("totals are filtered and read by page", async () => {
      const userId = randomUUID();
      const models = ["a", "b", "c", "d"];
      await add(models.map((model, index) => entry({ userId, model, nanos: index % 2, inputTokens: index })));
      const names = async (query: Partial<UsageQuery>) =>
        (await totals({ userId, by: "model", ...query })).map(({ of }) => of);
      expect(await names({})).toEqual(["d", "b", "c", "a"]);
      expect(await names({ limit: 2, offset: 1 })).toEqual(["b", "c"]);
      expect(await names({ model: "c" })).toEqual(["c"]);
      expect(await names({ agentId: "writer", workflowId: "publish", limit: 1 })).toEqual(["d"]);
      expect(await names({ agentId: "absent" })).toEqual([]);
      expect([await names({ from: 101 }), await names({ to: 100 })]).toEqual([[], []]);
    });

    test("so many rows are read, those of the newest days", async () => {
      const userId = randomUUID();
      await add([7, 8, 9].map((day) => entry({ userId, day })));
      const days = async (rows: number) => (await totals({ userId, rows })).map(({ of }) => of);
      expect(await days(3)).toEqual(["9", "8", "7"]);
      // Restate's SQL reads all rows.
      expect((await days(2)).slice(0, 2)).toEqual(["9", "8"]);
    });

    test("names of any text are kept apart", async () => {
      const model = randomUUID();
      const users = ["it's", "a\u001fb", 'a"b', "\\", "ü", ""];
      await add(users.map((userId, index) => entry({ model, userId, nanos: 100 - index })));
      expect((await totals({ model, by: "userId" })).map(({ of }) => of)).toEqual(users);
      expect(await totals({ model, userId: "it's" })).toMatchObject([{ calls: 1 }]);
    });

    test("a commit adds its usage once, however often it is repeated", async () => {
      const userId = randomUUID();
      const made = execution({ userId });
      await store.create(made);
      const first = commitOf(made.executionId, {
        usage: used,
        spent: [entry({ userId })],
        events: [event("a")],
      });
      expect((await store.commit(first)).kind).toBe("ok");
      await store.commit(first);
      const second = commitOf(made.executionId, {
        ...{ usage: used, events: [event("b")] },
        spent: [entry({ userId }), entry({ userId, agentId: "editor" })],
      });
      await store.commit(second);
      expect((await store.commit(first)).kind).toBe("ok");
      expect(await totals({ userId, by: "agentId" })).toEqual([
        totalOf("writer", entry(), 2),
        totalOf("editor", entry()),
      ]);
    });

    test("a commit that is refused adds none, one under a pause does", async () => {
      const userId = randomUUID();
      const made = execution({ userId });
      await store.create(made);
      const stale = commitOf(made.executionId, { token: "stale", usage: used, spent: [entry({ userId })] });
      expect((await store.commit({ ...stale, number: 1 })).kind).toBe("fenced");
      expect(await totals({ userId })).toEqual([]);
      const suspensionId = randomUUID();
      await store.pause(pauseOf(made.executionId, { suspensionId, reason: "", at: 3_000, userId }));
      const paused = { usage: used, spent: [entry({ userId })], events: [event("a")] };
      expect((await store.commit(commitOf(made.executionId, paused))).kind).toBe("paused");
      expect(await totals({ userId })).toMatchObject([{ calls: 1 }]);
    });

    test("commits of many executions at once are all added", async () => {
      const userId = randomUUID();
      // A store may tell the writes of executions apart by their tokens, which are random.
      const many = Array.from({ length: 12 }, () =>
        execution({ userId, claim: { owner: "here", token: randomUUID() } }),
      );
      await Promise.all(many.map((each) => store.create(each)));
      const spent = [entry({ userId }), entry({ userId, model: "scripted/two" })];
      await Promise.all(
        many.map(({ executionId, claim: { token } }) =>
          store.commit(commitOf(executionId, { token, usage: used, spent, events: [event("a")] })),
        ),
      );
      expect(await totals({ userId, by: "model" })).toMatchObject([{ calls: 12 }, { calls: 12 }]);
    });

    test("trimming removes old days, a bounded number at a time", async () => {
      const userId = randomUUID();
      await add([-4, -3, -2, 5].map((day) => entry({ userId, day })));
      const trim = () => store.usage.trim({ before: 0, limit: 2 });
      expect([await trim(), await trim(), await trim()]).toEqual([2, 1, 0]);
      expect(await totals({ userId, from: -10 })).toEqual([totalOf("5", entry())]);
    });
  });
}
