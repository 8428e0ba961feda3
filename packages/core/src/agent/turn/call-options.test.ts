// The options of a caller: those that a turn needs, and refusals by name.
import { expect, test, vi } from "vitest";
import { checkCallOptions } from "./call-options.ts";

const check = (options: object, checkSettings: (settings: object) => void = () => undefined) =>
  Reflect.apply(checkCallOptions, undefined, [{ checkSettings }, options, 1000]);

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

test("a context may be as long as its limit, and is not written when it has too many fields", () => {
  const text = (bytes: number) => ({ context: { text: "ä".repeat((bytes - 11) / 2) } });
  expect(check(text(999)).context.size).toBe(1);
  expect(() => check(text(1001))).toThrow("Context is 1001 bytes; the limit is 1000 (limits.context)");
  const wide: Record<string, unknown> = { toJSON: undefined };
  for (let n = 0; n < 500; n++) wide[`field ${n}`] = 1n;
  expect(() => check({ context: wide })).toThrow("Context is more than 1000 bytes; the limit is 1000");
});
