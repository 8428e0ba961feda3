// The settings that a caller may change for one call, each within its range.
import type { JSONValue } from "ai";
import { InvalidOptionError, UnserializableError } from "../../errors/index.ts";
import { toJson } from "../../values/json.ts";

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
  /** Options for the provider's package, by its name. */
  readonly providerOptions?: Record<string, Record<string, JSONValue>> | undefined;
  /** Model calls in one reply; at most the agent's own `maxSteps`. */
  readonly maxSteps?: number | undefined;
}

/** The settings among other options. */
export function pickSettings(settings: CallSettings): CallSettings {
  const { temperature, topP, topK, maxOutputTokens, seed, stopSequences } = settings;
  const { frequencyPenalty, presencePenalty, providerOptions, maxSteps } = settings;
  return {
    temperature,
    topP,
    topK,
    maxOutputTokens,
    seed,
    stopSequences,
    frequencyPenalty,
    presencePenalty,
    providerOptions,
    maxSteps,
  };
}

interface Range {
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

/** The range of every number among the settings. */
export const settingRanges = {
  temperature: { least: 0, most: 2, whole: false },
  topP: { least: 0, most: 1, whole: false },
  topK: { least: 1, most: 10_000, whole: true },
  maxOutputTokens: { least: 1, most: 10_000_000, whole: true },
  seed: { least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER, whole: true },
  frequencyPenalty: { least: -2, most: 2, whole: false },
  presencePenalty: { least: -2, most: 2, whole: false },
  maxSteps: { least: 1, most: 1000, whole: true },
} as const satisfies Partial<Record<keyof CallSettings, Range>>;

const mostStopSequences = 16;
const longestStopSequence = 500;

/** Throws for what is outside its range. */
export function checkSettings(settings: CallSettings, mostSteps: number): void {
  for (const [name, range] of Object.entries(settingRanges)) {
    const value: unknown = Reflect.get(settings, name);
    if (value !== undefined)
      checkNumber(name, value, name === "maxSteps" ? { ...range, most: mostSteps } : range);
  }
  checkStopSequences(settings.stopSequences);
  checkProviderOptions(settings.providerOptions);
}

function checkNumber(option: string, value: unknown, { least, most, whole }: Range): void {
  const fits = typeof value === "number" && value >= least && value <= most;
  if (fits && (!whole || Number.isInteger(value))) return;
  const kind = whole ? "a whole number" : "a number";
  throw new InvalidOptionError({ option, problem: `expected ${kind} from ${least} to ${most}` });
}

function checkStopSequences(value: unknown): void {
  if (value === undefined) return;
  const isOne = (text: unknown) =>
    typeof text === "string" && text !== "" && text.length <= longestStopSequence;
  if (Array.isArray(value) && value.length <= mostStopSequences && value.every(isOne)) return;
  throw new InvalidOptionError({
    option: "stopSequences",
    problem: `expected at most ${mostStopSequences} strings of 1 to ${longestStopSequence} characters`,
  });
}

function checkProviderOptions(value: unknown): void {
  if (value === undefined) return;
  const option = "providerOptions";
  if (!isRecord(value) || !Object.values(value).every(isRecord)) {
    throw new InvalidOptionError({ option, problem: "expected an object with an object for each provider" });
  }
  try {
    toJson(value, option);
  } catch (error) {
    if (error instanceof UnserializableError)
      throw new InvalidOptionError({ option, problem: error.message });
    throw error;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
