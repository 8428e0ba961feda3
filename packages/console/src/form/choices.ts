// The schema for rendering: a union of objects is a choice without a preselected branch. The form library would select
// the first branch and fill in its discriminator. A value or null is the value with the mark `nullable`, a list of
// constants is a choice of several, a file and a value of any kind have controls of their own.
import type { JsonSchema } from "@andante/client";
import { labelOf } from "../format/labels.ts";
import { asSchema, isObject } from "./as-schema.ts";
import { resolveRef } from "./resolve-ref.ts";

/** The title of the empty branch, which the field does not list among the choices. */
export const openChoice = "Choose one";

/** The branches of a union of which at least one is an object with fields; undefined for any other schema. */
export function choicesOf(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] | undefined {
  const union: unknown = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(union)) return undefined;
  const branches = union.map(asSchema);
  const resolved = branches.map((branch) => resolveRef(branch, root)).filter(({ type }) => type !== "null");
  return resolved.length > 1 && resolved.some(hasProperties) ? branches : undefined;
}

function hasProperties({ type, properties }: JsonSchema): boolean {
  return type === "object" || typeof properties === "object";
}

/** The schema with an empty first branch in each such union, and without constants of booleans. */
export function withOpenChoices(schema: JsonSchema): JsonSchema {
  return open(schema, schema);
}

const schemas = ["items", "additionalProperties", "not", "if", "then", "else"];
const lists = ["anyOf", "oneOf", "allOf", "prefixItems"];
const named = ["properties", "$defs", "definitions", "patternProperties"];
/** The keywords whose schemas are fields of the form. */
const drawn = ["properties", "items", "additionalProperties", "prefixItems"];

function open(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const opened: Record<string, unknown> = { ...schema };
  // The user must choose "I agree", even where it is the only accepted value.
  if (schema.type === "boolean") delete opened.const;
  if (schema.contentEncoding === "base64") opened.format = "base64";
  if (isListOfConstants(schema, root)) opened.uniqueItems = true;
  for (const [name, value] of Object.entries(schema)) {
    if (lists.includes(name) && Array.isArray(value))
      opened[name] = value.map((each) => openOne(each, root, name));
    else if (schemas.includes(name)) opened[name] = openOne(value, root, name);
    else if (named.includes(name) && isObject(value))
      opened[name] = Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, openOne(each, root, name)] as const),
      );
  }
  const isNull = (branch: unknown) => asSchema(branch).type === "null";
  const { anyOf, oneOf } = opened;
  const union = [anyOf, oneOf].find(Array.isArray) ?? [];
  if (Array.isArray(schema.type) && schema.type.includes("null") && schema.type.length === 2)
    return { ...opened, type: schema.type.find((type) => type !== "null"), nullable: true };
  if (union.length === 2 && union.some(isNull) && !union.every(isNull)) {
    const { anyOf: _, oneOf: __, ...beside } = opened;
    return { ...asSchema(union.find((branch) => !isNull(branch))), ...beside, nullable: true };
  }
  if (union.some(isNull)) opened.nullable = true;
  const choices = choicesOf(schema, root);
  if (choices === undefined) return opened;
  const branches = choices
    .map((branch) => ({ branch, whole: resolveRef(branch, root) }))
    .filter(({ whole }) => whole.type !== "null")
    .map(({ branch, whole }, index) => ({ title: nameOf(whole, index), ...open(branch, root) }));
  opened[schema.anyOf === undefined ? "oneOf" : "anyOf"] = [{ type: "null", title: openChoice }, ...branches];
  return opened;
}

function openOne(value: unknown, root: JsonSchema, keyword: string): unknown {
  if (!isObject(value) || Array.isArray(value)) return value;
  if (!drawn.includes(keyword) || !acceptsAnything(value)) return open(value, root);
  // The widget of the format `json` takes any value.
  return { ...value, type: "string", format: "json" };
}

const restricting = ["type", "enum", "const", "$ref", "properties", "items", ...lists, "not", "if"];

/** Whether the schema has no keyword that selects a control. */
function acceptsAnything(schema: JsonSchema): boolean {
  return restricting.every((keyword) => schema[keyword] === undefined);
}

function isListOfConstants({ type, items }: JsonSchema, root: JsonSchema): boolean {
  return type === "array" && Array.isArray(resolveRef(asSchema(items), root).enum);
}

/** The title of a branch, or its discriminator. */
function nameOf({ title, properties }: JsonSchema, index: number): string {
  if (typeof title === "string") return title;
  const words = Object.values(asSchema(properties)).flatMap((property) => {
    const { const: word } = asSchema(property);
    return typeof word === "string" ? [word] : [];
  });
  return words[0] === undefined ? `Option ${index + 1}` : labelOf(words[0]);
}
