// The initial values of a form for resume data: the fields of the data that the step passed to `suspend`, where they
// fit the schema. All other fields start empty, and decisions are left to the user: Yes or No, one of several
// constants, the branch of a union.
import type { JsonSchema, Suspension } from "@andante/client";
import { asSchema, isObject } from "./as-schema.ts";
import { choicesOf } from "./choices.ts";
import { resolveRef } from "./resolve-ref.ts";
import { validator } from "./validator.ts";

export function startingPoint({ resumeSchema, data }: Pick<Suspension, "resumeSchema" | "data">): unknown {
  if (resumeSchema === undefined || !isObject(data)) return undefined;
  const fits = (field: JsonSchema, value: unknown) => validator.isValid(field, value, resumeSchema);
  if (Array.isArray(data)) return fits(resumeSchema, data) ? data : undefined;
  const fields = Object.entries(asSchema(whole(resumeSchema, resumeSchema).properties));
  const taken = fields.flatMap(([name, given]) => {
    const field = whole(asSchema(given), resumeSchema);
    const isTaken = Object.hasOwn(data, name) && !decides(field, resumeSchema) && fits(field, data[name]);
    return isTaken ? [[name, data[name]] as const] : [];
  });
  return taken.length === 0 ? undefined : Object.fromEntries(taken);
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
