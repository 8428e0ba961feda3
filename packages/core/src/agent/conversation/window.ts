// The part of a conversation that a model sees: the newest messages, from a user's message on. A tool call and its result
// are parts of one message, so they are never separated.
import type { UIMessage } from "ai";
import { withoutWaits } from "../messages/wait-part.ts";

/** At most `size` messages and about `tokens` tokens; fewer when the oldest of them replies to one that is left out. */
export function windowOf(
  kept: readonly UIMessage[],
  size: number,
  tokens: number = Number.POSITIVE_INFINITY,
): UIMessage[] {
  const messages = kept.map(withoutWaits);
  const newest = messages.slice(Math.max(messages.length - size, firstWithin(messages, tokens)));
  const first = newest.findIndex(({ role }) => role === "user");
  if (first >= 0) return newest.slice(first);
  const last = messages.findLastIndex(({ role }) => role === "user");
  return last < 0 ? newest : messages.slice(last);
}

/** Where the messages begin that have about so many tokens together. */
function firstWithin(messages: readonly UIMessage[], tokens: number): number {
  if (tokens === Number.POSITIVE_INFINITY) return 0;
  let left = tokens;
  for (let index = messages.length - 1; index >= 0; index--) {
    left -= tokensOf(messages[index]);
    if (left < 0) return index + 1;
  }
  return 0;
}

/** Providers count tokens each in their own way; four characters are about one. A file counts as one part. */
export function tokensOf(message: UIMessage | undefined): number {
  const text = JSON.stringify(message?.parts, (key, value: unknown) =>
    key === "url" && typeof value === "string" && value.startsWith("data:") ? fileText : value,
  );
  return Math.ceil((text?.length ?? 0) / 4);
}

/** The characters that a file in a message counts as: about a thousand tokens. */
const fileText = " ".repeat(4000);
