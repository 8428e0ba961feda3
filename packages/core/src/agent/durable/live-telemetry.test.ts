// Telemetry of a loop that continues from its record: it has the new calls and none of those that are read.
import type { Telemetry } from "ai";
import { expect, test, vi } from "vitest";
import type { DurableLoop } from "./durable-loop.ts";
import { liveTelemetry } from "./live-telemetry.ts";

/** A loop with two recorded calls, of which the second is the last that ended; "old" is a recorded call of a tool. */
function loopWith(fields: object = {}): DurableLoop {
  const toolCall = vi.fn((id: string) => ({ isWalked: id === "old" }));
  return Object({
    ...{ recorder: { isEmpty: false }, nextIsRecorded: false, nextCallIsRecorded: false, calls: 2 },
    ...{ isWalked: (call: number) => call === 0, toolCall },
    ...fields,
  });
}

/** An integration that writes down the events it receives, by the names of its members. */
function integration() {
  const seen: [string, unknown][] = [];
  const member = (name: string) => (event: unknown) => {
    seen.push([name, event]);
    return `${name} observed`;
  };
  const names = ["onStart", "onStepStart", "onStepEnd", "onStepFinish", "onLanguageModelCallStart"];
  const others = ["onLanguageModelCallEnd", "executeLanguageModelCall", "executeTool", "onEnd"];
  const tools = ["onToolExecutionStart", "onToolExecutionEnd"];
  const members = [...names, ...others, ...tools].map((name) => [name, member(name)]);
  return { seen, made: Object({ ...Object.fromEntries(members), version: 3 }) };
}

/** Calls a member of the integration as the AI SDK sees it. */
function observed(loop: DurableLoop) {
  const { seen, made } = integration();
  const { integrations, ...rest } = liveTelemetry({ isEnabled: true, integrations: made }, loop);
  expect(rest).toEqual({ isEnabled: true });
  const [live] = [integrations ?? []].flat();
  const call = (name: string, event: unknown = {}) => Object(live)[name](event);
  return { seen, live, call };
}

test("without a record, or without integrations, it is the same", () => {
  const telemetry = { integrations: integration().made };
  expect(liveTelemetry(telemetry, loopWith({ recorder: { isEmpty: true } }))).toBe(telemetry);
  expect(liveTelemetry({ isEnabled: false }, loopWith())).toEqual({ isEnabled: false, integrations: [] });
  const two: Telemetry[] = [integration().made, integration().made];
  expect(liveTelemetry({ integrations: two }, loopWith()).integrations).toHaveLength(2);
});

test.each([
  ["onStepStart", { nextIsRecorded: true }, {}],
  ["onLanguageModelCallStart", { nextCallIsRecorded: true }, {}],
  ["executeLanguageModelCall", { nextCallIsRecorded: true }, {}],
  ["onLanguageModelCallEnd", { calls: 1 }, {}],
  ["onToolExecutionStart", {}, { toolCall: { toolCallId: "old", toolName: "look" } }],
  ["executeTool", {}, { toolCallId: "old", toolCall: { toolName: "look" } }],
  ["onToolExecutionEnd", {}, { toolCall: { toolCallId: "old", toolName: "look" } }],
])("%s is not observed for a recorded call, and is for a new one", (name, recorded, event) => {
  const { seen, call } = observed(loopWith(recorded));
  expect(call(name, event)).toBeUndefined();
  expect(call(name, { ...event, execute: () => "result" })).toBe("result");
  expect(seen).toEqual([]);
  const live = observed(loopWith());
  const again = JSON.parse(JSON.stringify(event).replace("old", "new"));
  expect(live.call(name, again)).toBe(`${name} observed`);
  expect(live.seen).toEqual([[name, again]]);
});

test("the end of a step is observed when its start was", () => {
  const loop = loopWith({ nextIsRecorded: true });
  const { seen, call } = observed(loop);
  call("onStepStart");
  Object.assign(loop, { nextIsRecorded: false });
  for (const name of ["onStepEnd", "onStepFinish"]) expect(call(name)).toBeUndefined();
  for (const name of ["onStepStart", "onStepEnd", "onStepFinish"]) call(name, name);
  expect(seen).toEqual(["onStepStart", "onStepEnd", "onStepFinish"].map((name) => [name, name]));
});

test("a tool is found by its call and its name; without an id its events are observed", () => {
  const loop = loopWith();
  const { seen, call } = observed(loop);
  const toolCall = { toolCallId: "new", toolName: "look" };
  call("executeTool", { toolCallId: "old", toolCall });
  call("onToolExecutionStart", { toolCall });
  expect(vi.mocked(loop.toolCall).mock.calls).toEqual([
    ["old", "look"],
    ["new", "look"],
  ]);
  const nameless = { toolCall: { toolName: "look" } };
  call("onToolExecutionEnd", nameless);
  expect(seen).toEqual([
    ["onToolExecutionStart", { toolCall }],
    ["onToolExecutionEnd", nameless],
  ]);
});

test("other members are the integration's own", () => {
  const recorded = { nextIsRecorded: true, nextCallIsRecorded: true, isWalked: () => true };
  const { seen, live, call } = observed(loopWith(recorded));
  expect([call("onStart", 1), call("onEnd", 2)]).toEqual(["onStart observed", "onEnd observed"]);
  expect(seen).toEqual([
    ["onStart", 1],
    ["onEnd", 2],
  ]);
  expect(Object(live).version).toBe(3);
  expect(Object(live).missing).toBeUndefined();
  class Counting {
    #count = 0;
    onStart = undefined;
    onEnd() {
      return ++this.#count;
    }
    onStepStart() {
      return ++this.#count;
    }
  }
  const { integrations } = liveTelemetry({ integrations: Object(new Counting()) }, loopWith());
  const [counting] = [integrations ?? []].flat();
  expect([Object(counting).onEnd(), Object(counting).onStepStart({})]).toEqual([1, 2]);
  expect(Object(counting)[Symbol.iterator]).toBeUndefined();
});
