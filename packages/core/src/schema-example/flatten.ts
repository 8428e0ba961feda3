// One place of a JSON Schema as a plain object: references followed, allOf merged. Values made from it are checked
// against the schema itself, so keywords that matter little here are merged carelessly: one of them counts.
import type { JSONObject, JSONValue } from "@ai-sdk/provider";

type Maybe = JSONValue | undefined;

export interface FlatSchema {
  /** The keywords, without $ref, allOf, anyOf and oneOf. */
  readonly flat: JSONObject;
  /** The branches of each anyOf and oneOf. */
  readonly choices: readonly (readonly JSONValue[])[];
  /** The schemas that hold here and around here: one that comes again inside itself is not followed. */
  readonly open: ReadonlySet<JSONValue>;
}

/** Undefined where nothing fits (`false`), and where the schema is inside itself. */
export function flatten(
  schema: Maybe,
  root: JSONValue,
  around: ReadonlySet<JSONValue>,
): FlatSchema | undefined {
  if (schema === true) return { flat: {}, choices: [], open: around };
  if (!isObject(schema) || around.has(schema)) return undefined;
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const open = new Set([...around, schema]);
  const referred = typeof $ref === "string" ? [resolve($ref, root)] : [];
  const parts = [...referred, ...listOf(allOf)].map((part) => flatten(part, root, open));
  const choices = [listOf(anyOf), listOf(oneOf)].filter((branches) => branches.length > 0);
  return parts.reduce<FlatSchema | undefined>(join, { flat: own, choices, open });
}

function join(one: FlatSchema | undefined, other: FlatSchema | undefined): FlatSchema | undefined {
  if (one === undefined || other === undefined) return undefined;
  const flat: JSONObject = { ...other.flat, ...one.flat };
  for (const keyword of Object.keys(other.flat))
    flat[keyword] = both(keyword, one.flat[keyword], other.flat[keyword]);
  return { flat, choices: [...one.choices, ...other.choices], open: new Set([...one.open, ...other.open]) };
}

function both(keyword: string, one: Maybe, other: Maybe): Maybe {
  if (keyword === "required") return [...listOf(one), ...listOf(other)];
  if (keyword === "properties" && isObject(one) && isObject(other)) {
    const names = Object.keys(other).map((name) => [
      name,
      { allOf: [one[name] ?? true, other[name] ?? true] },
    ]);
    return { ...one, ...Object.fromEntries(names) };
  }
  if (typeof one !== "number" || typeof other !== "number") return one ?? other;
  return /^(?:min|exclusiveMin)/.test(keyword) ? Math.max(one, other) : Math.min(one, other);
}

/** What `#/$defs/name` points at. */
function resolve(reference: string, root: JSONValue): Maybe {
  const names = reference.split("/").slice(1).map(decodeURIComponent);
  return names.reduce<Maybe>((target, name) => {
    const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
    return isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }, root);
}

export function isObject(value: Maybe): value is JSONObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: Maybe): readonly JSONValue[] {
  return Array.isArray(value) ? value : [];
}
