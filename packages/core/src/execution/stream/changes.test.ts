// Followers of the changes of all executions: the changes they get, and none once they have left.
import { expect, test } from "vitest";
import type { JournalEvent } from "../../journal/events.ts";
import type { ExecutionHead } from "../../store/store.ts";
import { Changes, type ExecutionChange } from "./changes.ts";

const subject = { executionId: "e", workflowId: "w", userId: "ada", conversationId: "talk" };
const common = { timestamp: 5, userId: undefined };
const resumed: JournalEvent = {
  ...common,
  ...{ type: "workflow-resumed", sequence: 3, path: "gate", stepIndex: 0, suspensionId: "s" },
  ...{ resumeData: undefined, byDeadline: false, expired: false },
};

function follower() {
  const heard: (ExecutionChange | "stopped")[] = [];
  return {
    heard,
    receive: (change: ExecutionChange) => heard.push(change),
    stop: () => heard.push("stopped"),
  };
}

test("each follower receives the changes of a commit, until it leaves", () => {
  const changes = new Changes();
  const [one, other] = [follower(), follower()];
  expect(changes.followed).toBe(false);
  const leave = changes.follow(one);
  changes.follow(other);
  expect(changes.followed).toBe(true);
  changes.publish(subject, [resumed]);
  const change = { ...subject, status: "running", stepPath: "gate", sequence: 3, timestamp: 5 };
  expect([one.heard, other.heard]).toEqual([[change], [change]]);
  leave();
  changes.publish(subject, [resumed]);
  changes.publish(subject, []);
  expect([one.heard, other.heard]).toEqual([[change], [change, change]]);
  changes.stop();
  expect(one.heard).toEqual([change]);
  expect(other.heard).toEqual([change, change, "stopped"]);
  expect(changes.followed).toBe(false);
});

test("a change has the last path and the last status of its commit, if the commit has any", () => {
  const changes = new Changes();
  const one = follower();
  changes.follow(one);
  const step: JournalEvent = {
    timestamp: 5,
    ...{ type: "step-start", sequence: 4, path: "first", stepIndex: 0, stepType: "andThen" },
    input: undefined,
  };
  const paused: JournalEvent = {
    ...common,
    ...{ type: "workflow-suspended", sequence: 5, path: null, stepIndex: 0, suspensionId: "s" },
    ...{ reason: "pause", suspendedAt: 5, deadline: undefined, data: undefined },
  };
  changes.publish(subject, [step]);
  changes.publish(subject, [step, paused]);
  changes.publish(subject, [paused]);
  const heard = one.heard.map((change) =>
    change === "stopped" ? change : [change.status, change.stepPath, change.sequence],
  );
  expect(heard).toEqual([
    [undefined, "first", 4],
    ["suspended", "first", 5],
    ["suspended", undefined, 5],
  ]);
});

test("the progress of an execution of another process is published once, and nothing older than a commit here", () => {
  const changes = new Changes();
  const one = follower();
  const leave = changes.follow(one);
  const head = (sequence: number, status: ExecutionHead["status"]) => {
    const claim = {
      owner: null,
      paused: false,
      parked: false,
      conversationId: null,
      agentId: null,
      kind: "workflow",
    } as const;
    changes.publishHead({ ...subject, ...claim, sequence, status }, 5);
  };
  head(1, "running");
  head(2, "running");
  head(2, "running");
  changes.publish(subject, [resumed]);
  head(2, "suspended");
  head(3, "running");
  head(4, "running");
  // After a failover that has lost commits.
  head(2, "running");
  head(4, "suspended");
  head(3, "completed");
  head(3, "completed");
  const heard = () =>
    one.heard.map((change) => (change === "stopped" ? change : [change.sequence, change.status]));
  const told = [
    [1, "running"],
    [2, "running"],
    [3, "running"],
    [4, "running"],
    [4, "suspended"],
    [3, "completed"],
  ];
  expect(heard()).toEqual(told);
  // Those who come later begin anew.
  leave();
  changes.follow(one);
  head(3, "completed");
  expect(heard()).toEqual([...told, [3, "completed"]]);
});

