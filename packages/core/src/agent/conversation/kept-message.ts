// A message of a conversation as the store keeps it.
import type { UIMessage } from "ai";
import type { StoredMessage } from "../../store/conversation-store.ts";

/** The message: we wrote it ourselves. */
export function messageOf({ body }: StoredMessage): UIMessage {
  return JSON.parse(body);
}
