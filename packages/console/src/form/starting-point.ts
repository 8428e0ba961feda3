// What a form that answers is filled in with: only what has to be there, and nothing that decides. A person must mean what is
// optional, and must choose Yes or No and one of several words.
import type { JsonSchema, Suspension } from "../api/types.ts";

export function startingPoint({ resumeSchema }: Pick<Suspension, "resumeSchema">, example: unknown): unknown {
  return resumeSchema === undefined ? {} : undecided(resumeSchema, example);
}

function undecided(schema: JsonSchema, example: unknown): unknown {
  if (decides(schema)) return undefined;
  if (Array.isArray(example)) {
    const items: JsonSchema = Object(schema.items);
    return decides(items) ? [] : example.map((item) => undecided(items, item));
  }
  if (typeof example !== "object" || example === null) return example;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties: Readonly<Record<string, unknown>> = Object(schema.properties);
  const kept = Object.entries(example)
    .filter(([name]) => required.includes(name))
    .map(([name, value]) => [name, undecided(Object(properties[name]), value)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept);
}

/** Yes or No, one of several words, or a union of these. */
function decides({ type, enum: values, anyOf, oneOf }: JsonSchema): boolean {
  if (type === "boolean" || (Array.isArray(values) && values.length > 1)) return true;
  const branches: unknown = anyOf ?? oneOf;
  if (!Array.isArray(branches)) return false;
  const others = branches
    .map((branch): JsonSchema => Object(branch))
    .filter((branch) => branch.type !== "null");
  const isOneWord = (branch: JsonSchema) => "const" in branch || Array.isArray(branch.enum);
  return others.length > 0 && others.every((branch) => isOneWord(branch) || decides(branch));
}
