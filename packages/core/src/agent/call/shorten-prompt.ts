// Makes a prompt shorter: what tools returned long ago first, then the oldest messages. A call and its result are never
// parted, and the last message of the user stays.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";

type ToolMessage = Extract<LanguageModelV4Message, { role: "tool" }>;

/** About how many tokens a prompt has: four characters are one, a file about a thousand. */
export function tokensOf(prompt: LanguageModelV4Prompt): number {
  return prompt.reduce((total, message) => total + tokensIn(message), 0);
}

function tokensIn(message: LanguageModelV4Message): number {
  const text = JSON.stringify(message.content, (_, value: unknown) =>
    value instanceof Uint8Array || isFileText(value) ? fileText : value,
  );
  return Math.ceil(text.length / 4);
}

const fileText = " ".repeat(4000);

/** A file in a prompt: base64, or an address with its bytes. */
function isFileText(value: unknown): boolean {
  return typeof value === "string" && value.length > 10_000 && /^(data:|[A-Za-z0-9+/=]{10000})/.test(value);
}

/** What tools returned is left out, the oldest first, until the prompt has so many tokens; the newest results stay. */
export function withoutOldResults(prompt: LanguageModelV4Prompt, tokens: number): LanguageModelV4Prompt {
  let left = tokensOf(prompt) - tokens;
  if (left <= 0) return prompt;
  const newest = prompt.findLastIndex(({ role }) => role === "tool");
  return prompt.map((message, index) => {
    if (left <= 0 || message.role !== "tool" || index === newest) return message;
    const shorter = withoutResults(message);
    left -= Math.max(tokensIn(message) - tokensIn(shorter), 0);
    return shorter;
  });
}

function withoutResults(message: ToolMessage): ToolMessage {
  const content = message.content.map((part) =>
    part.type === "tool-result" ? { ...part, output: { type: "text" as const, value: leftOut } } : part,
  );
  return { ...message, content };
}

const leftOut = "[left out: the conversation is too long]";

/** About half of the prompt: for a model that says that the whole is too long. */
export function halfOf(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const tokens = Math.floor(tokensOf(prompt) / 2);
  const system = prompt.filter(({ role }) => role === "system");
  const rest = prompt.filter(({ role }) => role !== "system");
  const lastUser = rest.findLastIndex(({ role }) => role === "user");
  // From a user's message on, so that no reply stands without its question, nor a result without its call.
  const first = rest.findIndex(
    ({ role }, index) =>
      role === "user" && (index === lastUser || tokensOf([...system, ...rest.slice(index)]) <= tokens),
  );
  return withoutOldResults([...system, ...rest.slice(Math.max(first, 0))], tokens);
}
