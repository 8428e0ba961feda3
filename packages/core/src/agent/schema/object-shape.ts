// What an object must be: the JSON Schema that the model is shown, and the check that decides.
import {
  checkSchema,
  isStandardSchema,
  type JsonSchema,
  type Schema,
  toJsonSchema,
  type Validation,
  validate,
} from "../../values/schema.ts";
import { boundedValidator } from "./bounded-validator.ts";
import { checkJsonSchema } from "./check-schema.ts";

export interface ObjectShape<Value = unknown> {
  readonly schema: JsonSchema;
  check(value: unknown): Validation<Value> | Promise<Validation<Value>>;
}

/** The shape for a schema of a library or a JSON Schema; throws when it is neither. */
export function shapeOf<Output>(schema: Schema<unknown, Output>): ObjectShape<Output>;
export function shapeOf(schema: Schema | JsonSchema): ObjectShape;
export function shapeOf(schema: Schema | JsonSchema): ObjectShape {
  return isStandardSchema(schema) ? librarySchemaShape(schema) : jsonSchemaShape(schema);
}

/** The library's own check decides, so that what it makes of the reply (defaults, transforms) is the object. */
function librarySchemaShape(schema: Schema): ObjectShape {
  const where = "The schema of the object";
  checkSchema(schema, where);
  return { schema: toJsonSchema(schema, "input", where), check: (value) => validate(schema, value) };
}

function jsonSchemaShape(schema: JsonSchema): ObjectShape {
  const checked = checkJsonSchema(schema);
  const validateBounded = boundedValidator(checked);
  return {
    schema: checked,
    check: (value) => {
      const result = validateBounded(value);
      return result.ok ? { ok: true, value } : result;
    },
  };
}
