// What a model sees of a conversation: the newest messages, from a user's message on.
import type { UIMessage } from "ai";

/** At most `size` messages; fewer when the oldest of them replies to one that is left out. */
export function windowOf(messages: readonly UIMessage[], size: number): UIMessage[] {
  const newest = messages.slice(-size);
  const first = newest.findIndex(({ role }) => role === "user");
  if (first >= 0) return newest.slice(first);
  const last = messages.findLastIndex(({ role }) => role === "user");
  return last < 0 ? newest : messages.slice(last);
}
