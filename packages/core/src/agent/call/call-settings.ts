// The settings of a model that a caller may change for one call, each within its range.
import type { JSONValue } from "ai";
import { InvalidOptionError } from "../../errors/index.ts";
import { optionJson } from "../../values/check-options.ts";
import { isRecord, propertyOf } from "../../values/fields.ts";

/** How much a model reasons before it replies, the least first. */
export const reasoningLevels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Reasoning = "provider-default" | (typeof reasoningLevels)[number];

/** How one call differs from the agent's own settings. */
export interface CallSettings {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly stopSequences?: string[] | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly reasoning?: Reasoning | undefined;
  /** Options for the provider's package, by its name; a caller may set those that the agent allows. */
  readonly providerOptions?: Record<string, Record<string, JSONValue>> | undefined;
  /** Model calls in one reply. */
  readonly maxSteps?: number | undefined;
}

/** The settings among other options. */
export function pickSettings(settings: CallSettings): CallSettings {
  const { temperature, topP, topK, maxOutputTokens, seed, stopSequences } = settings;
  const { frequencyPenalty, presencePenalty, reasoning, providerOptions, maxSteps } = settings;
  return {
    temperature,
    topP,
    topK,
    maxOutputTokens,
    seed,
    stopSequences,
    frequencyPenalty,
    presencePenalty,
    reasoning,
    providerOptions,
    maxSteps,
  };
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly integer: boolean;
}

/** The range of every number among the settings. */
export const settingRanges = {
  temperature: { min: 0, max: 2, integer: false },
  topP: { min: 0, max: 1, integer: false },
  topK: { min: 1, max: 10_000, integer: true },
  maxOutputTokens: { min: 1, max: 10_000_000, integer: true },
  seed: { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, integer: true },
  frequencyPenalty: { min: -2, max: 2, integer: false },
  presencePenalty: { min: -2, max: 2, integer: false },
  maxSteps: { min: 1, max: 1000, integer: true },
} as const satisfies Partial<Record<keyof CallSettings, Range>>;

const maxStopSequences = 16;
const maxStopSequenceLength = 500;

/** Throws for a value outside its range. */
export function checkSettings(settings: CallSettings): void {
  for (const [name, range] of Object.entries(settingRanges)) {
    const value = propertyOf(settings, name);
    if (value !== undefined) checkNumber(name, value, range);
  }
  checkReasoning(settings.reasoning);
  checkStopSequences(settings.stopSequences);
  checkProviderOptions(settings.providerOptions);
}

function checkNumber(option: string, value: unknown, { min, max, integer }: Range): void {
  const fits = typeof value === "number" && value >= min && value <= max;
  if (fits && (!integer || Number.isInteger(value))) return;
  const kind = integer ? "a whole number" : "a number";
  throw new InvalidOptionError({ option, problem: `expected ${kind} from ${min} to ${max}` });
}

function checkReasoning(value: unknown): void {
  const accepted: readonly unknown[] = ["provider-default", ...reasoningLevels];
  if (value === undefined || accepted.includes(value)) return;
  throw new InvalidOptionError({ option: "reasoning", problem: `expected one of ${accepted.join(", ")}` });
}

function checkStopSequences(value: unknown): void {
  if (value === undefined) return;
  const isOne = (text: unknown) =>
    typeof text === "string" && text !== "" && text.length <= maxStopSequenceLength;
  if (Array.isArray(value) && value.length <= maxStopSequences && value.every(isOne)) return;
  throw new InvalidOptionError({
    option: "stopSequences",
    problem: `expected at most ${maxStopSequences} strings of 1 to ${maxStopSequenceLength} characters`,
  });
}

function checkProviderOptions(value: unknown): void {
  if (value === undefined) return;
  const option = "providerOptions";
  if (!isRecord(value) || !Object.values(value).every(isRecord)) {
    throw new InvalidOptionError({ option, problem: "expected an object with an object for each provider" });
  }
  optionJson(option, value);
}
