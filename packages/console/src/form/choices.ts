// The schema as it is drawn: a union of objects is a choice that is open until the user makes it. The form library would take
// the first of them, and fill in the word that tells it apart from the others.
import type { JsonSchema } from "../api/types.ts";
import { labelOf } from "../format/labels.ts";
import { resolveRef } from "./resolve-ref.ts";

/** The name of the empty choice. The field that shows the others leaves it out. */
export const openChoice = "Choose one";

/** The branches of a union of which at least one has fields of its own; undefined for any other schema. */
export function choicesOf(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] | undefined {
  const union: unknown = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(union)) return undefined;
  const branches = union.map((branch): JsonSchema => Object(branch));
  const resolved = branches.map((branch) => resolveRef(branch, root)).filter(({ type }) => type !== "null");
  return resolved.length > 1 && resolved.some(hasProperties) ? branches : undefined;
}

function hasProperties({ type, properties }: JsonSchema): boolean {
  return type === "object" || typeof properties === "object";
}

/** The same schema, in which each such union begins with a branch that decides nothing, and Yes is not said beforehand. */
export function withOpenChoices(schema: JsonSchema): JsonSchema {
  return open(schema, schema);
}

const schemas = ["items", "additionalProperties", "not", "if", "then", "else"];
const lists = ["anyOf", "oneOf", "allOf", "prefixItems"];
const named = ["properties", "$defs", "definitions", "patternProperties"];

function open(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const opened: Record<string, unknown> = { ...schema };
  // "I agree" is said by a person, also where nothing else is accepted.
  if (schema.type === "boolean") delete opened.const;
  for (const [name, value] of Object.entries(schema)) {
    if (lists.includes(name) && Array.isArray(value)) opened[name] = value.map((each) => openOne(each, root));
    else if (schemas.includes(name)) opened[name] = openOne(value, root);
    else if (named.includes(name) && typeof value === "object" && value !== null)
      opened[name] = Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, openOne(each, root)] as const),
      );
  }
  const choices = choicesOf(schema, root);
  if (choices === undefined) return opened;
  const branches = choices
    .map((branch) => ({ branch, whole: resolveRef(branch, root) }))
    .filter(({ whole }) => whole.type !== "null")
    .map(({ branch, whole }, index) => ({ title: nameOf(whole, index), ...open(branch, root) }));
  opened[schema.anyOf === undefined ? "oneOf" : "anyOf"] = [{ type: "null", title: openChoice }, ...branches];
  return opened;
}

function openOne(value: unknown, root: JsonSchema): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? open(Object(value), root)
    : value;
}

/** Its title, or the one word that tells it apart. */
function nameOf({ title, properties }: JsonSchema, index: number): string {
  if (typeof title === "string") return title;
  const words = Object.values(Object(properties)).flatMap((property) => {
    const word: unknown = Object(property).const;
    return typeof word === "string" ? [word] : [];
  });
  return words[0] === undefined ? `Option ${index + 1}` : labelOf(words[0]);
}
