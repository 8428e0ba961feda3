// The journal events of a step, field by field.
import { expect, test } from "vitest";
import { placeOf, runCommand } from "../../../test/support/run-command.ts";
import type { Suspension } from "../../store/store.ts";
import {
  callSuspensionOf,
  checkpointEvent,
  checkpointRetryEvent,
  emittedEvent,
  outcomeEvent,
  retryEvent,
  startEvent,
  stateEvent,
  stepSuspendedEvent,
  suspensionOf,
  workflowSuspendedEvent,
} from "./step-events.ts";

const place = { ...placeOf("all/a", 3), data: "5" };
const command = runCommand("all/a", { place, attempt: 2 });
const address = { path: "all/a", stepIndex: 3, stepType: "andThen" };
const error = { name: "Error", message: "no" };
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };

test("the start and the outcomes of a step", () => {
  expect(startEvent(place, 7)).toEqual({ type: "step-start", timestamp: 7, ...address, input: "5" });
  expect(outcomeEvent(place, "all/a", { kind: "output", value: "1", usage }, 7)).toEqual({
    ...{ type: "step-complete", timestamp: 7, ...address, output: "1", usage },
  });
  expect(outcomeEvent(place, "all/a#condition", { kind: "output", value: "1" }, 7)).toEqual({
    ...{ type: "step-evaluated", timestamp: 7, ...address, path: "all/a#condition", output: "1" },
  });
  expect(outcomeEvent(place, "all/a", { kind: "skipped" }, 7)).toEqual({
    ...{ type: "step-skipped", timestamp: 7, ...address },
  });
  expect(outcomeEvent(place, "all/a", { kind: "bailed", value: "1" }, 7)).toEqual({
    ...{ type: "step-bailed", timestamp: 7, ...address, result: "1" },
  });
  expect(outcomeEvent(place, "all/a", { kind: "error", error }, 7)).toEqual({
    ...{ type: "step-error", timestamp: 7, ...address, error },
  });
});

test("the events of a body that has not ended", () => {
  expect(retryEvent(command, error, 9, 7)).toEqual({
    ...{ type: "step-retry", timestamp: 7, ...address, error, attempt: 2, retryAt: 9 },
  });
  expect(stateEvent(command, "{}", 7)).toEqual({
    ...{ type: "state-changed", timestamp: 7, ...address, patch: "{}" },
  });
  expect(emittedEvent(command, "half", "50", 7)).toEqual({
    ...{ type: "emitted", timestamp: 7, ...address, name: "half", attempt: 2, data: "50" },
  });
  const call = { kind: "model", model: "m", prompt: "hash" } as const;
  expect(
    checkpointEvent(command, { path: "all/a#c", output: "1", startedAt: 4, attempt: 3, call, usage }, 7),
  ).toEqual({
    ...{ type: "checkpoint-complete", timestamp: 7, ...address, path: "all/a#c", output: "1" },
    ...{ startedAt: 4, attempt: 3, call, usage },
  });
  expect(checkpointRetryEvent(command, { path: "all/a#c", error, attempt: 3, retryAt: 9 }, 7)).toEqual({
    ...{ type: "checkpoint-retry", timestamp: 7, ...address, path: "all/a#c", error, attempt: 3 },
    ...{ stepAttempt: 2, retryAt: 9 },
  });
});

const asked: Suspension = {
  ...{ suspensionId: "s", path: "all/a", stepIndex: 3, suspendedAt: 7, reason: "why", data: '"x"' },
  ...{ deadline: 99, onDeadline: '"fail"' },
};

test("a suspension has the options of its body's call", () => {
  const request = { kind: "suspend", reason: "why", deadline: 99, onDeadline: '"fail"' } as const;
  expect(suspensionOf(command, { ...request, data: '"x"' }, "s", 7)).toEqual(asked);
  expect(suspensionOf(command, { ...request, data: undefined }, "s", 7)).toEqual({ ...asked, data: null });
  const called = {
    path: "all/a#call",
    reason: "may it?",
    data: "{}",
    resumeSchema: "{}",
    again: false,
    deadline: null,
    onDeadline: null,
  };
  expect(callSuspensionOf(command, called, "s", 7)).toEqual({
    ...{ suspensionId: "s", path: "all/a#call", stepIndex: 3, suspendedAt: 7, reason: "may it?", data: "{}" },
    ...{ deadline: null, onDeadline: null, resumeSchema: "{}" },
  });
});

const fields = { suspensionId: "s", reason: "why", suspendedAt: 7, deadline: 99, data: '"x"' };

test("the events of a suspension have its fields; those that it lacks are left out", () => {
  expect(stepSuspendedEvent(command, asked)).toEqual({
    ...{ type: "step-suspended", timestamp: 7, ...address, ...fields },
  });
  const bare = { ...asked, path: null, deadline: null, data: null, resumeSchema: '{"type":"string"}' };
  const none = { ...fields, deadline: undefined, data: undefined };
  expect(stepSuspendedEvent(command, bare)).toEqual({
    ...{ type: "step-suspended", timestamp: 7, ...address, ...none, resumeSchema: '{"type":"string"}' },
  });
  expect(stepSuspendedEvent(command, { ...asked, path: "all/a#call" })).toMatchObject({ path: "all/a#call" });
  expect("resumeSchema" in stepSuspendedEvent(command, { ...asked, resumeSchema: null })).toBe(false);
  expect(workflowSuspendedEvent(asked, 4, "ada")).toEqual({
    ...{ type: "workflow-suspended", timestamp: 7, path: "all/a", stepIndex: 4, userId: "ada", ...fields },
  });
});
