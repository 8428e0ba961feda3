// The initial values of a form for resume data: only required fields, and no decisions. The user must fill in optional
// fields, and must choose Yes or No, one of several constants, and the branch of a union.
import type { JsonSchema, Suspension } from "@andante/client";
import { asSchema } from "./as-schema.ts";
import { choicesOf } from "./choices.ts";
import { resolveRef } from "./resolve-ref.ts";

export function startingPoint({ resumeSchema }: Pick<Suspension, "resumeSchema">, example: unknown): unknown {
  return resumeSchema === undefined ? {} : undecided(resumeSchema, example, resumeSchema);
}

function undecided(given: JsonSchema, example: unknown, root: JsonSchema): unknown {
  const schema = whole(given, root);
  if (decides(schema, root)) return undefined;
  if (Array.isArray(example)) {
    const items = asSchema(schema.items);
    return decides(whole(items, root), root) ? [] : example.map((item) => undecided(items, item, root));
  }
  if (typeof example !== "object" || example === null) return example;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = asSchema(schema.properties);
  const kept = Object.entries(example)
    .filter(([name]) => required.includes(name))
    .map(([name, value]) => [name, undecided(asSchema(properties[name]), value, root)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept);
}

/** The schema with its reference resolved and its `allOf` merged. */
function whole(given: JsonSchema, root: JsonSchema): JsonSchema {
  const schema = resolveRef(given, root);
  if (!Array.isArray(schema.allOf)) return schema;
  const parts = [schema, ...schema.allOf.map((part) => resolveRef(asSchema(part), root))];
  return {
    ...Object.assign({}, ...parts.toReversed()),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => (Array.isArray(required) ? required : [])),
  };
}

/** Maximum depth of nested branches: a schema may refer to itself. */
const deepest = 8;

/** Whether the value is a decision: a boolean, an enum, a union of these, or a union of objects. */
function decides(schema: JsonSchema, root: JsonSchema, depth = 0): boolean {
  const { type, enum: values, anyOf, oneOf } = schema;
  if (type === "boolean" || (Array.isArray(values) && values.length > 1)) return true;
  if (choicesOf(schema, root) !== undefined) return true;
  const branches: unknown = anyOf ?? oneOf;
  if (!Array.isArray(branches)) return false;
  if (depth === deepest) return true;
  const others = branches
    .map((branch) => whole(asSchema(branch), root))
    .filter((branch) => branch.type !== "null");
  const isOneWord = (branch: JsonSchema) => "const" in branch || Array.isArray(branch.enum);
  return others.length > 0 && others.every((branch) => isOneWord(branch) || decides(branch, root, depth + 1));
}
