// What an object must be: the JSON Schema that the model is shown, and the check that decides.
import type { JsonSchema, Validation } from "../../values/schema.ts";
import { boundedValidator } from "./bounded-validator.ts";
import { checkJsonSchema } from "./check-schema.ts";

export interface ObjectShape {
  readonly schema: JsonSchema;
  check(value: unknown): Validation | Promise<Validation>;
}

/** The shape for a JSON Schema that a caller sent; throws when it is not one. */
export function shapeOf(schema: unknown): ObjectShape {
  const checked = checkJsonSchema(schema);
  const validate = boundedValidator(checked);
  return {
    schema: checked,
    check: (value) => {
      const result = validate(value);
      return result.ok ? { ok: true, value } : result;
    },
  };
}
