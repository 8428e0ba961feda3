// One place of a JSON Schema as a plain object: references resolved, allOf merged. Where two schemas set a keyword other
// than a limit, one of them counts: the finished example is validated against the schema itself.
import type { JSONObject, JSONValue } from "@ai-sdk/provider";

type Maybe = JSONValue | undefined;

export interface MergedSchema {
  /** The keywords, without $ref, allOf, anyOf and oneOf. */
  readonly keywords: JSONObject;
  /** The branches of each anyOf and oneOf. */
  readonly choices: readonly (readonly JSONValue[])[];
  /** The schemas at this place and around it. A schema inside itself is not followed. */
  readonly open: ReadonlySet<JSONValue>;
}

/** Undefined for a schema that accepts no value (`false`, `{ not: {} }`) and for a schema inside itself. */
export function mergeSchema(
  schema: Maybe,
  root: JSONValue,
  around: ReadonlySet<JSONValue>,
): MergedSchema | undefined {
  if (schema === true) return { keywords: {}, choices: [], open: around };
  if (!isObject(schema) || around.has(schema)) return undefined;
  const { $ref, allOf, anyOf, oneOf, not, ...keywords } = schema;
  if (isObject(not) && Object.keys(not).length === 0) return undefined;
  const open = new Set([...around, schema]);
  const referred = typeof $ref === "string" ? [resolve($ref, root)] : [];
  const parts = [...referred, ...listOf(allOf)].map((part) => mergeSchema(part, root, open));
  const choices = [listOf(anyOf), listOf(oneOf)].filter((branches) => branches.length > 0);
  return parts.reduce<MergedSchema | undefined>(merge, { keywords, choices, open });
}

function merge(one: MergedSchema | undefined, other: MergedSchema | undefined): MergedSchema | undefined {
  if (one === undefined || other === undefined) return undefined;
  const keywords: JSONObject = { ...other.keywords, ...one.keywords };
  for (const keyword of Object.keys(other.keywords))
    keywords[keyword] = mergeKeyword(keyword, one.keywords[keyword], other.keywords[keyword]);
  return {
    keywords,
    choices: [...one.choices, ...other.choices],
    open: new Set([...one.open, ...other.open]),
  };
}

function mergeKeyword(keyword: string, one: Maybe, other: Maybe): Maybe {
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

/** Resolves a reference such as `#/$defs/name`. */
function resolve(reference: string, root: JSONValue): Maybe {
  const names = reference.split("/").slice(1).map(decodeURIComponent);
  return names.reduce<Maybe>((target, name) => {
    const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
    return isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }, root);
}

export function isObject(value: unknown): value is JSONObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: Maybe): readonly JSONValue[] {
  return Array.isArray(value) ? value : [];
}
