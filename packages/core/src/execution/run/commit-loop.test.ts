// The commits of one execution: one at a time, each with the position that it follows.
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { plainWorkflow } from "../../../test/support/run-command.ts";
import { encodeEvent } from "../../journal/codec.ts";
import { Journal } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { CommitResult } from "../../store/store.ts";
import type { StoredEvent } from "../../store/stored-event.ts";
import { AbortScope } from "../body/abort-scope.ts";
import { type BuiltCommit, buildCommit } from "./build-commit.ts";
import type { FollowingEvent } from "./commit-batch.ts";
import { CommitBatch } from "./commit-batch.ts";
import { CommitLoop } from "./commit-loop.ts";
import { nothingKept } from "./execution-fold.ts";

const long = JSON.stringify("x".repeat(300));
const completed = (output = "1", timestamp = 1000): FollowingEvent => ({
  ...{ type: "step-complete", timestamp, path: "a", stepIndex: 0, stepType: "andThen", output },
  usage: undefined,
});

/** A loop after event 5, written at 900, on a store with these events of others. */
function loopOf(others: readonly StoredEvent[] = []) {
  const calls: unknown[] = [];
  const replies: PromiseWithResolvers<CommitResult>[] = [];
  const [journal, values] = [new Journal(), new KeptValues(null)];
  const loop = new CommitLoop({
    spender: { userId: null, workflowId: "w" },
    executionId: "e1",
    execution: {
      ...{
        workflow: plainWorkflow,
        token: "t",
        suspensions: [],
        timers: [],
        stepIndex: 0,
      },
      ...{ paused: false, timeoutAt: null, startAt: 1, journal, values, input: "1", bytes: 0, sequence: 5 },
      ...{ lastAt: 900, kept: nothingKept },
    },
    store: {
      commit: () => {
        const reply = Promise.withResolvers<CommitResult>();
        replies.push(reply);
        return reply.promise;
      },
      events: async ({ executionId, after }) => {
        calls.push(`read ${executionId} after ${after}`);
        return others.filter(({ sequence }) => sequence > after);
      },
    },
    storage: {
      sent: () => void calls.push("sent"),
      replied: () => void calls.push("replied"),
      wrote: () => void calls.push("wrote"),
      failed: () => false,
    },
    takeIn: (events) => void calls.push(events.map(({ sequence }) => sequence)),
    failed: (error, must) => void calls.push({ error, must }),
  });
  const build = (...events: readonly FollowingEvent[]): BuiltCommit => {
    const batch = new CommitBatch();
    batch.following.push(...events.map((event) => ({ event, scope: new AbortScope() })));
    return buildCommit(loop.target(0), batch, {});
  };
  return { loop, calls, replies, journal, values, build };
}

const ok = (sequence: number): CommitResult => ({ kind: "ok", sequence, idle: false });

test("the first commit follows the execution as it was loaded; a commit that is not recorded leaves its number", () => {
  const { loop, values } = loopOf();
  const target = {
    ...{ executionId: "e1", token: "t", number: 1, stepIndex: 3, values, after: 5, lastAt: 900 },
    others: undefined,
    spender: { userId: null, workflowId: "w" },
  };
  expect(loop.target(3)).toEqual(target);
  expect(loop.target(3)).toEqual(target);
  expect([loop.inFlight, loop.isReading, loop.sequence, loop.lastAt]).toEqual([false, false, 5, 900]);
});

test("the known part only grows", () => {
  const { loop } = loopOf();
  loop.knows();
  loop.knows(4, 800);
  expect([loop.sequence, loop.lastAt]).toEqual([5, 900]);
  loop.knows(7, 950);
  expect([loop.sequence, loop.lastAt]).toEqual([7, 950]);
  loop.began({ sequence: 8, timestamp: 960 });
  expect([loop.sequence, loop.lastAt]).toEqual([8, 960]);
});

