// The cases of a resume whose caller names the last event that it knows of.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Resume, Store, Suspension } from "../store/store.ts";
import { commitOf, event, execution, suspension } from "./store-cases.ts";

export function resumeCases(name: string, makeStore: () => Store): void {
  describe(`${name} resuming an execution with an expected last event`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(() => store.heartbeat({ owner: "there", lease: 60_000 }));

    /** An execution that waits, with a last event of the number 2 at 9 000. */
    const idle = async (...open: Suspension[]) => {
      const made = execution();
      await store.create(made);
      const last = event("workflow-suspended", { timestamp: 9_000 });
      await store.commit(commitOf(made.executionId, { open, idle: { resumes: 0, event: last } }));
      return made.executionId;
    };
    const resume = (executionId: string, suspensionId: string, fields: Partial<Resume>) =>
      store.resume({
        executionId,
        suspensionIds: [suspensionId],
        rewind: null,
        events: [event("workflow-resumed")],
        claim: { owner: "there", token: "new-token" },
        byDeadline: false,
        ...fields,
      });

    test("is refused when there are other events, although it is open", async () => {
      const [gate, other] = [suspension(), suspension({ path: "other" })];
      const executionId = await idle(gate, other);
      const at = 9_000;
      for (const sequence of [1, 3]) {
        const result = await resume(executionId, gate.suspensionId, { last: { sequence, at } });
        expect(result).toEqual({ kind: "refused" });
      }
      await resume(executionId, other.suspensionId, { claim: { owner: "there", token: "first" } });
      const late = await resume(executionId, gate.suspensionId, { last: { sequence: 2, at } });
      expect(late).toEqual({ kind: "refused" });
      const state = await store.state(executionId);
      expect(state?.execution).toMatchObject({ status: "suspended", sequence: 3, resumes: 1 });
      expect(state?.suspensions).toMatchObject([{ suspensionId: gate.suspensionId }]);
    });

    test("takes an idle execution, and no event is earlier than the last", async () => {
      const [gate, other] = [suspension(), suspension({ path: "other" })];
      const executionId = await idle(gate, other);
      const last = { sequence: 2, at: 9_000 };
      const unknown = await resume(executionId, suspension().suspensionId, { last });
      expect(unknown).toEqual({ kind: "refused" });
      const events = [event("workflow-resumed", { timestamp: 5_000 })];
      expect(await resume(executionId, gate.suspensionId, { events, last })).toMatchObject({
        kind: "claimed",
        events: [{ sequence: 3, timestamp: 9_000 }],
      });
      const between = await store.state(executionId);
      expect(between?.execution).toMatchObject({ status: "suspended", sequence: 3, resumes: 1 });
      expect(between?.suspensions).toMatchObject([{ suspensionId: other.suspensionId }]);
      // It has an owner now.
      const claim = { owner: "there", token: "another" };
      const owned = { claim, last: { sequence: 3, at: 9_000 } };
      expect(await resume(executionId, other.suspensionId, owned)).toMatchObject({
        kind: "owned",
        events: [{ sequence: 4 }],
      });
      const state = await store.state(executionId);
      expect(state?.execution).toMatchObject({ status: "running", sequence: 4, resumes: 2 });
      const commit = commitOf(executionId, { token: "new-token", events: [event("step-complete")] });
      expect(await store.commit(commit)).toEqual({ kind: "ok", sequence: 5, idle: false });
    });

    test("goes back to an earlier step only when there are no other events", async () => {
      const gate = suspension();
      const executionId = await idle(gate);
      const rewind = { stepIndex: 0 };
      const early = await resume(executionId, gate.suspensionId, { rewind, last: { sequence: 1, at: 1 } });
      expect(early).toEqual({ kind: "refused" });
      const now = await resume(executionId, gate.suspensionId, { rewind, last: { sequence: 2, at: 9_000 } });
      expect(now.kind).toBe("claimed");
    });

    describe("with a decision before the step waits", () => {
      const decide = (executionId: string, token: string, fields: Partial<Resume> = {}) =>
        store.resume({
          ...{ executionId, suspensionIds: [], rewind: null, byDeadline: false },
          events: [event("workflow-resumed", { path: "gate", value: token })],
          claim: { owner: "there", token },
          early: { path: "gate", resumes: 0 },
          ...fields,
        });
      const running = async () => {
        const made = execution();
        await store.create(made);
        return made.executionId;
      };

      test("keeps it, and the suspension is not opened", async () => {
        const executionId = await running();
        expect(await decide(executionId, "first")).toMatchObject({
          kind: "kept",
          events: [{ type: "workflow-resumed", sequence: 2, value: "first" }],
        });
        const idle = { resumes: 0, event: null };
        const open = [suspension({ path: "gate" }), suspension({ path: "other" })];
        const result = await store.commit(commitOf(executionId, { open, idle }));
        // The owner does not know of the decision, so it does not go idle.
        expect(result).toMatchObject({ kind: "ok", idle: false });
        const state = await store.state(executionId);
        expect(state?.suspensions.map(({ path }) => path)).toEqual(["other"]);
        expect(state?.execution).toMatchObject({ status: "suspended", resumes: 1, links: null });
        // It counts for one wait.
        const again = [suspension({ path: "gate" })];
        await store.commit(commitOf(executionId, { number: 2, open: again }));
        expect((await store.state(executionId))?.suspensions).toHaveLength(2);
      });

      test("an owner that knows of it uses it up", async () => {
        const executionId = await running();
        await decide(executionId, "first");
        await store.commit(commitOf(executionId, { takes: ["gate"] }));
        expect((await store.state(executionId))?.execution).toMatchObject({ links: null, status: "running" });
        await store.commit(commitOf(executionId, { number: 2, open: [suspension({ path: "gate" })] }));
        expect((await store.state(executionId))?.suspensions).toHaveLength(1);
      });

      test("repeated because its result was lost, it returns that result; another one is refused", async () => {
        const executionId = await running();
        const first = await decide(executionId, "first");
        expect(await decide(executionId, "first")).toEqual(first);
        const early = { path: "gate", resumes: 1 };
        expect(await decide(executionId, "second", { early })).toEqual({ kind: "refused" });
        const elsewhere = { early: { path: "elsewhere", resumes: 1 } };
        expect(await decide(executionId, "third", elsewhere)).toMatchObject({ kind: "kept" });
        expect((await store.state(executionId))?.execution).toMatchObject({ sequence: 3, resumes: 2 });
      });

      test("of several at once one is kept", async () => {
        const executionId = await running();
        const results = await Promise.all(["a", "b", "c", "d"].map((token) => decide(executionId, token)));
        expect(results.filter(({ kind }) => kind === "kept")).toHaveLength(1);
        expect((await store.state(executionId))?.execution).toMatchObject({ sequence: 2, resumes: 1 });
      });

      test("is refused after a resume that its caller has not read, where the step waits, and after the end", async () => {
        const executionId = await running();
        expect(await decide(executionId, "early", { early: { path: "gate", resumes: 1 } })).toEqual({
          kind: "refused",
        });
        await store.commit(commitOf(executionId, { open: [suspension({ path: "gate" })] }));
        expect(await decide(executionId, "open")).toEqual({ kind: "refused" });
        const end = { status: "completed", result: null, error: null } as const;
        await store.commit(commitOf(executionId, { number: 2, end }));
        expect(await decide(executionId, "late")).toEqual({ kind: "refused" });
        expect((await store.state(executionId))?.execution).toMatchObject({ sequence: 1, resumes: 0 });
        expect(await decide("no-such-execution", "none")).toEqual({ kind: "refused" });
      });

      test("a rewind drops it", async () => {
        const executionId = await running();
        await decide(executionId, "first");
        const waiting = suspension({ path: "other" });
        await store.commit(commitOf(executionId, { open: [waiting] }));
        const claim = { owner: "there", token: "rewound" };
        await resume(executionId, waiting.suspensionId, {
          ...{ rewind: { stepIndex: 0 }, claim, events: [event("execution-rewound")] },
        });
        const later = { token: claim.token, open: [suspension({ path: "gate" })] };
        await store.commit(commitOf(executionId, later));
        expect((await store.state(executionId))?.suspensions).toHaveLength(1);
      });
    });
  });
}
