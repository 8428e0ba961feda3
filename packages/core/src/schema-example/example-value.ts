// An example value for a JSON Schema: its default or first example where it has one, else a value of its type.
import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import { dereference, validate } from "@cfworker/json-schema";
import { reasonOf, validateWithin } from "../agent/schema/bounded-validator.ts";
import { withinLimit } from "../values/within-limit.ts";
import { isObject, listOf, mergeSchema } from "./merged-schema.ts";

/** Bounds of an example: places visited, entries of a list, characters of a string, milliseconds. */
const maxPlaces = 2000;
const maxItems = 500;
const maxLength = 500;
const limit = 500;

/** Values and properties that an example should have. */
export interface Preferences {
  /** Values for a property, best first; "" is the whole example. The first one that fits the schema is used. */
  values?(name: string, schema: JSONObject): Iterable<JSONValue>;
  /** Whether to fill an optional property. Default: all of them. */
  wants?(name: string): boolean;
}

export interface Example {
  /** The same schema and preferences return the same value. */
  readonly value: JSONValue;
  /** Where the value does not fit the schema, and why. Undefined: it fits. */
  readonly problem: string | undefined;
}

export function exampleValue(schema: unknown, preferences: Preferences = {}): Example {
  let value: JSONValue = {};
  try {
    // A copy, because the validator adds properties to it.
    const copy: unknown = JSON.parse(JSON.stringify(schema));
    const root = isObject(copy) ? copy : {};
    value = withinLimit(() => new ExampleBuilder(root, preferences).example(), limit);
    const check = validateWithin(root, value, limit);
    return { value, problem: check.ok ? undefined : check.detail };
  } catch (error) {
    return { value, problem: reasonOf(error, limit) };
  }
}

/** A place in the example. */
interface Place {
  readonly name: string;
  /** 0 for the first entry of a list, 1 for the next: makes the entries differ. */
  readonly variant: number;
  /** The schemas around this place. */
  readonly open: ReadonlySet<JSONValue>;
}

class ExampleBuilder {
  readonly #root: JSONObject;
  readonly #preferences: Preferences;
  readonly #lookup: ReturnType<typeof dereference>;
  #places = 0;

  constructor(root: JSONObject, preferences: Preferences) {
    this.#root = root;
    this.#preferences = preferences;
    this.#lookup = dereference(root);
  }

  example(): JSONValue {
    const value = this.#value(this.#root, { name: "", variant: 0, open: new Set() });
    return value === undefined ? {} : value;
  }

