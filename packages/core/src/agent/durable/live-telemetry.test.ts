// Telemetry of a loop over records: only the calls that are made here are reported.
import type { TelemetryOptions } from "ai";
import { expect, test, vi } from "vitest";
import { liveTelemetry } from "./live-telemetry.ts";

const names = [
  ...["onStepStart", "onLanguageModelCallStart", "executeLanguageModelCall", "onLanguageModelCallEnd"],
  ...["onToolExecutionStart", "executeTool", "onToolExecutionEnd", "onStepEnd", "onStepFinish", "onStart"],
];

function telemetryForTest(loop: object) {
  const calls: unknown[][] = [];
  const members = names.map((name) => [
    name,
    function (this: unknown, event: unknown) {
      calls.push([name, event, this === integration]);
      return `${name} was reported`;
    },
  ]);
  const integration = { ...Object.fromEntries(members), title: "spans" };
  const all = { recorder: { isEmpty: false }, calls: 3, ...loop };
  const given: TelemetryOptions = { isEnabled: true, integrations: [integration] };
  const { integrations, ...rest } = liveTelemetry(given, Object(all));
  const [live] = [integrations].flat();
  const call = (name: string, event?: unknown) => Object(live)[name](event);
  return { calls, call, live, rest };
}

test("without records, and without integrations, there is nothing to leave out", () => {
  const given: TelemetryOptions = { integrations: [{}] };
  expect(liveTelemetry(given, Object({ recorder: { isEmpty: true } }))).toBe(given);
  expect(liveTelemetry({ isEnabled: true }, Object({ recorder: { isEmpty: false } }))).toEqual({
    ...{ isEnabled: true, integrations: [] },
  });
  const one = liveTelemetry({ integrations: Object({}) }, Object({ recorder: { isEmpty: false } }));
  expect(one.integrations).toHaveLength(1);
});

/** What the loop says about calls: that all of them are recorded, or none. */
const loopOf = (isRecorded: boolean) => ({
  ...{ nextIsRecorded: isRecorded, nextCallIsRecorded: isRecorded },
  isWalked: vi.fn((call: number) => isRecorded && call === 2),
  toolCall: vi.fn(() => ({ isWalked: isRecorded })),
});
const event = { toolCallId: "t", toolCall: { toolCallId: "u", toolName: "look" } };

test("calls that are made here are reported as they are", () => {
  const { calls, call, live, rest } = telemetryForTest(loopOf(false));
  expect(rest).toEqual({ isEnabled: true });
  for (const name of names) expect(call(name, event)).toBe(`${name} was reported`);
  expect(calls).toEqual(names.map((name) => [name, event, true]));
  expect(Object(live)).toMatchObject({ title: "spans" });
  expect(Object(live).missing).toBeUndefined();
  expect(Object(live)[Symbol.iterator]).toBeUndefined();
});

test("recorded calls are not reported, and the work inside them still runs", () => {
  const loop = loopOf(true);
  const { calls, call } = telemetryForTest(loop);
  const walked = names.slice(0, -1);
  for (const name of walked) expect(call(name, event)).toBeUndefined();
  expect(calls).toEqual([]);
  const running = {
    ...event,
    execute() {
      return this === running ? "ran" : "lost";
    },
  };
  for (const name of ["executeTool", "executeLanguageModelCall"]) expect(call(name, running)).toBe("ran");
  expect(call("onStart", event)).toBe("onStart was reported");
  expect(loop.isWalked.mock.calls).toEqual([[2]]);
  expect(new Set(loop.toolCall.mock.calls.map(String))).toEqual(new Set(["t,look"]));
});

test("a step is left out to its end, also when the next one is made here", () => {
  const loop = loopOf(true);
  const { calls, call } = telemetryForTest(loop);
  const live = telemetryForTest({ ...loopOf(false) });
  call("onStepStart");
  loop.nextIsRecorded = false;
  call("onStepEnd");
  call("onStepFinish");
  expect(calls).toEqual([]);
  live.call("onStepEnd");
  expect(live.calls).toHaveLength(1);
});

test("a tool is known by the id of the event, or of its call; one without an id is reported", () => {
  const loop = loopOf(true);
  const { calls, call } = telemetryForTest(loop);
  call("executeTool", { toolCall: { toolCallId: "u", toolName: "look" } });
  expect(loop.toolCall.mock.calls).toEqual([["u", "look"]]);
  expect(calls).toEqual([]);
  for (const unknown of [undefined, {}, { toolCallId: 5 }]) call("onToolExecutionStart", unknown);
  expect(calls).toHaveLength(3);
});
