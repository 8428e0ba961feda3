import { inspect, types } from "node:util";
import { expect, test } from "vitest";
import { ControlFlowSignal } from "./control-flow-signal.ts";

const signal = () => new ControlFlowSignal({ kind: "interrupt" });

test("behaves as an error when it is caught, logged, cloned or extended", () => {
  const caught = signal();
  const text =
    "ControlFlowSignal: checkpoint() ends the body by throwing this error. If you catch it, rethrow it.";
  expect(caught).toBeInstanceOf(Error);
  expect(types.isNativeError(caught)).toBe(true);
  expect(String(caught)).toBe(text);
  expect(caught.stack).toBe(text);
  expect(inspect(caught)).toBe(`[${text}]`);
  expect(structuredClone(caught)).toMatchObject({ message: caught.message });
  expect(Object.prototype.toString.call(caught)).toBe("[object Error]");
  caught.stack += "\n    while it was charged";
  expect(caught.stack).toContain("charged");
  expect(ControlFlowSignal.requestOf(caught)).toEqual({ kind: "interrupt" });
});

test("collects no stack, and the errors after it have theirs", () => {
  const { stackTraceLimit } = Error;
  expect(signal().stack?.split("\n")).toHaveLength(1);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  expect(new Error("later").stack).toContain("control-flow-signal.test.ts");
});
