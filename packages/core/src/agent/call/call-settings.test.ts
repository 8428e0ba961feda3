// The settings of one call: a value outside its range is refused with the name of the setting and the expected range.
import { expect, test } from "vitest";
import { type CallSettings, checkSettings } from "./call-settings.ts";

const check = (settings: object) => () => checkSettings(settings as CallSettings);

test.each([
  {},
  { temperature: 0.5, topP: 1, maxSteps: 1 },
  { stopSequences: [] },
  { stopSequences: Array.from({ length: 16 }, () => "x".repeat(500)) },
  { providerOptions: {} },
  { providerOptions: { openai: {}, anthropic: { thinking: { budgetTokens: 5 } } } },
])("accepted: %j", (settings) => {
  expect(check(settings)).not.toThrow();
});

const maxSteps = "maxSteps: expected a whole number from 1 to 1000";
const stops = "stopSequences: expected at most 16 strings of 1 to 500 characters";
const providers = "providerOptions: expected an object with an object for each provider";

test.each<[string, object]>([
  [maxSteps, { maxSteps: 1.5 }],
  [maxSteps, { maxSteps: 0 }],
  [maxSteps, { maxSteps: 1001 }],
  [maxSteps, { maxSteps: "1" }],
  ["temperature: expected a number from", { temperature: "hot" }],
  [stops, { stopSequences: "." }],
  [stops, { stopSequences: [""] }],
  [stops, { stopSequences: [1] }],
  [stops, { stopSequences: ["x".repeat(501)] }],
  [stops, { stopSequences: Array.from({ length: 17 }, () => "x") }],
  ...[null, [], "openai", 5, { openai: null }, { openai: [] }, { openai: "x" }, { openai: 5 }].map(
    (providerOptions): [string, object] => [providers, { providerOptions }],
  ),
])("%s: %j", (problem, settings) => {
  expect(check(settings)).toThrow(problem);
});

test("options of a provider that are not JSON are refused by name", () => {
  expect(check({ providerOptions: { openai: { effort: 1n } } })).toThrow(/^Invalid option providerOptions: /);
});
