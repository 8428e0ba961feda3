// The schema of an object: the JSON Schema that the model is shown, and the check that decides.
import { InvalidSchemaError, ObjectMismatchError } from "../../errors/index.ts";
import {
  checkSchema,
  isStandardSchema,
  type JsonSchema,
  type Schema,
  toJsonSchema,
  type Validation,
  validate,
} from "../../values/schema.ts";
import { schemaText } from "./check-schema.ts";
import type { SchemaChecker } from "./schema-checker.ts";

export interface ObjectShape<Value = unknown> {
  readonly schema: JsonSchema;
  check(value: unknown): Validation<Value> | Promise<Validation<Value>>;
}

/** The shape for a schema of a library or a JSON Schema; throws when it is neither. */
export function shapeOf<Output>(
  schema: Schema<unknown, Output>,
  checker: SchemaChecker,
): Promise<ObjectShape<Output>>;
export function shapeOf(schema: Schema | JsonSchema, checker: SchemaChecker): Promise<ObjectShape>;
export async function shapeOf(schema: Schema | JsonSchema, checker: SchemaChecker): Promise<ObjectShape> {
  return isStandardSchema(schema) ? librarySchemaShape(schema) : jsonSchemaShape(schema, checker);
}

/** The library's own check decides, so that its result (with defaults and transforms) is the object. */
function librarySchemaShape(schema: Schema): ObjectShape {
  const where = "The schema of the object";
  checkSchema(schema, where);
  return { schema: toJsonSchema(schema, "input", where), check: (value) => validate(schema, value) };
}

async function jsonSchemaShape(schema: JsonSchema, checker: SchemaChecker): Promise<ObjectShape> {
  const text = schemaText(schema);
  const judged = await checker.check(text);
  if (!judged.ok) throw new InvalidSchemaError(judged);
  return {
    schema: { ...schema },
    check: async (value) => {
      const verdict = await checker.check(text, JSON.stringify(value));
      // The model cannot help it, so it is not asked again.
      if (!verdict.ok && verdict.overran) throw new ObjectMismatchError(verdict);
      return verdict.ok ? { ok: true, value } : { ok: false, detail: verdict.detail };
    },
  };
}
