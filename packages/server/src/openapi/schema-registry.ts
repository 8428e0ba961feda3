// The JSON Schemas of a host as components of the API description: every schema has a unique name, and references point
// to the components. Generators follow references to components and hardly any others.
import { isObject } from "../is-object.ts";
import { type JsonObject, schemaPath } from "./json-object.ts";

/** Keywords whose values are data: `$ref` inside them is not a reference. */
const data = new Set(["const", "enum", "default", "examples", "example"]);
/** Keywords of a whole document: an OpenAPI document has one dialect and one address for all schemas. */
const ofDocument = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor"]);
const containers = ["$defs", "definitions"] as const;
/** Keywords whose keys are arbitrary names, possibly `default`. */
const named = new Set(["properties", "patternProperties", "dependentSchemas", ...containers]);

export class SchemaRegistry {
  readonly schemas: Record<string, JsonObject> = {};
  readonly #taken: Set<string>;

  /** `taken` are names in use. */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** Adds a schema of the host under this name, or a similar free one, and returns a reference to it. */
  add(wanted: string, schema: JsonObject): JsonObject {
    const name = this.#free(wanted);
    const moved = new Map<string, string>();
    for (const container of containers) {
      const inside = schema[container];
      for (const key of isObject(inside) ? Object.keys(inside) : []) {
        const pointer = key.replaceAll("~", "~0").replaceAll("/", "~1");
        moved.set(`#/${container}/${pointer}`, this.#free(`${name}${pascalCase(key)}`));
      }
    }
    const place = (reference: string) => placeOf(decoded(reference), name, moved);
    const { $defs, definitions, ...root } = schema;
    this.schemas[name] = rewritten(root, place);
    for (const [pointer, id] of moved) {
      const [, container = "", key = ""] = pointer.split("/");
      const inside = container === "$defs" ? $defs : definitions;
      const found = isObject(inside) ? inside[key.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
      this.schemas[id] = isObject(found) ? rewritten(found, place) : {};
    }
    return { $ref: schemaPath(name) };
  }

  /** Adds a built-in schema, whose references are correct already. */
  put(wanted: string, schema: JsonObject): void {
    this.schemas[this.#free(wanted)] = schema;
  }

  #free(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${wanted}${count}`;
    this.#taken.add(name);
    return name;
  }
}

/** `nightly-batch` as `NightlyBatch`: every language allows letters and digits in type names. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

/** The decoded pointer of a reference; the reference itself where it is not validly encoded. */
function decoded(reference: string): string {
  try {
    return decodeURI(reference);
  } catch {
    return reference;
  }
}

/** The target of a schema's reference in the description; undefined where the target is outside of it. */
function placeOf(reference: string, name: string, moved: ReadonlyMap<string, string>): string | undefined {
  for (const [pointer, id] of moved) {
    if (reference === pointer || reference.startsWith(`${pointer}/`))
      return schemaPath(id) + reference.slice(pointer.length);
  }
  return reference === "#" || reference.startsWith("#/") ? schemaPath(name) + reference.slice(1) : undefined;
}

function rewritten(schema: JsonObject, place: (reference: string) => string | undefined): JsonObject {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    return isObject(value) ? rewritten(value, place) : value;
  };
  const walkNamed = (value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each)]))
      : value;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (ofDocument.has(key) && typeof value === "string") return [];
    if (key === "$ref" && typeof value === "string") {
      const found = place(value);
      return found === undefined ? [] : [[key, found]];
    }
    if (named.has(key)) return [[key, walkNamed(value)]];
    return [[key, data.has(key) ? value : walk(value)]];
  });
  return Object.fromEntries(entries);
}
