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
  });
}
