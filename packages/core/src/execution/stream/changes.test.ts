// Who follows the changes of all executions: what they hear, and that they hear nothing once they have left.
import { expect, test } from "vitest";
import type { JournalEvent } from "../../journal/events.ts";
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

test("each follower hears what one commit changed, until it leaves", () => {
  const changes = new Changes();
  const [one, other] = [follower(), follower()];
  expect(changes.followed).toBe(false);
  const leave = changes.follow(one);
  changes.follow(other);
  expect(changes.followed).toBe(true);
  changes.tell(subject, [resumed]);
  const change = { ...subject, status: "running", stepPath: "gate", sequence: 3, timestamp: 5 };
  expect([one.heard, other.heard]).toEqual([[change], [change]]);
  leave();
  changes.tell(subject, [resumed]);
  changes.tell(subject, []);
  expect([one.heard, other.heard]).toEqual([[change], [change, change]]);
  changes.stop();
  expect(one.heard).toEqual([change]);
  expect(other.heard).toEqual([change, change, "stopped"]);
  expect(changes.followed).toBe(false);
});
