// A message of a conversation as the store keeps it.
import type { StoredMessage } from "../../store/conversation-store.ts";
import { isRecord } from "../../values/fields.ts";
import type { KeptMessage } from "./compaction.ts";

export function messageOf({ body }: Pick<StoredMessage, "body">): KeptMessage {
  const message: unknown = JSON.parse(body);
  if (!isKeptMessage(message)) throw new TypeError("A stored message is damaged");
  return message;
}

function isKeptMessage(value: unknown): value is KeptMessage {
  return isRecord(value) && typeof value.id === "string" && Array.isArray(value.parts);
}
