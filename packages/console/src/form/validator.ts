// Decides which branch of a schema a value fits, by walking the schema: it compiles no code from text.
//
// The error messages come from the server.
import { type Schema, Validator } from "@cfworker/json-schema";
import type { RJSFSchema, ValidatorType } from "@rjsf/utils";

export const validator: ValidatorType = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  rawValidation: () => ({ errors: [] }),
  isValid: (schema, data, root) => {
    try {
      const whole = { ...schema, $defs: { ...root.$defs, ...schema.$defs } };
      return new Validator(asSchema(whole), "2020-12").validate(data).valid;
    } catch {
      return false;
    }
  },
};

/** Both libraries have a type for the same JSON Schema. */
function asSchema(schema: RJSFSchema): Schema {
  return schema as Schema;
}
