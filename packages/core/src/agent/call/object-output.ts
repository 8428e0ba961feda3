// Asks an agent for a reply that is JSON of a schema: with the AI SDK's `output`, or in words.
import { jsonSchema, type ModelMessage, Output } from "ai";
import type { JsonSchema } from "../../values/schema.ts";
import type { AnyOutput } from "./any-agent.ts";

/** The text is not parsed by the AI SDK: its errors would end the reply, ours lead to a second try. */
export function objectOutput(schema: JsonSchema): AnyOutput {
  return {
    ...Output.object({ schema: jsonSchema<unknown>(schema) }),
    parseCompleteOutput: async ({ text }) => text,
  };
}

/** The messages for an agent without structured output: the schema is added to the last message of the user. */
export function withSchemaInWords(messages: readonly ModelMessage[], schema: object): ModelMessage[] {
  const words = `Reply with nothing but JSON that matches this JSON Schema:\n${JSON.stringify(schema)}`;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: words }];
  const { content } = last;
  const extended =
    typeof content === "string"
      ? `${content}\n\n${words}`
      : [...content, { type: "text" as const, text: words }];
  return [...messages.slice(0, -1), { ...last, content: extended }];
}
