// An example for a JSON Schema: makes up values place by place, and lets the validator decide which of them fit.
import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import { dereference, validate } from "@cfworker/json-schema";
import { reasonOf, validateWithin } from "../agent/schema/bounded-validator.ts";
import { withinLimit } from "../values/within-limit.ts";
import { flatten, isObject, listOf } from "./flatten.ts";
import { numberOf, sampleNumbers, sampleStrings } from "./samples.ts";

const maxItems = 500;
/** No schema can fill the memory with more values than this, or hold up the process for more milliseconds. */
const maxValues = 2000;
const limit = 500;

/** What the example should rather be made of. */
export interface Wishes {
  /** Values to try first for a property, best first; "" is the whole example. Those that do not fit are passed over. */
  values?(name: string, schema: JSONObject): Iterable<JSONValue>;
  /** Whether to fill an optional property. Default: all of them. */
  wants?(name: string): boolean;
}

export interface Example {
  /** As close to the schema as possible. The same schema and wishes return the same value. */
  readonly value: JSONValue;
  /** Where the value does not fit, and why. Undefined: it fits. */
  readonly problem: string | undefined;
}

export function exampleValue(schema: unknown, wishes: Wishes = {}): Example {
  let value: JSONValue = {};
  try {
    // A copy, because the validator leaves marks in it.
    const root: JSONObject = JSON.parse(JSON.stringify(schema));
    value = withinLimit(() => new Filling(root, wishes).example(), limit);
    const check = validateWithin(root, value, limit);
    return { value, problem: check.ok ? undefined : check.detail };
  } catch (error) {
    return { value, problem: reasonOf(error, limit) };
  }
}

/** Where in the example we are. */
interface Place {
  readonly name: string;
  /** 0 for the first entry of a list, 1 for the next: gives different values. */
  readonly variant: number;
  /** A value is needed here: the best there is, where none fits. */
  readonly needed: boolean;
  /** The schemas around this place. */
  readonly open: ReadonlySet<JSONValue>;
}

class Filling {
  readonly #root: JSONObject;
  readonly #wishes: Wishes;
  readonly #lookup: ReturnType<typeof dereference>;
  #values = 0;

  constructor(root: JSONObject, wishes: Wishes) {
    this.#root = root;
    this.#wishes = wishes;
    this.#lookup = dereference(root);
  }

  example(): JSONValue {
    const value = this.#pick(this.#root, { name: "", variant: 0, needed: true, open: new Set() });
    return value === undefined ? {} : value;
  }

  #pick(schema: JSONValue | undefined, place: Place): JSONValue | undefined {
    let last: JSONValue | undefined;
    if (++this.#values > maxValues) return undefined;
    for (const value of this.#candidates(schema, place)) {
      if (schema === true || (isObject(schema) && validate(value, schema, "2020-12", this.#lookup).valid))
        return value;
      last = value;
    }
    return place.needed ? last : undefined;
  }

  *#candidates(schema: JSONValue | undefined, place: Place): Generator<JSONValue> {
    const read = flatten(schema, this.#root, place.open);
    if (read === undefined) return;
    const { flat, choices, open } = read;
    if (place.variant === 0) yield* this.#wishes.values?.(place.name, flat) ?? [];
    if (flat.default !== undefined) yield flat.default;
    yield* listOf(flat.examples);
    const listed = flat.const === undefined ? listOf(flat.enum) : [flat.const];
    yield* listed.slice(place.variant % listed.length);
    yield* listed;
    if (listed.length > 0) return;
    const inside = { ...place, open };
    const [choice, ...others] = choices;
    for (const branch of choice ?? []) {
      const value = this.#pick(
        { ...flat, allOf: [branch, ...others.map((anyOf) => ({ anyOf: [...anyOf] }))] },
        inside,
      );
      if (value !== undefined) yield value;
    }
    if (choice === undefined) for (const type of typesOf(flat)) yield* this.#ofType(type, flat, inside);
  }

  *#ofType(type: JSONValue, flat: JSONObject, place: Place): Generator<JSONValue> {
    if (type === "object") {
      yield* this.#object(flat, place, (name) => this.#wishes.wants?.(name) ?? true);
      yield* this.#object(flat, place, () => false);
    } else if (type === "array") yield this.#list(flat, place);
    else if (type === "string") yield* sampleStrings(flat, place.name, place.variant);
    else if (type === "number" || type === "integer") yield* sampleNumbers(flat, place.variant);
    else yield* type === "boolean" ? [place.variant % 2 === 0, place.variant % 2 !== 0] : [null];
  }

  *#object(flat: JSONObject, place: Place, wants: (name: string) => boolean): Generator<JSONValue> {
    const { additionalProperties = true, propertyNames = true } = flat;
    const properties = isObject(flat.properties) ? flat.properties : {};
    const required = listOf(flat.required).map(String);
    const entries = new Map<string, JSONValue>();
    for (const name of new Set([...Object.keys(properties), ...required])) {
      const needed = required.includes(name);
      if (!needed && !wants(name)) continue;
      const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      const value = this.#pick(schema, { ...place, name, needed });
      if (value !== undefined) entries.set(name, value);
      else if (needed) return;
    }
    // A record has one entry to show what it is like, or as many as it must have.
    const isRecord = isObject(additionalProperties) && entries.size === 0 && wants("key");
    const minCount = Math.min(Math.max(numberOf(flat.minProperties, 0), isRecord ? 1 : 0), maxItems);
    for (let variant = 0; entries.size < minCount && variant < 2 * minCount; variant++) {
      const key = { ...place, name: "key", variant, needed: true };
      const name = String(this.#pick({ type: "string", allOf: [propertyNames] }, key));
      const value = this.#pick(additionalProperties, { ...key, name });
      if (value !== undefined) entries.set(name, value);
    }
    yield Object.fromEntries(entries);
  }

  #list(flat: JSONObject, place: Place): JSONValue[] {
    // Draft 7 writes a tuple as a list in "items", with "additionalItems" for the rest; 2020-12 has "prefixItems".
    const [tuple, rest = true] = Array.isArray(flat.items)
      ? [flat.items, flat.additionalItems]
      : [listOf(flat.prefixItems), flat.items];
    const minCount = numberOf(flat.minItems, 0);
    const wanted = Math.min(Math.max(minCount, tuple.length, 2), numberOf(flat.maxItems, maxItems), maxItems);
    const name = place.name.replace(/s$/, "");
    const values = new Map<string | number, JSONValue>();
    for (let variant = 0; values.size < wanted && variant < 2 * wanted; variant++) {
      const value = this.#pick(tuple[values.size] ?? rest, {
        ...place,
        name,
        variant,
        needed: values.size < minCount,
      });
      if (value === undefined) break;
      values.set(flat.uniqueItems === true ? JSON.stringify(value) : variant, value);
    }
    return [...values.values()];
  }
}

/** Null comes last: it says the least. */
function typesOf(flat: JSONObject): JSONValue[] {
  const isLast = (type: JSONValue) => Number(type === "null");
  if (flat.type !== undefined) return [flat.type].flat().sort((one, other) => isLast(one) - isLast(other));
  const has = (...keywords: string[]) => keywords.some((keyword) => keyword in flat);
  if (has("properties", "required", "additionalProperties", "minProperties")) return ["object"];
  if (has("items", "prefixItems", "minItems")) return ["array"];
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) return ["number"];
  return ["string", "number", "boolean", "object", "array", "null"];
}
