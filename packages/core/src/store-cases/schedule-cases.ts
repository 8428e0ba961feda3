// The cases that the schedules of every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StoredSchedule } from "../store/schedule-store.ts";
import type { NewExecution, Store } from "../store/store.ts";
import { cancelOf, commitOf, event, execution, suspension } from "./store-cases.ts";

export function scheduleCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of schedules`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());

    const rowOf = (scheduleId: string, fields: Partial<StoredSchedule> = {}): StoredSchedule => ({
      ...{ scheduleId, kind: "schedule", workflowId: scheduleId, agentId: null, userId: null, dueAt: null },
      ...{ version: randomUUID(), body: '{"text":"a\\u0000ß"}', occurrences: "[]" },
      ...fields,
    });
    const write = async (row: StoredSchedule, expected: string | null = null, create?: NewExecution) =>
      store.schedules.change({ scheduleId: row.scheduleId, expected, row, create });
    const due = async (workflowIds: readonly string[], limit = 10, agentIds: readonly string[] = []) =>
      (await store.due({ workflowIds, agentIds, limit })).filter(({ kind }) => kind === "schedule");

    test("keeps a row, and replaces it only from the version that was read", async () => {
      const first = rowOf(randomUUID(), { userId: "Ada", dueAt: 5, occurrences: '[["a",1]]' });
      expect(await write(first)).toBe("written");
      expect(await store.schedules.read(first.scheduleId)).toEqual(first);
      const second = { ...first, version: randomUUID(), dueAt: null, body: "{}" };
      expect(await write(second, "another version")).toBe("changed");
      expect(await write(second)).toBe("changed");
      expect(await store.schedules.read(first.scheduleId)).toEqual(first);
      expect(await write(second, first.version)).toBe("written");
      expect(await store.schedules.read(first.scheduleId)).toEqual(second);
      expect(await store.schedules.read(randomUUID())).toBeUndefined();
      expect(await write(rowOf(randomUUID()), "a version")).toBe("changed");
    });

    test("a write that is repeated because its result was lost returns that result", async () => {
      const row = rowOf(randomUUID());
      expect([await write(row), await write(row)]).toEqual(["written", "written"]);
      const next = { ...row, version: randomUUID() };
      const made = execution({ executionId: `${row.scheduleId}@20270101T000000Z` });
      const calls = [await write(next, row.version, made), await write(next, row.version, made)];
      expect(calls).toEqual(["written", "written"]);
    });

    test("of several writers from one version one succeeds", async () => {
      const row = rowOf(randomUUID());
      const made = await Promise.all(
        Array.from({ length: 5 }, () => write({ ...row, version: randomUUID() })),
      );
      expect(made.filter((each) => each === "written")).toHaveLength(1);
      const { version = "" } = (await store.schedules.read(row.scheduleId)) ?? {};
      const changed = await Promise.all(
        Array.from({ length: 5 }, () => write({ ...row, version: randomUUID() }, version)),
      );
      expect(changed.filter((each) => each === "written")).toHaveLength(1);
    });

    test("creates an execution with the row, or neither", async () => {
      const row = rowOf(randomUUID());
      await write(row);
      const executionId = `${row.scheduleId}@20270328T010000Z`;
      const made = execution({ executionId, events: [event("workflow-start")] });
      const next = { ...row, version: randomUUID(), dueAt: 7 };
      expect(await write(next, "another version", made)).toBe("changed");
      expect(await store.state(executionId)).toBeUndefined();
      expect(await write(next, row.version, made)).toBe("written");
      expect((await store.state(executionId))?.execution).toMatchObject({ status: "running", sequence: 1 });
      expect(await store.events({ executionId, after: 0, limit: 10 })).toHaveLength(1);
      const again = { ...made, claim: { ...made.claim, token: randomUUID() } };
      const third = { ...row, version: randomUUID(), dueAt: 8 };
      expect(await write(third, next.version, again)).toBe("exists");
      expect(await store.schedules.read(row.scheduleId)).toEqual(next);
    });

    test("removes a row", async () => {
      const row = rowOf(randomUUID(), { dueAt: 1 });
      await write(row);
      const { scheduleId, workflowId, version } = row;
      const remove = (expected: string) => store.schedules.change({ scheduleId, expected, row: null });
      expect(await remove("another version")).toBe("changed");
      expect(await remove(version)).toBe("written");
      expect(await store.schedules.read(scheduleId)).toBeUndefined();
      expect(await due([workflowId])).toEqual([]);
      // The same call again, because its result was lost.
      expect(await remove(version)).toBe("written");
      expect(await write(row)).toBe("written");
    });

    test("schedules of the given workflows are due, the earliest first, as far as the limit", async () => {
      const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
      const workflowId = randomUUID();
      for (const [scheduleId, dueAt] of [
        [one, 30],
        [two, 10],
        [three, null],
      ] as const)
        await write(rowOf(scheduleId, { workflowId, dueAt }));
      const timer = (executionId: string, dueAt: number) => ({
        ...{ kind: "schedule", executionId, workflowId, dueAt },
      });
      expect(await due([workflowId])).toEqual([timer(two, 10), timer(one, 30)]);
      expect(await due([workflowId], 1)).toEqual([timer(two, 10)]);
      expect(await store.due({ workflowIds: [workflowId], after: 10, limit: 1 })).toEqual([timer(one, 30)]);
      expect(await due([randomUUID()])).toEqual([]);
      const { version = "" } = (await store.schedules.read(two)) ?? {};
      await write(rowOf(two, { workflowId, dueAt: 40 }), version);
      expect(await due([workflowId])).toEqual([timer(one, 30), timer(two, 40)]);
    });

    test("a list ends with the row that makes it long; a brief one has no bodies", async () => {
      const workflowId = randomUUID();
      for (const id of ["a", "b", "c"])
        await write(rowOf(`${workflowId}-${id}`, { workflowId, body: JSON.stringify("x".repeat(5_000)) }));
      const query = { kind: "schedule", workflowId, limit: 10 } as const;
      const idsIn = (rows: readonly { readonly scheduleId: string }[]) =>
        rows.map(({ scheduleId }) => scheduleId.slice(-1)).join("");
      expect(idsIn(await store.schedules.list({ ...query, length: 1 }))).toBe("a");
      expect(idsIn(await store.schedules.list({ ...query, length: 8_000 }))).toBe("ab");
      const rest = { ...query, after: `${workflowId}-b`, length: 8_000 };
      expect(idsIn(await store.schedules.list(rest))).toBe("c");
      const brief = await store.schedules.list({ ...query, length: 8_000, brief: true });
      expect([idsIn(brief), brief.map(({ body }) => body)]).toEqual(["abc", ["", "", ""]]);
    });

    test("a row may go to another workflow, agent and user", async () => {
      const [first, second, agentId] = [randomUUID(), randomUUID(), randomUUID()];
      const row = rowOf(randomUUID(), { workflowId: first, userId: "Ada", dueAt: 5 });
      await write(row);
      const moved = { ...row, workflowId: second, userId: "Ben", version: randomUUID() };
      expect(await write(moved, row.version)).toBe("written");
      expect(await store.schedules.read(row.scheduleId)).toEqual(moved);
      expect([(await due([first])).length, (await due([second])).length]).toEqual([0, 1]);
      const ofAgent = { ...row, workflowId: "", agentId, userId: null, version: randomUUID() };
      expect(await write(ofAgent, moved.version)).toBe("written");
      expect(await store.schedules.read(row.scheduleId)).toEqual(ofAgent);
      expect(await due([second])).toEqual([]);
      const timer = { kind: "schedule", executionId: row.scheduleId, workflowId: "", dueAt: 5 };
      expect(await due([second], 10, [agentId])).toEqual([timer]);
      const list = async (query: object) =>
        (await store.schedules.list({ kind: "schedule", limit: 10, ...query })).map(
          ({ scheduleId }) => scheduleId,
        );
      expect(await list({ agentId })).toEqual([row.scheduleId]);
      expect(await list({ workflowId: second })).toEqual([]);
    });

    test("lists rows of one kind by their ids, of a workflow and of a user", async () => {
      const workflowId = randomUUID();
      const ids = ["a", "B", "ä"].map((id) => `${id}${workflowId}`).sort();
      const userIds = ["Ada", null, "Ben"];
      for (const [index, scheduleId] of ids.entries())
        await write(rowOf(scheduleId, { workflowId, userId: userIds[index] ?? null }));
      await write(rowOf(randomUUID(), { workflowId, kind: "set" }));
      const list = async (query: Partial<Parameters<typeof store.schedules.list>[0]>) => {
        const rows = await store.schedules.list({ kind: "schedule", workflowId, limit: 10, ...query });
        return rows.map(({ scheduleId }) => scheduleId);
      };
      expect(await list({})).toEqual(ids);
      expect(await list({ limit: 2 })).toEqual(ids.slice(0, 2));
      expect(await list({ after: ids[0] })).toEqual(ids.slice(1));
      expect(await list({ userId: "Ben" })).toEqual(ids.slice(2));
      expect(await list({ kind: "set" })).toHaveLength(1);
      const [row] = await store.schedules.list({ kind: "schedule", workflowId, limit: 1 });
      expect(row).not.toHaveProperty("occurrences");
    });

    describe("deliveries", () => {
      const deliveryOf = (executionId: string, workflowId: string, fields: Partial<StoredSchedule> = {}) =>
        rowOf(`d/crm/9/${executionId}/000000000000005-${randomUUID()}`, {
          ...{ kind: "delivery", workflowId, dueAt: 5, ...fields },
        });

      test("are kept with the commit that opens their suspension, or ends the execution", async () => {
        const made = execution({ workflowId: randomUUID() });
        const { executionId, workflowId } = made;
        await store.create(made);
        const [opened, other, ended] = [0, 1, 2].map(() => deliveryOf(executionId, workflowId));
        if (opened === undefined || other === undefined || ended === undefined) throw new Error("three rows");
        const gate = suspension({ path: "gate" });
        const deliveries = [
          { row: opened, suspensionId: gate.suspensionId },
          { row: other, suspensionId: "one that is not opened" },
        ];
        const commit = commitOf(executionId, { open: [gate], deliveries });
        await store.commit(commit);
        expect(await store.schedules.read(opened.scheduleId)).toEqual(opened);
        expect(await store.schedules.read(other.scheduleId)).toBeUndefined();
        // Repeated because its result was lost: a row that has moved on stays.
        const moved = { ...opened, version: randomUUID(), dueAt: 7 };
        await write(moved, opened.version);
        await store.commit(commit);
        const end = { status: "completed", result: null, error: null } as const;
        const atEnd = [
          { row: ended, suspensionId: null },
          { row: { ...opened, version: randomUUID() }, suspensionId: null },
        ];
        await store.commit(commitOf(executionId, { number: 2, end, deliveries: atEnd }));
        expect(await store.schedules.read(opened.scheduleId)).toEqual(moved);
        const found = await store.due({ workflowIds: [workflowId], limit: 10 });
        expect(found).toEqual([
          { kind: "delivery", executionId: ended.scheduleId, workflowId, dueAt: 5 },
          { kind: "delivery", executionId: opened.scheduleId, workflowId, dueAt: 7 },
        ]);
        expect(await store.due({ workflowIds: [workflowId], after: 5, limit: 10 })).toEqual(found.slice(1));
      });

      test("share the limit of schedules, and keep no timeout out", async () => {
        const made = execution({ workflowId: randomUUID(), timeoutAt: 9 });
        const { executionId, workflowId } = made;
        await store.create(made);
        const rows = [5, 6].map((dueAt) => deliveryOf(executionId, workflowId, { dueAt }));
        for (const row of rows) await write(row);
        const found = await store.due({ workflowIds: [workflowId], limit: 1 });
        expect(found.map(({ kind, dueAt }) => [kind, dueAt])).toEqual([
          ["delivery", 5],
          ["timeout", 9],
        ]);
      });

      test("are kept with a cancellation, and not with one that is refused", async () => {
        const made = execution({ workflowId: randomUUID() });
        const { executionId, workflowId } = made;
        await store.create(made);
        const [first, second] = [0, 1].map(() => deliveryOf(executionId, workflowId));
        if (first === undefined || second === undefined) throw new Error("two rows");
        const cancel = (row: StoredSchedule) =>
          store.cancel(cancelOf(executionId, { deliveries: [{ row, suspensionId: null }] }));
        await cancel(first);
        await cancel(second);
        expect(await store.schedules.read(first.scheduleId)).toEqual(first);
        expect(await store.schedules.read(second.scheduleId)).toBeUndefined();
      });

      test("are listed between two ids, apart from schedules", async () => {
        const workflowId = randomUUID();
        const rows = ["a", "b", "c"].map((name) =>
          rowOf(`d/crm/9/e-${workflowId}/000000000000005-${name}`, { kind: "delivery", workflowId }),
        );
        for (const row of rows) await write(row);
        const [first, second, third] = rows.map(({ scheduleId }) => scheduleId);
        const list = async (query: { after?: string | undefined; before?: string | undefined }) =>
          (await store.schedules.list({ kind: "delivery", ...query, workflowId, limit: 10 })).map(
            ({ scheduleId }) => scheduleId,
          );
        expect(await list({ after: first })).toEqual([second, third]);
        expect(await list({ before: third })).toEqual([first, second]);
        expect(await store.schedules.list({ kind: "schedule", workflowId, limit: 10 })).toEqual([]);
      });
    });
  });
}
