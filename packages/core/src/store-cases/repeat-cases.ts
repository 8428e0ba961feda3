// The cases of a write whose result was lost on the way: repeated, it returns the first result and changes nothing.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Commit, Resume, Store } from "../store/store.ts";
import { pauseOf } from "./pause-of.ts";
import { cancelOf, commitOf, event, execution, suspension } from "./store-cases.ts";

const completed = { status: "completed", result: '"done"', error: null } as const;

export function repeatCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store whose results are lost`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(() => store.heartbeat({ owner: "here", lease: 60_000 }));

    const created = async () => {
      const made = execution({ workflowId: randomUUID() });
      await store.create(made);
      return made;
    };
    const everything = async (executionId: string) => ({
      state: await store.state(executionId),
      events: await store.events({ executionId, after: 0, limit: 1_000 }),
    });
    /** Does it twice: the results are the same, and the second changes nothing. */
    const twice = async <Result>(executionId: string, write: () => Promise<Result>) => {
      const first = await write();
      const before = await everything(executionId);
      expect(await write()).toEqual(first);
      expect(await everything(executionId)).toEqual(before);
      return first;
    };
    const commitTwice = (executionId: string, fields: Partial<Commit>) => {
      const commit = commitOf(executionId, fields);
      return twice(executionId, () => store.commit(commit));
    };
    const resumeOf = (executionId: string, suspensionId: string, token: string): Resume => ({
      executionId,
      suspensionIds: [suspensionId],
      rewind: null,
      events: [event("workflow-resumed", { value: "1" })],
      claim: { owner: "here", token },
      byDeadline: false,
    });

    test("create", async () => {
      const made = execution();
      expect(await twice(made.executionId, () => store.create(made))).toEqual({ created: true });
    });

    test("commit of outcomes and following events", async () => {
      const { executionId } = await created();
      const fields = { events: [event("step-complete")], following: [event("step-start")] };
      expect(await commitTwice(executionId, fields)).toEqual({ kind: "ok", sequence: 3, idle: false });
      expect(await store.commit(commitOf(executionId, fields))).toMatchObject({ kind: "ok", sequence: 5 });
    });

    test("commit, after others have written to the journal", async () => {
      const { executionId } = await created();
      const commit = commitOf(executionId, { events: [event("step-complete")] });
      const first = await store.commit(commit);
      await store.pause(pauseOf(executionId, { suspensionId: randomUUID() }));
      expect(await store.commit(commit)).toEqual(first);
      expect((await everything(executionId)).events).toHaveLength(3);
    });

    test("commit of an end", async () => {
      const { executionId } = await created();
      const following = [event("workflow-complete")];
      expect(await commitTwice(executionId, { following, end: completed })).toMatchObject({ kind: "ok" });
    });

    test("commit of an end that closes suspensions", async () => {
      const { executionId } = await created();
      await store.commit(commitOf(executionId, { events: [event("step-suspended")], open: [suspension()] }));
      const end = { following: [event("workflow-complete")], end: completed };
      expect(await commitTwice(executionId, end)).toEqual({ kind: "ok", sequence: 3, idle: false });
    });

    test("commit while the execution is paused", async () => {
      const { executionId } = await created();
      await store.pause(pauseOf(executionId, { suspensionId: randomUUID() }));
      const fields = { events: [event("step-complete")], following: [event("step-start")] };
      expect(await commitTwice(executionId, fields)).toMatchObject({ kind: "paused", sequence: 3 });
    });

    test("commit of only following events, under a pause that has ended since", async () => {
      const { executionId } = await created();
      const suspensionId = randomUUID();
      await store.pause(pauseOf(executionId, { suspensionId }));
      const commit = commitOf(executionId, { following: [event("step-start")] });
      expect(await store.commit(commit)).toMatchObject({ kind: "paused" });
      await store.resume(resumeOf(executionId, suspensionId, randomUUID()));
      expect(await store.commit(commit)).toMatchObject({ kind: "paused" });
    });

    test("commit that goes idle", async () => {
      const { executionId } = await created();
      const open = [suspension()];
      const idle = { resumes: 0, event: event("workflow-suspended") };
      const fields = { events: [event("step-suspended")], open, idle };
      expect(await commitTwice(executionId, fields)).toEqual({ kind: "ok", sequence: 3, idle: true });
    });

    test("commit of timers alone", async () => {
      const { executionId } = await created();
      await commitTwice(executionId, { timers: [{ path: "nap", dueAt: 5 }] });
    });

    test("commit with the usage of agents counts it once", async () => {
      const { executionId } = await created();
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, calls: 1 };
      await commitTwice(executionId, { events: [event("step-complete")], usage });
      expect((await store.state(executionId))?.usage).toEqual(usage);
    });

    test("a commit that another owner overtook is fenced, not taken for a repeated one", async () => {
      const { executionId, workflowId } = await created();
      await store.heartbeat({ owner: "here", lease: 0 });
      const query = { owner: "there", key: randomUUID(), workflowIds: [workflowId], limit: 1 };
      await store.claimAbandoned({ ...query, suspects: false, suspectAfter: 9 });
      expect(await store.commit(commitOf(executionId, { events: [event("step-complete")] }))).toMatchObject({
        kind: "fenced",
      });
    });

    test("pause", async () => {
      const { executionId } = await created();
      const pause = pauseOf(executionId, { suspensionId: randomUUID() });
      expect(await twice(executionId, () => store.pause(pause))).toMatchObject({ kind: "paused" });
      await store.resume(resumeOf(executionId, pause.suspension.suspensionId, randomUUID()));
      expect(await store.pause(pause)).toMatchObject({ kind: "paused" });
      expect((await store.state(executionId))?.execution.status).toBe("running");
    });

    test("resume, of an execution without an owner and of one that is owned", async () => {
      for (const idle of [{ resumes: 0, event: null }, null]) {
        const { executionId } = await created();
        const gate = suspension();
        await store.commit(commitOf(executionId, { open: [gate], idle }));
        const resume = resumeOf(executionId, gate.suspensionId, randomUUID());
        const first = await twice(executionId, () => store.resume(resume));
        expect(first.kind).toBe(idle === null ? "owned" : "claimed");
        const other = resumeOf(executionId, gate.suspensionId, randomUUID());
        expect(await store.resume(other)).toEqual({ kind: "refused" });
      }
    });

    test("resume by a caller that names the last event", async () => {
      const { executionId } = await created();
      const open = suspension();
      const idle = { resumes: 0, event: event("workflow-suspended") };
      await store.commit(commitOf(executionId, { open: [open], idle }));
      const resume = {
        ...resumeOf(executionId, open.suspensionId, randomUUID()),
        last: { sequence: 2, at: 1_000 },
      };
      expect(await twice(executionId, () => store.resume(resume))).toMatchObject({ kind: "claimed" });
    });

    test("cancel", async () => {
      const { executionId } = await created();
      const cancel = cancelOf(executionId);
      expect(await twice(executionId, () => store.cancel(cancel))).toMatchObject({ kind: "cancelled" });
      expect(await store.cancel(cancelOf(executionId))).toEqual({ kind: "refused", status: "cancelled" });
    });

    test("wake", async () => {
      const { executionId } = await created();
      const timers = [{ path: "nap", dueAt: 5 }];
      await store.commit(commitOf(executionId, { timers, idle: { resumes: 0, event: null } }));
      const claim = { owner: "here", token: randomUUID() };
      expect(await twice(executionId, () => store.wake({ executionId, now: 9, claim }))).toBe(true);
    });

    test("claimAbandoned", async () => {
      const { executionId, workflowId } = await created();
      await store.heartbeat({ owner: "here", lease: 0 });
      const query = { owner: "there", key: randomUUID(), workflowIds: [workflowId], limit: 5 };
      const poll = () => store.claimAbandoned({ ...query, suspects: false, suspectAfter: 9 });
      expect(await twice(executionId, poll)).toHaveLength(1);
    });
  });
}