  /** Undefined where the schema accepts nothing or contains itself, and beyond the bound of places. */
  #value(schema: JSONValue | undefined, place: Place): JSONValue | undefined {
    if (++this.#places > maxPlaces) return undefined;
    const merged = mergeSchema(schema, this.#root, place.open);
    if (merged === undefined) return undefined;
    const { keywords, choices, open } = merged;
    if (place.variant === 0 && isObject(schema))
      for (const value of this.#preferences.values?.(place.name, keywords) ?? [])
        if (validate(value, schema, "2020-12", this.#lookup).valid) return value;
    const given = [keywords.default, listOf(keywords.examples)[0], keywords.const];
    const known = given.find((value) => value !== undefined);
    if (known !== undefined) return known;
    if (Array.isArray(keywords.enum)) return keywords.enum[place.variant % keywords.enum.length];
    const inside = { ...place, open };
    const [choice, ...others] = choices;
    if (choice === undefined) return this.#ofType(typeOf(keywords), keywords, inside);
    for (const branch of choice) {
      const rest = others.map((anyOf) => ({ anyOf: [...anyOf] }));
      const value = this.#value({ ...keywords, allOf: [branch, ...rest] }, inside);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #ofType(type: JSONValue, keywords: JSONObject, place: Place): JSONValue | undefined {
    if (type === "object") return this.#object(keywords, place);
    if (type === "array") return this.#list(keywords, place);
    if (type === "string") return exampleString(keywords, place);
    if (type === "number" || type === "integer") return exampleNumber(keywords, place.variant);
    return type === "boolean" ? place.variant % 2 === 0 : null;
  }

  #object(keywords: JSONObject, place: Place): JSONValue | undefined {
    const { additionalProperties = true, propertyNames = true } = keywords;
    const properties = isObject(keywords.properties) ? keywords.properties : {};
    const required = listOf(keywords.required).map(String);
    const wants = (name: string) => this.#preferences.wants?.(name) ?? true;
    const entries = new Map<string, JSONValue>();
    for (const name of new Set([...Object.keys(properties), ...required])) {
      const isRequired = required.includes(name);
      if (!isRequired && !wants(name)) continue;
      const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      const value = this.#value(schema, { ...place, name });
      if (value !== undefined) entries.set(name, value);
      else if (isRequired) return undefined;
    }
    // A record has one entry, or as many as it must have.
    const isRecord = isObject(additionalProperties) && entries.size === 0 && wants("key");
    const least = Math.min(Math.max(numberOf(keywords.minProperties, 0), isRecord ? 1 : 0), maxItems);
    for (let variant = 0; entries.size < least && variant < 2 * least; variant++) {
      const key = { ...place, name: "key", variant };
      const name = String(this.#value({ type: "string", allOf: [propertyNames] }, key));
      const value = this.#value(additionalProperties, { ...key, name });
      if (value !== undefined) entries.set(name, value);
    }
    return Object.fromEntries(entries);
  }

  #list(keywords: JSONObject, place: Place): JSONValue[] {
    // Draft 7 writes a tuple as a list in "items", with "additionalItems" for the rest; 2020-12 has "prefixItems".
    const [tuple, rest = true] = Array.isArray(keywords.items)
      ? [keywords.items, keywords.additionalItems]
      : [listOf(keywords.prefixItems), keywords.items];
    const least = Math.max(numberOf(keywords.minItems, 0), tuple.length, 2);
    const length = Math.min(least, numberOf(keywords.maxItems, maxItems), maxItems);
    const values: JSONValue[] = [];
    while (values.length < length) {
      const entry = { ...place, name: place.name.replace(/s$/, ""), variant: values.length };
      const value = this.#value(tuple[values.length] ?? rest, entry);
      if (value === undefined) break;
      values.push(value);
    }
    return values;
  }
}

/** The first type; null only where it is the only one. */
function typeOf(keywords: JSONObject): JSONValue {
  const has = (...names: string[]) => names.some((name) => name in keywords);
  if (keywords.type !== undefined) return [keywords.type].flat().find((type) => type !== "null") ?? "null";
  if (has("properties", "required", "additionalProperties", "minProperties")) return "object";
  if (has("items", "prefixItems", "minItems")) return "array";
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) return "number";
  return "string";
}

/** Strings of the formats that the validator checks; `n` makes the entries of a list differ. */
const formats: Readonly<Record<string, (n: number) => string>> = {
  "date-time": (n) => `2026-01-${twoDigits(n)}T09:00:00Z`,
  date: (n) => `2026-01-${twoDigits(n)}`,
  time: (n) => `09:00:${twoDigits(n)}Z`,
  duration: (n) => `P${n}D`,
  email: (n) => `demo${n}@example.com`,
  uri: (n) => `https://example.com/${n}`,
  url: (n) => `https://example.com/${n}`,
  "uri-reference": (n) => `/demo/${n}`,
  uuid: (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  hostname: (n) => `demo${n}.example.com`,
  ipv4: (n) => `192.0.2.${n % 255}`,
  ipv6: (n) => `2001:db8::${n % 9999}`,
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

function exampleString({ format, ...keywords }: JSONObject, { name, variant }: Place): string {
  if (typeof format === "string" && Object.hasOwn(formats, format))
    return formats[format]?.(variant + 1) ?? "";
  const shortest = Math.min(numberOf(keywords.minLength, 0), maxLength);
  const longest = numberOf(keywords.maxLength, maxLength);
  const words = plausible.find(([part]) => part.test(name))?.[1] ?? `demo ${name}`.trim();
  const ending = variant === 0 ? "" : ` ${variant + 1}`.slice(-longest);
  return `${words.slice(0, longest - ending.length).padEnd(shortest - ending.length, " demo")}${ending}`;
}

/** A multiple at the lower limit or near 1; between the limits where none fits. */
function exampleNumber(keywords: JSONObject, variant: number): number {
  const above = numberOf(keywords.exclusiveMinimum, -Infinity);
  const below = numberOf(keywords.exclusiveMaximum, Infinity);
  const low = Math.max(numberOf(keywords.minimum, -Infinity), above);
  const high = Math.min(numberOf(keywords.maximum, Infinity), below);
  const step = numberOf(keywords.multipleOf, 1);
  const first = Math.ceil(Math.max(low, Math.min(1, high)) / step) + variant;
  // Rounded, because 3 × 0.05 is 0.15000000000000002.
  const multiples = [first, first + 1, first - 1].map((factor) => Number((factor * step).toPrecision(14)));
  const middle = low / 2 + high / 2;
  const fitting = multiples.find((n) => n >= low && n <= high && n > above && n < below);
  return fitting ?? (Number.isFinite(middle) ? middle : first);
}

function numberOf(value: JSONValue | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function twoDigits(n: number): string {
  return String(((n - 1) % 28) + 1).padStart(2, "0");
}
