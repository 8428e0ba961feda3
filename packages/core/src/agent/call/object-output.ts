// Asks an agent for a reply that is JSON of a schema, with the AI SDK's `output`.
import { jsonSchema, Output } from "ai";
import type { JsonSchema } from "../../values/schema.ts";
import type { AnyOutput } from "./any-agent.ts";

/** The text is not parsed by the AI SDK: its errors would end the reply, ours lead to a second try. */
export function objectOutput(schema: JsonSchema): AnyOutput {
  return {
    ...Output.object({ schema: jsonSchema<unknown>(schema) }),
    parseCompleteOutput: async ({ text }) => text,
  };
}
