// The valid timeouts, and which of them are ours.
import { expect, test } from "vitest";
import { checkTimeout, timeoutsOf } from "./timeouts.ts";

test("a number is ours; of an object the rest is the AI SDK's", () => {
  expect(timeoutsOf(50)).toEqual({ modelMs: 50, others: undefined });
  expect(timeoutsOf()).toEqual({ modelMs: 300_000, others: undefined });
  expect(timeoutsOf({ modelMs: 5 })).toEqual({ modelMs: 5, others: undefined });
  expect(timeoutsOf({ totalMs: 7 })).toEqual({ modelMs: 300_000, others: { totalMs: 7 } });
});

test.each([undefined, 1, {}, { modelMs: 1, toolMs: 2 }, { tools: { lookMs: 5 } }])("%o is one", (timeout) => {
  expect(() => checkTimeout(timeout, "Agent a")).not.toThrow();
});

test.each([0, -1, 1.5, Number.NaN, null, "5", { modelMs: 0 }, { chunkMs: "5" }, { tools: { lookMs: 0 } }])(
  "%o is not one",
  (timeout) => {
    const check = () => Reflect.apply(checkTimeout, undefined, [timeout, "Agent a"]);
    expect(check).toThrow("Agent a: timeout must be 1 millisecond or more");
  },
);

test("an unknown one is named", () => {
  const check = () => Reflect.apply(checkTimeout, undefined, [{ modelMillis: 5 }, "Agent a"]);
  expect(check).toThrow('Agent a, timeout: unknown option "modelMillis"');
});

test("every timeout of the AI SDK and our own may be set, each to a millisecond or more", () => {
  const times = {
    modelMs: 1,
    totalMs: 1,
    stepMs: 1,
    firstChunkMs: 1,
    chunkMs: 1,
    toolMs: 1,
    tools: { lookMs: 1 },
  };
  expect(() => checkTimeout(times, "A")).not.toThrow();
  expect(timeoutsOf(times)).toEqual({ modelMs: 1, others: { ...times, modelMs: undefined } });
  const wrong = "A: timeout must be 1 millisecond or more";
  for (const name of Object.keys(times)) {
    const value = name === "tools" ? { lookMs: 0 } : 0;
    expect(() => checkTimeout({ ...times, [name]: value }, "A")).toThrow(wrong);
  }
});
