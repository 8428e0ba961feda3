// The cases of executions with a parent or children that every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NewExecution, Store } from "../store/store.ts";
import { cancelOf, commitOf, event, execution, suspension } from "./store-cases.ts";

const links = JSON.stringify({ parent: { executionId: "above", path: "ask#call[0].tool[0].child" } });
const end = { status: "completed", result: '"done"', error: null } as const;

export function linkCases(name: string, makeStore: () => Store): void {
  describe(`${name} with linked executions`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());

    const created = async (fields: Partial<NewExecution> = {}) => {
      const made = execution({ workflowId: randomUUID(), links, ...fields });
      await store.create(made);
      return made;
    };
    const finish = (executionId: string) =>
      store.commit(
        commitOf(executionId, { end, following: [event("workflow-complete", { timestamp: 77 })] }),
      );
    const due = ({ workflowId }: NewExecution) => store.due({ workflowIds: [workflowId], limit: 10 });
    const endOf = ({ executionId, workflowId }: NewExecution) => ({
      kind: "end",
      executionId,
      workflowId,
      dueAt: expect.any(Number),
    });

    test("links are kept with the execution, and an execution without them has none", async () => {
      const child = await created();
      const plain = execution();
      await store.create(plain);
      expect((await store.state(child.executionId))?.execution.links).toBe(links);
      expect((await store.state(plain.executionId))?.execution.links).toBe(null);
      const [listed] = await store.list({ workflowId: child.workflowId, limit: 1 });
      expect(listed?.links).toBe(links);
    });

    test("the end of one that has links is due until it has been handled", async () => {
      const child = await created();
      expect(await due(child), "it runs").toEqual([]);
      expect(await finish(child.executionId)).toMatchObject({ kind: "ok" });
      expect(await due(child)).toEqual([endOf(child)]);
      expect(await store.due({ workflowIds: ["other"], limit: 10 })).toEqual([]);
      const claim = { owner: "there", token: "taken" };
      expect(await store.wake({ executionId: child.executionId, now: 100, claim })).toBe(false);
      await store.endHandled({ executionId: child.executionId });
      await store.endHandled({ executionId: child.executionId });
      expect(await due(child)).toEqual([]);
      expect((await store.state(child.executionId))?.execution).toMatchObject({ status: "completed", links });
    });

    test("so is the end by a cancellation, in place of its other timers", async () => {
      const child = await created();
      const timers = [{ path: "nap", dueAt: 5 }];
      await store.commit(commitOf(child.executionId, { timers, idle: { resumes: 0, event: null } }));
      await store.cancel(
        cancelOf(child.executionId, { event: event("workflow-cancelled", { timestamp: 77 }) }),
      );
      expect(await due(child)).toEqual([endOf(child)]);
    });

    test("the end of one without links is never due, nor is one that runs handled", async () => {
      const plain = await created({ links: null });
      await finish(plain.executionId);
      expect(await due(plain)).toEqual([]);
      const child = await created();
      const timers = [{ path: "nap", dueAt: 5 }];
      await store.commit(commitOf(child.executionId, { timers, idle: { resumes: 0, event: null } }));
      await store.endHandled({ executionId: child.executionId });
      expect(await due(child)).toMatchObject([{ kind: "timer", dueAt: 5 }]);
    });

    test("a commit marks that it has children: its end is due, and its own links stay", async () => {
      const parent = await created({ links: null });
      const nested = await created();
      for (const { executionId } of [parent, nested]) {
        const open = [suspension({ path: "ask#call[0].tool[0].child" })];
        await store.commit(
          commitOf(executionId, { open, hasChildren: true, idle: { resumes: 0, event: null } }),
        );
        await store.cancel(cancelOf(executionId, { event: event("workflow-cancelled", { timestamp: 77 }) }));
      }
      expect([...(await due(parent)), ...(await due(nested))]).toEqual([endOf(parent), endOf(nested)]);
      const linksOf = async ({ executionId }: NewExecution) =>
        JSON.parse((await store.state(executionId))?.execution.links ?? "null");
      expect(await linksOf(parent)).toEqual({ children: true });
      expect(await linksOf(nested)).toEqual({ ...JSON.parse(links), children: true });
    });

    test("a wait for another execution is no task for a person", async () => {
      const { executionId, workflowId } = await created({ links: null });
      const task = suspension({ path: "a.child" });
      const open = [suspension({ path: "ask#call[0].tool[0].child" }), task];
      await store.commit(commitOf(executionId, { open, hasChildren: true }));
      const waiting = await store.waiting({ workflowId, limit: 10 });
      expect(waiting.map((each) => each.suspension.suspensionId)).toEqual([task.suspensionId]);
    });

    test("an end that was not handled is deleted with its execution", async () => {
      const child = await created();
      await finish(child.executionId);
      const upTo = { endAt: 77, executionId: child.executionId };
      for (let more = true; more; )
        ({ more } = await store.deleteFinished({ upTo, limit: 100, events: 10_000 }));
      expect(await due(child)).toEqual([]);
    });
  });
}
