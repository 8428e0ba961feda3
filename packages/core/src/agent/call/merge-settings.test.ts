// The settings of one call, and the list of provider options that a host leaves to callers: its form, and options
// outside it.
import { expect, test } from "vitest";
import { checkAllowed, isAllowList, mergeSettings } from "./merge-settings.ts";

test.each([{}, { openai: [] }, { openai: ["user"], anthropic: ["effort", "user"] }])(
  "a list has the names for each provider: %j",
  (list) => {
    expect(isAllowList(list)).toBe(true);
  },
);

test.each([
  undefined,
  null,
  true,
  5,
  "",
  [],
  [["user"]],
  { openai: "user" },
  { openai: [5] },
  { openai: ["user", null] },
  { openai: { user: true } },
])("%j is not a list", (list) => {
  expect(isAllowList(list)).toBe(false);
});

test("only options on it may be given, by its own provider", () => {
  const allowed = { openai: ["user"] };
  const check = (given: Parameters<typeof checkAllowed>[2]) => () => checkAllowed("clerk", allowed, given);
  expect(check(undefined)).not.toThrow();
  expect(check({ openai: { user: "ada" }, anthropic: {} })).not.toThrow();
  const refused = (name: string) => `providerOptions.${name}: agent clerk does not allow it`;
  expect(check({ openai: { user: "ada", store: true } })).toThrow(refused("openai.store"));
  expect(check({ anthropic: { user: "ada" } })).toThrow(refused("anthropic.user"));
  expect(check({ constructor: { name: "x" } })).toThrow(refused("constructor.name"));
});

test.each([
  ["low", "max", "low"],
  ["high", "medium", "medium"],
  ["low", "low", "low"],
  ["none", "minimal", "none"],
  [undefined, "xhigh", "xhigh"],
  ["high", undefined, "high"],
  ["low", "provider-default", "low"],
  ["provider-default", "max", "provider-default"],
  [undefined, undefined, undefined],
] as const)("reasoning %s of the host and %s of the caller is %s", (own, given, merged) => {
  expect(mergeSettings({ reasoning: own }, { reasoning: given }).reasoning).toBe(merged);
});

test("without stop sequences none are sent: some providers refuse an empty list", () => {
  expect(mergeSettings({}, {}).stopSequences).toBeUndefined();
  expect(mergeSettings({}, { stopSequences: [] }).stopSequences).toBeUndefined();
});

test.each<[object, object, object]>([
  [{}, {}, {}],
  [{ temperature: 1 }, {}, { temperature: 1 }],
  [{}, { temperature: 0.5, seed: 3 }, { temperature: 0.5, seed: 3 }],
  // No number above the host's, and its seed stays.
  [
    { topK: 5, maxSteps: 9, seed: 1 },
    { topK: 9, maxSteps: 3, seed: 2 },
    { topK: 5, maxSteps: 3, seed: 1 },
  ],
  [{ topP: 0.5 }, { topP: "1", other: 2 }, { topP: 0.5 }],
  [{ stopSequences: ["a"] }, { stopSequences: ["b", "a"] }, { stopSequences: ["a", "b"] }],
  [{ providerOptions: { x: { a: 1 } } }, {}, { providerOptions: { x: { a: 1 } } }],
  [{}, { providerOptions: { x: { a: 1 } } }, { providerOptions: { x: { a: 1 } } }],
  [
    { providerOptions: { x: { a: 1, b: 1 }, y: { c: 1 } } },
    { providerOptions: { x: { b: 2 }, z: { d: 1 } } },
    { providerOptions: { x: { a: 1, b: 2 }, y: { c: 1 }, z: { d: 1 } } },
  ],
])("of %j and %j become %j", (own, given, expected) => {
  expect(mergeSettings(Object({ ...own, id: "a" }), given)).toEqual(expected);
});

test("a long name of an option is cut in the refusal", () => {
  const check = () => checkAllowed("clerk", {}, { openai: { ["x".repeat(300)]: 1 } });
  expect(check).toThrow(
    `Invalid option providerOptions.openai.${"x".repeat(177)}: agent clerk does not allow it`,
  );
});

test("the smaller number counts, except for a seed: the host's stays", () => {
  const own = { temperature: 1, topK: 5, maxSteps: 3, seed: 7 };
  expect(mergeSettings(own, { temperature: 0.5, topK: 9, seed: 2, topP: 0.1 })).toMatchObject({
    ...{ temperature: 0.5, topK: 5, maxSteps: 3, seed: 7, topP: 0.1 },
  });
  expect(mergeSettings({}, { seed: 2 })).toMatchObject({ seed: 2 });
});
