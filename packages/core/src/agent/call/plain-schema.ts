// A Standard Schema that describes a value and accepts it as it is. The AI SDK's `jsonSchema` does the same, but an agent
// is defined before the AI SDK is loaded.
import type { JsonSchema, Schema } from "../../values/schema.ts";

export function plainSchema<Value>(schema: JsonSchema): Schema<unknown, Value> {
  const describe = () => schema;
  return {
    "~standard": {
      version: 1,
      vendor: "andante",
      // What the model made of the description is not checked here: whoever uses it finds out.
      validate: (value) => ({ value: value as Value }),
      jsonSchema: { input: describe, output: describe },
    },
  };
}
