// Resolves a `$ref` within the same schema: no other document is loaded.
import type { JsonSchema } from "@andante/client";
import { isObject } from "./as-schema.ts";

/** Maximum length of a chain of references. */
const longestChain = 8;

/** The target of the reference; the schema itself without a reference or with a broken one. */
export function resolveRef(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let found = schema;
  for (let n = 0; n < longestChain && typeof found.$ref === "string"; n += 1) {
    const { $ref, ...beside } = found;
    const target = lookUp(String($ref), root);
    if (target === undefined) return found;
    found = { ...target, ...beside };
  }
  return found;
}

/** The first broken reference in the schema. */
export function brokenRef(schema: JsonSchema): string | undefined {
  const walk = (value: unknown): string | undefined => {
    if (typeof value !== "object" || value === null) return undefined;
    for (const [name, inside] of Object.entries(value)) {
      if (name === "$ref" && typeof inside === "string" && lookUp(inside, schema) === undefined)
        return inside;
      // These keywords contain data, which may look like schemas.
      if (["const", "enum", "default", "examples"].includes(name)) continue;
      const broken = walk(inside);
      if (broken !== undefined) return broken;
    }
    return undefined;
  };
  return walk(schema);
}

function lookUp(ref: string, root: JsonSchema): JsonSchema | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let place: unknown = root;
  for (const step of ref.slice(2).split("/")) {
    const name = decodeStep(step);
    if (!isObject(place) || !Object.hasOwn(place, name)) return undefined;
    place = place[name];
  }
  return isObject(place) ? place : undefined;
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}
