// A Standard Schema that describes a value and checks it with a function. The AI SDK's `jsonSchema` does the same, but an
// agent is defined before the AI SDK is loaded.
import type { JsonSchema, Schema } from "../../values/schema.ts";

/** `problemOf` returns the problem of a value that does not fit. Default: every value is accepted as it is. */
export function plainSchema<Value>(
  schema: JsonSchema,
  problemOf: (value: unknown) => string | undefined = () => undefined,
): Schema<unknown, Value> {
  const describe = () => schema;
  return {
    "~standard": {
      version: 1,
      vendor: "andante",
      validate: (value) => {
        const message = problemOf(value);
        return message === undefined ? { value: value as Value } : { issues: [{ message }] };
      },
      jsonSchema: { input: describe, output: describe },
    },
  };
}