test("a commit in flight is one at a time; the store's reply is reported before it is processed", async () => {
  const { loop, calls, replies, build } = loopOf();
  loop.send(
    build(completed()),
    (result) => calls.push(result, loop.inFlight),
    () => undefined,
  );
  expect([loop.inFlight, calls]).toEqual([true, ["sent"]]);
  replies[0]?.resolve(ok(6));
  await turn();
  expect(calls).toEqual(["sent", "replied", "wrote", ok(6), false]);
});

test("a commit that fails stays in flight: nothing else is committed without a decision", async () => {
  const { loop, calls, replies, build } = loopOf();
  const error = new Error("no");
  loop.send(
    build(completed()),
    () => undefined,
    (thrown) => calls.push(thrown),
  );
  replies[0]?.reject(error);
  await turn();
  expect([calls, loop.inFlight]).toEqual([["sent", "replied", error], true]);
  const held = loopOf().loop;
  held.hold();
  expect(held.inFlight).toBe(true);
});

test("recorded events get their numbers, are in the journal, and the next commit follows them", () => {
  const { loop, journal, build, values } = loopOf();
  const built = build(completed(long), completed("2", 1100));
  const { events, stored } = loop.record(built, ok(7));
  expect(events.map(({ sequence, type }) => `${sequence} ${type}`)).toEqual([
    "6 step-complete",
    "7 step-complete",
  ]);
  expect(stored).toHaveLength(2);
  expect([...values.places]).toEqual([[long, 6]]);
  expect(journal.newest("a")).toBe(journal.get("a"));
  expect(loop.target(0)).toMatchObject({ number: 2, after: 7, lastAt: 1100 });
});

test("the last event of another writer is named by the next commit until one that names it is recorded", () => {
  const { loop, build } = loopOf();
  loop.noteOther({ sequence: 6, timestamp: 1000 });
  loop.noteOther({ sequence: 5, timestamp: 2000 });
  expect(loop.target(0)).toMatchObject({ after: 6, lastAt: 2000, others: { sequence: 6, at: 1000 } });
  loop.noteOther({ sequence: 6, timestamp: 1001 });
  const built = build(completed());
  expect(built.commit.others).toEqual({ sequence: 6, at: 1001 });
  loop.noteOther({ sequence: 7, timestamp: 1002 });
  loop.record(built, ok(8));
  expect(loop.target(0).others).toEqual({ sequence: 7, at: 1002 });
  loop.record(build(completed()), ok(9));
  expect(loop.target(0).others).toBeUndefined();
});

const other: StoredEvent = {
  ...encodeEvent({
    ...{
      type: "workflow-suspended",
      timestamp: 950,
      path: null,
      stepIndex: 0,
      suspensionId: "s",
      reason: "",
    },
    ...{ suspendedAt: 950, deadline: undefined, data: undefined, userId: undefined },
  }),
  sequence: 6,
};

test("events that others wrote in between are read; none are where the numbers follow", async () => {
  const { loop, calls, build } = loopOf([other]);
  loop.record(build(completed()), ok(6));
  await turn();
  expect(calls).toEqual([]);
  const missed = loopOf([other]);
  missed.loop.record(missed.build(completed()), ok(7));
  expect([missed.loop.isReading, missed.calls]).toEqual([false, []]);
  await turn();
  // From the position at which the execution was loaded.
  expect(missed.calls).toEqual(["read e1 after 5", [6]]);
});

test("reading begins after the first events of a new execution, and a stop ends it", async () => {
  const { loop, calls } = loopOf([other]);
  loop.began({ sequence: 6, timestamp: 950 });
  loop.readOthers({ must: true });
  expect(loop.isReading).toBe(true);
  await turn();
  expect([calls, loop.isReading]).toEqual([["read e1 after 6", []], false]);
  loop.readOthers({ must: true });
  loop.stop();
  expect(loop.isReading).toBe(false);
  loop.readOthers({ must: true });
  await turn();
  expect(calls).toEqual(["read e1 after 6", [], "read e1 after 6"]);
  const unread = loopOf([other]);
  unread.loop.stop();
  unread.loop.readOthers({ must: false });
  expect(unread.calls).toEqual([]);
});
