// Every event survives being stored.
import { expect, test } from "vitest";
import type { StoredEvent } from "../store/stored-event.ts";
import { decodeEvent, encodeEvent } from "./codec.ts";
import type { NewEvent } from "./events.ts";

const step = { timestamp: 5, path: "a/b[2]", stepIndex: 3, stepType: "andThen" };
const suspending = { suspensionId: "s1", reason: "why", suspendedAt: 5, deadline: 9, data: '{"n":1}' };
const nobody = { userId: undefined };
const error = { name: "TypeError", message: "no", step: "a/b[2]", public: true };
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };

const events: { readonly [Type in NewEvent["type"]]: Extract<NewEvent, { readonly type: Type }> } = {
  "workflow-start": {
    type: "workflow-start",
    timestamp: 5,
    input: "1",
    traceparent: "00-a-b-01",
    replayOf: { executionId: "e0", stepId: "a" },
  },
  "workflow-complete": { type: "workflow-complete", timestamp: 5, result: "[1]" },
  "workflow-error": { type: "workflow-error", timestamp: 5, error },
  "workflow-cancelled": {
    type: "workflow-cancelled",
    timestamp: 5,
    reason: "Deadline",
    userId: "ada",
    suspensionId: "s1",
  },
  "workflow-suspended": {
    type: "workflow-suspended",
    timestamp: 5,
    path: null,
    stepIndex: 3,
    userId: "ada",
    ...suspending,
  },
  "workflow-resumed": {
    type: "workflow-resumed",
    timestamp: 5,
    path: "a",
    stepIndex: 3,
    suspensionId: "s1",
    resumeData: "null",
    userId: "ada",
    byDeadline: true,
    expired: true,
  },
  "execution-rewound": {
    type: "execution-rewound",
    timestamp: 5,
    path: "a",
    stepIndex: 3,
    resumeData: "true",
    userId: "ada",
  },
  "step-start": { type: "step-start", ...step, input: '"in"' },
  "step-complete": { type: "step-complete", ...step, output: '"out"', usage },
  "step-evaluated": { type: "step-evaluated", ...step, output: "true" },
  "step-skipped": { type: "step-skipped", ...step },
  "step-bailed": { type: "step-bailed", ...step, result: "7" },
  "step-error": { type: "step-error", ...step, error },
  "step-retry": { type: "step-retry", ...step, error, attempt: 2, retryAt: 99 },
  "step-suspended": { type: "step-suspended", ...step, ...suspending },
  "state-changed": { type: "state-changed", ...step, patch: '{"count":1}' },
  "checkpoint-complete": {
    type: "checkpoint-complete",
    ...step,
    output: "1",
    startedAt: 4,
    attempt: 2,
    call: { kind: "tool", toolName: "refund", toolCallId: "call_0" },
    usage,
  },
  "checkpoint-retry": {
    type: "checkpoint-retry",
    ...step,
    error,
    attempt: 1,
    stepAttempt: 2,
    retryAt: 99,
  },
  emitted: { type: "emitted", ...step, name: "progress", attempt: 1, data: "0.5" },
};

test.each(Object.values(events))("$type is read as it was written", (event) => {
  expect(decodeEvent({ ...encodeEvent(event), sequence: 7 })).toEqual({ ...event, sequence: 7 });
});

test("fields that are not there stay away, also from the stored form", () => {
  const event: NewEvent = {
    type: "workflow-cancelled",
    timestamp: 5,
    reason: undefined,
    suspensionId: undefined,
    ...nobody,
  };
  expect(encodeEvent(event)).toMatchObject({ value: null, detail: null });
  expect(decodeEvent({ ...encodeEvent(event), sequence: 1 })).toEqual({ ...event, sequence: 1 });
});

const bare: StoredEvent = {
  sequence: 1,
  timestamp: 5,
  type: "workflow-resumed",
  path: "a",
  stepIndex: 0,
  stepType: null,
  value: null,
  detail: null,
};

test.each([
  ["it is not JSON", "{"],
  ["it is not a JSON object", "[]"],
  ["the field suspensionId is not a text", '{"suspensionId":1}'],
])("a damaged event is refused with its number: %s", (problem, detail) => {
  const damaged = { code: "journal-damaged", message: `The journal is damaged at event 3: ${problem}` };
  expect(() => decodeEvent({ ...bare, sequence: 3, detail })).toThrow(expect.objectContaining(damaged));
});

test("a damaged number is refused, in a field of a field too", () => {
  const usage = { ...bare, type: "step-complete", detail: '{"usage":{"inputTokens":"many"}}' };
  expect(() => decodeEvent(usage)).toThrow("the field usage: the field inputTokens is not a number");
});

test("a type that this release does not know is refused by its name and number", () => {
  expect(() => decodeEvent({ ...bare, type: "step-pondered", sequence: 12 })).toThrow(
    'Event 12 of the journal has the type "step-pondered", which this release does not know',
  );
});
