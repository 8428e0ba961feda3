// Makes strings for a shape: samples of its format or pattern, words of the prompt, or a plausible word for the name.
import { formatSamples } from "./format.ts";
import { type Hints, normalizeName } from "./hints.ts";
import { patternSamples } from "./pattern.ts";
import { capitalize, paragraphAbout } from "./prose.ts";
import type { Shape } from "./shape.ts";

/** A longer minLength than this is not met, so that no schema can fill the memory. */
const MAXIMUM_LENGTH = 10_000;

/** Field names whose text is taken from the prompt: what to write for a topic. First match wins. */
const fromPrompt: readonly (readonly [RegExp, (hints: Hints) => string])[] = [
  [/title|headline|heading|subject|caption/, (hints) => capitalize(hints.topic)],
  [/topic|keyword|theme|tag|label/, (hints) => hints.topic],
  [/query|question|prompt|input|search|request|instruction/, (hints) => hints.message],
  [/summary|description|reason|explanation|abstract/, (hints) => `A short text about ${hints.topic}.`],
  [/text|content|body|article|paragraph|story/, (hints) => paragraphAbout(hints.topic)],
  [
    /message|answer|reply|response|comment|note/,
    (hints) => `This is the demo model's text about ${hints.topic}.`,
  ],
];

/** Plausible values for other common field names. */
const plausible: readonly (readonly [RegExp, string])[] = [
  [/email/, "demo@example.com"],
  [/url|link|website|href/, "https://example.com/demo"],
  [/city|location|place|town/, "Oslo"],
  [/country/, "Norway"],
  [/address|street/, "1 Demo Street"],
  [/language|locale/, "en"],
  [/currency/, "EUR"],
  [/phone/, "+14155550100"],
  [/date|day$/, "2026-01-01"],
  [/time$/, "09:00"],
  [/colou?r/, "blue"],
  [/firstname|givenname|username/, "Ada"],
  [/lastname|surname|familyname/, "Lovelace"],
  [/name|author|person/, "Ada Lovelace"],
  [/id$/, "demo-1"],
];

/** Candidates, best first; the caller takes the first that the shape accepts. */
export function stringCandidates(shape: Shape, name: string, variant: number, hints: Hints): string[] {
  const minimum = Math.min(shape.minLength, MAXIMUM_LENGTH);
  const words = stringFor(name, hints);
  const fitted = fitLength(words, variant === 0 ? "" : ` ${variant + 1}`, minimum, shape.maxLength);
  const letters = fitLength("demo", variant === 0 ? "" : String(variant + 1), minimum, shape.maxLength);
  const formatted = shape.format === undefined ? [] : formatSamples(shape.format, variant, minimum);
  const patterned = shape.patterns.flatMap((pattern) => patternSamples(pattern, variant, minimum));
  return [...formatted, fitted, ...patterned, letters, letters.toUpperCase(), "d", ""];
}

/** Whether a field of this name takes its words from the prompt. */
export function takesPrompt(name: string): boolean {
  const normalized = normalizeName(name);
  return fromPrompt.some(([part]) => part.test(normalized));
}

export function takesPlace(name: string): boolean {
  return /city|location|place|town|country|destination/.test(normalizeName(name));
}

function stringFor(name: string, hints: Hints): string {
  const normalized = normalizeName(name);
  const written = fromPrompt.find(([part]) => part.test(normalized))?.[1];
  if (written !== undefined) return written(hints) || hints.topic;
  return (
    plausible.find(([part]) => part.test(normalized))?.[1] ?? (name === "" ? hints.topic : `demo ${name}`)
  );
}

/** Cuts or lengthens the words to the limits and keeps the ending, without cutting a character in half. */
function fitLength(words: string, ending: string, minimum: number, maximum: number): string {
  const kept = Math.max(Math.min(maximum, MAXIMUM_LENGTH) - ending.length, 0);
  let text = words.length > kept ? words.slice(0, kept).replace(/[\uD800-\uDBFF]$/, "") : words;
  const missing = minimum - [...text].length - ending.length;
  if (missing > 0) text = (text + " demo".repeat(Math.ceil(missing / 5))).slice(0, text.length + missing);
  return maximum < ending.length ? ending.trim().slice(0, maximum) : text + ending;
}
