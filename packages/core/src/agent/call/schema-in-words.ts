// Asks an agent without structured output for JSON of a schema: in words.
import type { ModelMessage } from "ai";

/** The messages with the schema added to the last one of the user. */
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
