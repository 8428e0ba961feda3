// The settings of one call: a value outside its range is refused with the name of the setting and the expected range.
import { expect, test } from "vitest";
import { type CallSettings, checkSettings, pickSettings } from "./call-settings.ts";

const check = (settings: object) => () => checkSettings(settings as CallSettings);

test.each([
  {},
  { temperature: 0.5, topP: 1, maxSteps: 1 },
  { temperature: 0, topP: 0, topK: 1, maxOutputTokens: 1, frequencyPenalty: -2, presencePenalty: -2 },
  { temperature: 2, topP: 1, topK: 10_000, maxOutputTokens: 10_000_000, frequencyPenalty: 2, maxSteps: 1000 },
  { frequencyPenalty: 0.5, presencePenalty: 2, seed: -5 },
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
  ["temperature: expected a number from 0 to 2", { temperature: "hot" }],
  ["temperature: expected a number from 0 to 2", { temperature: "1" }],
  ...(
    [
      ["temperature", "a number", 0, 2],
      ["topP", "a number", 0, 1],
      ["topK", "a whole number", 1, 10_000],
      ["maxOutputTokens", "a whole number", 1, 10_000_000],
      ["frequencyPenalty", "a number", -2, 2],
      ["presencePenalty", "a number", -2, 2],
    ] as const
  ).flatMap(([name, kind, min, max]): [string, object][] => [
    [`${name}: expected ${kind} from ${min} to ${max}`, { [name]: min - 0.5 }],
    [`${name}: expected ${kind} from ${min} to ${max}`, { [name]: max + 0.5 }],
  ]),
  [`seed: expected a whole number from -${2 ** 53 - 1} to ${2 ** 53 - 1}`, { seed: 0.5 }],
  [stops, { stopSequences: ["x", ""] }],
  [providers, { providerOptions: { openai: {}, x: 5 } }],
  [stops, { stopSequences: "." }],
  [stops, { stopSequences: [""] }],
  [stops, { stopSequences: [1] }],
  [stops, { stopSequences: [["x"]] }],
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

test("the settings among other options", () => {
  const settings = {
    ...{ temperature: 1, topP: 1, topK: 1, maxOutputTokens: 1, seed: 1, stopSequences: ["x"] },
    ...{ frequencyPenalty: 1, presencePenalty: 1, providerOptions: {}, maxSteps: 1 },
    reasoning: "low" as const,
  };
  expect(pickSettings({ ...settings, ...{ id: "a", tools: {} } })).toEqual(settings);
});
