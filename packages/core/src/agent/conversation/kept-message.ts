// A message of a conversation as the store keeps it.
import type { StoredMessage } from "../../store/conversation-store.ts";
import type { KeptMessage } from "./compaction.ts";

/** The message: we wrote it ourselves. */
export function messageOf({ body }: Pick<StoredMessage, "body">): KeptMessage {
  return JSON.parse(body);
}
