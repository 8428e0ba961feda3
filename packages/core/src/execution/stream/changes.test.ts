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
