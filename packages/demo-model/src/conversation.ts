// Reads the messages of a call: the last question, the earlier ones, and the results of tools called since.
import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

/** The rules read at most this many characters of a message, so that no message can make them slow. */
const maxLength = 20_000;
/** An agent without structured output receives the schema as text, at the end of the message. */
const announced = "JSON Schema:\n";

export interface Conversation {
  readonly system: string;
  /** The text of the last user message. */
  readonly message: string;
  /** The JSON Schema at its end. */
  readonly schema: string | undefined;
  /** The texts of the user messages before it, latest first. */
  readonly earlier: readonly string[];
  /** The media types of the files in it. */
  readonly files: readonly string[];
  /** The results of the tools that were called after it. */
  readonly outcomes: readonly LanguageModelV4ToolResultPart[];
}

export function readConversation(prompt: LanguageModelV4Prompt): Conversation {
  const users = prompt.flatMap((message) => (message.role === "user" ? [message.content] : [])).reverse();
  const texts = users.map((parts) =>
    parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
  );
  const [last = "", ...earlier] = texts;
  const start = last.lastIndexOf(announced);
  // The question is before the paragraph with the schema.
  const asked = start < 0 ? last : last.slice(0, Math.max(last.lastIndexOf("\n\n", start), 0));
  const since = prompt.slice(prompt.findLastIndex(({ role }) => role === "user") + 1);
  const system = prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n");
  return {
    system: system.slice(0, maxLength),
    message: asked.slice(0, maxLength).trim(),
    schema: start < 0 ? undefined : last.slice(start + announced.length),
    earlier: earlier.map((text) => text.slice(0, maxLength)),
    files: users[0]?.flatMap((part) => (part.type === "file" ? [part.mediaType] : [])) ?? [],
    outcomes: since.flatMap(({ role, content }) =>
      role === "tool" || role === "assistant" ? content.filter((part) => part.type === "tool-result") : [],
    ),
  };
}
