// Made-up strings and numbers for the keywords of a schema and the name of a property, best first.
import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import { samplePattern } from "./sample-pattern.ts";

/** A longer minLength is not met, so that no schema can fill the memory. */
const maxSampleLength = 500;

/** What the validator checks by `format`; the number makes the entries of a list differ. */
const formats: Readonly<Record<string, (n: number) => string>> = {
  "date-time": (n) => `2026-01-${day(n)}T09:00:00Z`,
  date: (n) => `2026-01-${day(n)}`,
  time: (n) => `09:00:${day(n)}Z`,
  duration: (n) => `P${n}D`,
  email: (n) => `demo${n}@example.com`,
  uri: (n) => `https://example.com/${n}`,
  url: (n) => `https://example.com/${n}`,
  "uri-reference": (n) => `/demo/${n}`,
  uuid: (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  hostname: (n) => `demo${n}.example.com`,
  ipv4: (n) => `192.0.2.${n % 255}`,
  ipv6: (n) => `2001:db8::${n % 9999}`,
  emoji: () => "🎵",
};

/** Plausible values by a part of the property's name; the first match counts. */
const plausible: readonly (readonly [RegExp, string])[] = [
  [/e-?mail/i, "demo@example.com"],
  [/url|link|website/i, "https://example.com/demo"],
  [/title|headline|subject/i, "A walk by the river"],
  [/topic|keyword|theme|tag|label/i, "walking"],
  [
    /text|content|message|prompt|question|description|summary/i,
    "Walking is slow, and that is why it is good.",
  ],
  [/city|location|place/i, "Oslo"],
  [/name|author|user/i, "Ada Lovelace"],
];

export function* sampleStrings(schema: JSONObject, name: string, variant: number): Generator<string> {
  const { format = "", pattern } = schema;
  const minLength = Math.min(numberOf(schema.minLength, 0), maxSampleLength);
  const maxLength = numberOf(schema.maxLength, maxSampleLength);
  if (typeof format === "string" && Object.hasOwn(formats, format))
    yield formats[format]?.(variant + 1) ?? "";
  const words = plausible.find(([part]) => part.test(name))?.[1] ?? `demo ${name}`.trim();
  const number = variant === 0 ? "" : ` ${variant + 1}`;
  yield `${words.slice(0, maxLength - number.length).padEnd(minLength - number.length, " demo")}${number}`;
  if (typeof pattern === "string")
    for (const more of [0, 1, minLength, minLength + variant]) yield samplePattern(pattern, more);
  yield number.trim().padStart(minLength, "demo").slice(0, maxLength);
}

export function* sampleNumbers(schema: JSONObject, variant: number): Generator<number> {
  const low = Math.max(numberOf(schema.minimum, -Infinity), numberOf(schema.exclusiveMinimum, -Infinity));
  const high = Math.min(numberOf(schema.maximum, Infinity), numberOf(schema.exclusiveMaximum, Infinity));
  const step = numberOf(schema.multipleOf, 1);
  const first = Math.ceil(Math.max(low, Math.min(1, high)) / step) + variant;
  // Without the binary dust: 0.15000000000000002 is 0.15.
  for (const factor of [first, first + 1, first - 1, 0]) yield Number((factor * step).toPrecision(14));
  yield* [low / 2 + high / 2, low, high];
}

export function numberOf(value: JSONValue | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function day(n: number): string {
  return String(((n - 1) % 28) + 1).padStart(2, "0");
}
