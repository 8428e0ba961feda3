// The usage of a commit by day, agent and model.
import { expect, test } from "vitest";
import type { CheckpointCall, NewEvent } from "../../journal/events.ts";
import { spentIn } from "./spent.ts";

const used = { inputTokens: 3, outputTokens: 2, totalTokens: 5, calls: 1 };
const dayLength = 86_400_000;

function called(call: CheckpointCall | undefined, fields: { usage?: typeof used; timestamp?: number } = {}) {
  const place = { path: "ask#call[0]", stepIndex: 0, stepType: "andAgent" };
  const times = { startedAt: 0, attempt: 1, timestamp: fields.timestamp ?? 0 };
  const event: NewEvent = {
    ...{ type: "checkpoint-complete", ...place, ...times },
    ...{ output: "1", call, usage: "usage" in fields ? fields.usage : used },
  };
  return event;
}

const model = (agentId: string, name = "scripted/one"): CheckpointCall => ({
  ...{ kind: "model", model: name, agentId, prompt: "p" },
});

test("calls of one agent, model and day are one entry; others have their own", () => {
  const next = { timestamp: 2 * dayLength };
  const events = [called(model("a")), called(model("a")), called(model("b")), called(model("a"), next)];
  const spent = spentIn(events, { userId: "ann", workflowId: "publish" });
  const whose = { userId: "ann", workflowId: "publish", model: "scripted/one" };
  expect(spent).toMatchObject([
    { ...whose, day: 0, agentId: "a", calls: 2, inputTokens: 6, outputTokens: 4, unpricedCalls: 2 },
    { ...whose, day: 0, agentId: "b", calls: 1 },
    { ...whose, day: 2, agentId: "a", calls: 1 },
  ]);
});

test("an agent whose calls cannot be seen has no model, and a tool that asks one has no agent either", () => {
  const tool: CheckpointCall = { kind: "tool", toolName: "t", toolCallId: "1" };
  const spent = spentIn([called({ kind: "agent", agentId: "a" }), called(tool), called(undefined)], {
    userId: null,
    workflowId: "",
  });
  expect(spent).toMatchObject([
    { agentId: "", model: "", userId: "", calls: 2 },
    { agentId: "a", model: "", calls: 1 },
  ]);
});

test("records without usage spend nothing", () => {
  const none = { ...called(undefined), usage: undefined };
  expect(spentIn([none], { userId: null, workflowId: "w" })).toBeUndefined();
});