const headOf = (fields: Partial<ExecutionHead>): ExecutionHead => ({
  ...{ ...subject, kind: "workflow", agentId: null, status: "running", sequence: 1 },
  ...{ owner: null, paused: false, parked: false },
  ...fields,
});

test("the status after a commit is that of its last start, suspension, resume, rewind or end", () => {
  const changes = new Changes();
  const one = follower();
  changes.follow(one);
  const start: JournalEvent = {
    ...{ type: "workflow-start", sequence: 1, timestamp: 5, input: undefined },
    ...{ traceparent: undefined, replayOf: undefined },
  };
  const rewound: JournalEvent = {
    ...{ type: "execution-rewound", sequence: 2, timestamp: 5, path: "first", stepIndex: 0 },
    ...{ resumeData: undefined, userId: undefined },
  };
  const ends: JournalEvent[] = [
    { type: "workflow-complete", sequence: 3, timestamp: 5, result: undefined },
    { type: "workflow-error", sequence: 3, timestamp: 5, error: { name: "Error", message: "no" } },
    { ...common, type: "workflow-cancelled", sequence: 3, reason: undefined, suspensionId: undefined },
  ];
  for (const event of [start, rewound, ...ends]) changes.publish(subject, [event]);
  changes.publish(subject, [start, ...ends.slice(0, 1)]);
  expect(
    one.heard.map((change) => (change === "stopped" ? change : [change.status, change.stepPath])),
  ).toEqual([
    ["running", undefined],
    ["running", "first"],
    ["completed", undefined],
    ["error", undefined],
    ["cancelled", undefined],
    ["completed", undefined],
  ]);
});

test("old heads of an execution that waits are not published", () => {
  const changes = new Changes();
  const one = follower();
  changes.follow(one);
  changes.publishHead(headOf({ sequence: 5, status: "suspended" }), 6);
  changes.publishHead(headOf({ sequence: 3, status: "running" }), 7);
  changes.publishHead(headOf({ sequence: 5, status: "running" }), 8);
  changes.publishHead(headOf({ sequence: 4, status: "suspended" }), 9);
  const ids = { ...subject, stepPath: undefined };
  expect(one.heard).toEqual([
    { ...ids, sequence: 5, status: "suspended", timestamp: 6 },
    { ...ids, sequence: 5, status: "running", timestamp: 8 },
  ]);
});

test("the last change stays known while a follower is left", () => {
  const changes = new Changes();
  const [one, other] = [follower(), follower()];
  const leave = changes.follow(one);
  changes.follow(other);
  changes.publishHead(headOf({}), 5);
  leave();
  changes.publishHead(headOf({}), 5);
  expect([one.heard.length, other.heard.length]).toEqual([1, 1]);
});

test("a commit without a status keeps the one that is known", () => {
  const changes = new Changes();
  const one = follower();
  changes.follow(one);
  changes.publishHead(headOf({ sequence: 3 }), 5);
  const step: JournalEvent = {
    ...{ type: "step-start", sequence: 4, timestamp: 5, path: "first", stepIndex: 0, stepType: "andThen" },
    input: undefined,
  };
  changes.publish(subject, [step]);
  changes.publishHead(headOf({ sequence: 4 }), 5);
  expect(one.heard).toHaveLength(2);
});

test("the last changes of ten thousand executions are known; the oldest goes first", () => {
  const changes = new Changes();
  let heard = 0;
  changes.follow({ receive: () => heard++, stop: () => undefined });
  const isNew = (number: number) => {
    const before = heard;
    changes.publishHead(headOf({ executionId: `e${number}` }), 5);
    return heard > before;
  };
  for (let number = 0; number < 10_000; number++) isNew(number);
  expect([isNew(0), isNew(9_999)]).toEqual([false, false]);
  // A change of the first makes the second the oldest.
  changes.publishHead(headOf({ executionId: "e0", sequence: 2 }), 5);
  expect([isNew(10_000), isNew(1), isNew(0), isNew(3)]).toEqual([true, true, false, false]);
});
