// The cases of timers, deadlines and timeouts that every store must pass.
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Commit, NewExecution, Store } from "../store/store.ts";
import { pauseOf } from "./pause-of.ts";
import { cancelOf, commitOf, event, execution, suspension } from "./store-cases.ts";

const claim = { owner: "there", token: "new-token" };
const idle = { idle: { resumes: 0, event: null } };

export function timerCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of times`, () => {
    let store: Store;
    let workflowId: string;
    let workflows = 0;

    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(() => {
      workflowId = `timers-${++workflows}`;
    });

    const created = async (fields: Partial<NewExecution> = {}) => {
      const made = execution({ workflowId, ...fields });
      await store.create(made);
      return made.executionId;
    };
    const sleeping = async (dueAt: number, path = "nap") => {
      const executionId = await created();
      await store.commit(commitOf(executionId, { timers: [{ path, dueAt }], ...idle }));
      return executionId;
    };
    const due = (limit = 10) => store.due({ workflowIds: [workflowId], limit });
    const timersOf = async (executionId: string) => (await store.state(executionId))?.timers;

    test("a commit sets timers, one for a path, and clears them", async () => {
      const executionId = await created();
      const both = [
        { path: "a", dueAt: 5 },
        { path: "b", dueAt: 6 },
      ];
      await store.commit(commitOf(executionId, { timers: both }));
      await store.commit(commitOf(executionId, { timers: [{ path: "a", dueAt: 7 }], clear: ["b"] }));
      expect(await timersOf(executionId)).toEqual([{ path: "a", dueAt: 7 }]);
    });

    test("ids and paths as long as they may be have timers", async () => {
      // In any order: a database that packs texts cannot shorten them.
      const text = (length: number) =>
        String.fromCharCode(...Array.from({ length }, () => 0x4e00 + randomInt(0x5000)));
      const executionId = await created({ executionId: text(200), workflowId: text(200) });
      const path = `${text(333)}#${text(200)}`;
      await store.commit(commitOf(executionId, { timers: [{ path, dueAt: 5 }] }));
      expect(await timersOf(executionId)).toEqual([{ path, dueAt: 5 }]);
      await store.commit(commitOf(executionId, { clear: [path] }));
      expect(await timersOf(executionId)).toEqual([]);
    });

    test("while the execution is paused a commit changes no timer", async () => {
      const executionId = await created();
      await store.commit(commitOf(executionId, { timers: [{ path: "a", dueAt: 5 }] }));
      await store.pause(pauseOf(executionId, { suspensionId: `pause-${executionId}` }));
      const result = await store.commit(
        commitOf(executionId, { timers: [{ path: "b", dueAt: 5 }], clear: ["a"] }),
      );
      expect(result.kind).toBe("paused");
      expect(await timersOf(executionId)).toEqual([{ path: "a", dueAt: 5 }]);
    });

    test("the end of an execution clears its timers, and so does a cancellation", async () => {
      const ended = await created();
      await store.commit(commitOf(ended, { timers: [{ path: "a", dueAt: 5 }] }));
      const end = { status: "completed", result: null, error: null } as const;
      await store.commit(commitOf(ended, { clear: ["a"], end, following: [event("workflow-complete")] }));
      const cancelled = await sleeping(5);
      await store.cancel(cancelOf(cancelled));
      expect([await timersOf(ended), await timersOf(cancelled), await due()]).toEqual([[], [], []]);
    });

    test("due timers come in order, of the workflows asked for, up to the limit of each kind", async () => {
      const late = await sleeping(30);
      const early = await sleeping(10);
      const gate = await created();
      await store.commit(
        commitOf(gate, { open: [suspension({ deadline: 20, onDeadline: '"fail"' })], ...idle }),
      );
      const slow = await created({ timeoutAt: 15 });
      const found = await due();
      expect(found.map(({ kind, executionId, dueAt }) => [kind, executionId, dueAt])).toEqual([
        ["timer", early, 10],
        ["timeout", slow, 15],
        ["deadline", gate, 20],
        ["timer", late, 30],
      ]);
      expect(found[2]).toMatchObject({ path: "gate", stepIndex: 0, workflowId });
      const first = (await due(1)).map(({ executionId }) => executionId);
      expect(first, "of timers, and of deadlines and timeouts together").toEqual([early, slow]);
      expect(await store.due({ workflowIds: ["other"], limit: 10 })).toEqual([]);
    });

    test("due timers of each kind are found behind a time", async () => {
      const sleepers = [await sleeping(30), await sleeping(10), await sleeping(20), await sleeping(20)];
      const gate = await created();
      await store.commit(
        commitOf(gate, { open: [suspension({ deadline: 25, onDeadline: '"fail"' })], ...idle }),
      );
      const slow = await created({ timeoutAt: 21 });
      await created({ timeoutAt: 20 });
      const found = async (after: number, limit = 10) =>
        (await store.due({ workflowIds: [workflowId], after, limit })).map(({ executionId }) => executionId);
      expect(await found(20)).toEqual([slow, gate, sleepers[0]]);
      expect(await found(20, 1)).toEqual([slow, sleepers[0]]);
      expect((await found(9)).length).toBe(7);
      expect(await found(30)).toEqual([]);
      for (let at = 100; at < 300; at++) await sleeping(at);
      expect((await found(280, 5)).length).toBe(5);
      expect((await found(296, 5)).length).toBe(3);
    });

    test("a deadline and a timeout carry the earliest timer of an execution without an owner", async () => {
      const timers = [
        { path: "a", dueAt: 30 },
        { path: "b", dueAt: 10 },
      ];
      const open = () => [suspension({ deadline: 20, onDeadline: '"fail"' })];
      const limits = async (fields: Partial<Commit>, afterwards?: (executionId: string) => Promise<void>) => {
        const executionId = await created({ timeoutAt: 25 });
        await store.commit(commitOf(executionId, { timers, open: open(), ...fields }));
        await afterwards?.(executionId);
        return (await due()).flatMap((each) =>
          each.executionId === executionId && "timerAt" in each ? [[each.kind, each.timerAt]] : [],
        );
      };
      const alone = [
        ["deadline", 10],
        ["timeout", 10],
      ];
      const left = [
        ["deadline", null],
        ["timeout", null],
      ];
      await store.heartbeat({ owner: "here", lease: 60_000 });
      expect(await limits(idle)).toEqual(alone);
      expect(await limits({}), "its owner processes its timers").toEqual(left);
      const token = "token";
      const giveBack = (executionId: string) => store.release({ executionId, token });
      expect(await limits({}, giveBack), "given back").toEqual(alone);
      const parked = (executionId: string) => store.park({ executionId, token, reason: "", definition: "d" });
      expect(await limits({}, parked), "nobody may run it").toEqual(left);
      const crash = () => store.heartbeat({ owner: "here", lease: 0 });
      expect(await limits({}, crash), "its owner has died").toEqual(alone);
    });

    test("timers of an execution that is running are left to its owner", async () => {
      const executionId = await created();
      await store.commit(commitOf(executionId, { timers: [{ path: "a", dueAt: 1 }] }));
      expect(await due()).toEqual([]);
      expect(await store.wake({ executionId, now: 9, claim })).toBe(false);
    });

    test("waking claims it, once, and not before its time", async () => {
      const executionId = await sleeping(10);
      expect(await store.wake({ executionId, now: 9, claim })).toBe(false);
      const other = { ...claim, token: "another-token" };
      const both = [claim, other].map((each) => store.wake({ executionId, now: 10, claim: each }));
      expect((await Promise.all(both)).sort()).toEqual([false, true]);
      const results = [];
      for (const { token } of [claim, other])
        results.push((await store.commit(commitOf(executionId, { token, clear: ["nap"] }))).kind);
      expect(results.toSorted()).toEqual(["fenced", "ok"]);
      expect(await due()).toEqual([]);
    });

    test("a resume that lifts a pause moves the timeout by the time that the pause lasted", async () => {
      const lift = (executionId: string, pausedFor?: number) =>
        store.resume({
          executionId,
          suspensionIds: [`pause-${executionId}`],
          rewind: null,
          events: [event("workflow-resumed")],
          claim: { owner: "there", token: "lifted" },
          byDeadline: false,
          ...(pausedFor !== undefined && { pausedFor }),
        });
      const timeoutAfter = async (timeoutAt: number | null, pausedFor?: number) => {
        const made = execution({ timeoutAt });
        await store.create(made);
        await store.pause(pauseOf(made.executionId, { suspensionId: `pause-${made.executionId}` }));
        await lift(made.executionId, pausedFor);
        // Lifted already: the same again changes nothing.
        await lift(made.executionId, pausedFor);
        return (await store.state(made.executionId))?.execution.timeoutAt;
      };
      expect(await timeoutAfter(1_000, 250)).toBe(1_250);
      expect(await timeoutAfter(1_000)).toBe(1_000);
      expect(await timeoutAfter(null, 250)).toBeNull();
    });

    test("nothing of a paused execution falls due", async () => {
      const executionId = await sleeping(10);
      await store.pause(pauseOf(executionId, { suspensionId: `pause-${executionId}` }));
      expect(await due()).toEqual([]);
      expect(await store.wake({ executionId, now: 10, claim })).toBe(false);
      const timeout = { status: "error", error: "{}", due: { suspensionId: null } } as const;
      expect(await store.cancel(cancelOf(executionId, timeout))).toEqual({
        kind: "refused",
        status: "suspended",
      });
    });

    test("an execution that takes too long ends with an error", async () => {
      const executionId = await created({ timeoutAt: 15 });
      const timeout = { status: "error", error: '{"message":"late"}', due: { suspensionId: null } } as const;
      const result = await store.cancel(
        cancelOf(executionId, { ...timeout, event: event("workflow-error") }),
      );
      expect(result).toMatchObject({ kind: "cancelled", event: { type: "workflow-error", sequence: 2 } });
      const state = await store.state(executionId);
      expect(state?.execution).toMatchObject({ status: "error", error: '{"message":"late"}' });
      expect(await due()).toEqual([]);
    });

    test("a deadline cancels only while its suspension is open", async () => {
      const executionId = await created();
      const gate = suspension({ deadline: 5, onDeadline: '"cancel"' });
      await store.commit(commitOf(executionId, { open: [gate], ...idle }));
      const wrong = cancelOf(executionId, { due: { suspensionId: "another" } });
      expect(await store.cancel(wrong)).toEqual({ kind: "refused", status: "suspended" });
      const right = cancelOf(executionId, { due: { suspensionId: gate.suspensionId } });
      expect(await store.cancel(right)).toMatchObject({ kind: "cancelled" });
    });

    test("a deadline and a resume: one of them finds the row", async () => {
      const executionId = await created();
      const gate = suspension({ deadline: 5, onDeadline: '"fail"' });
      await store.commit(commitOf(executionId, { open: [gate], ...idle }));
      const resume = { executionId, suspensionIds: [gate.suspensionId], rewind: null, events: [], claim };
      const results = await Promise.all([
        store.resume({ ...resume, byDeadline: true }),
        store.resume({ ...resume, byDeadline: false }),
      ]);
      expect(results.map(({ kind }) => kind).sort()).toEqual(["claimed", "refused"]);
      expect(await due()).toEqual([]);
    });

    test("events written from outside are never earlier than the last event of the journal", async () => {
      const late = event("step-complete", { timestamp: 9_000 });
      const early = event("workflow-resumed", { timestamp: 4_000 });
      const ids = [await created(), await created(), await created()] as const;
      const [paused, resumed, cancelled] = ids;
      const gate = suspension();
      await store.commit(commitOf(paused, { events: [late] }));
      await store.commit(commitOf(resumed, { events: [late], open: [gate], ...idle }));
      await store.commit(commitOf(cancelled, { events: [late] }));
      const pause = await store.pause(pauseOf(paused, { suspensionId: "early-pause", at: 4_000 }));
      const suspensionIds = [gate.suspensionId];
      const twice = { events: [early, { ...early, timestamp: 9_500 }], rewind: null, byDeadline: false };
      const resume = await store.resume({ executionId: resumed, suspensionIds, claim, ...twice });
      const cancel = await store.cancel(cancelOf(cancelled, { event: early }));
      // They return the events of the journal.
      expect(pause).toMatchObject({ kind: "paused", event: { timestamp: 9_000 } });
      expect(resume).toMatchObject({ events: [{ timestamp: 9_000 }, { timestamp: 9_500 }] });
      expect(cancel).toMatchObject({ kind: "cancelled", event: { timestamp: 9_000 } });
      const times = ids.map(async (executionId) =>
        (await store.events({ executionId, after: 1, limit: 10 })).map(({ timestamp }) => timestamp),
      );
      expect(await Promise.all(times)).toEqual([
        [9_000, 9_000],
        [9_000, 9_000, 9_500],
        [9_000, 9_000],
      ]);
      expect((await store.state(cancelled))?.execution.endAt).toBe(9_000);
    });

    test("going back drops the timers", async () => {
      const executionId = await created();
      const gate = suspension();
      const timers = [{ path: "nap", dueAt: 5 }];
      await store.commit(commitOf(executionId, { open: [gate], timers, ...idle }));
      const suspensionIds = [gate.suspensionId];
      const rewind = { stepIndex: 0 };
      await store.resume({ executionId, suspensionIds, rewind, events: [], claim, byDeadline: false });
      expect(await timersOf(executionId)).toEqual([]);
    });
  });
}
