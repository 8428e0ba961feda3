// Decides which branch of a schema a value fits, by walking the schema: nothing is compiled, so no code is made from text.
//
// Errors of a value come from the server, in its own words.
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

/** Both libraries describe the same JSON. */
function asSchema(schema: RJSFSchema): Schema {
  return schema as Schema;
}
