// The options of a caller: those that a turn needs, and refusals by name.
import { expect, test, vi } from "vitest";
import { checkCallOptions } from "./call-options.ts";

const check = (options: object, checkSettings: (settings: object) => void = () => undefined) =>
  Reflect.apply(checkCallOptions, undefined, [{ checkSettings }, options]);

test("settings are checked by the agent, and the context is a map", () => {
  const checkSettings = vi.fn();
  const given = { userId: "ada", conversationId: "c", context: { tab: 1 }, topK: 3, maxSteps: 2 };
  const { settings, context } = check(given, checkSettings);
  expect(settings).toEqual({ topK: 3, maxSteps: 2 });
  expect(context).toEqual(new Map([["tab", 1]]));
  expect(checkSettings.mock.calls).toEqual([[settings]]);
  expect(check({}).context).toEqual(new Map());
});

test.each<[string, object]>([
  ["userId", { userId: "" }],
  ["conversationId", { conversationId: ".." }],
  ["Invalid option context: expected an object", { context: [] }],
  ["Invalid option context: expected an object", { context: null }],
  ["Invalid option context: expected an object", { context: "x" }],
  ["Invalid option context: context at big cannot be kept as JSON: it is a bigint", { context: { big: 1n } }],
])("refused: %s", (message, options) => {
  expect(() => check(options)).toThrow(message);
});
