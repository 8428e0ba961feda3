// The kept messages of a conversation, the newest first to be read: older ones come page by page, when they are asked for.
import type { UIMessage } from "ai";
import { ApiError, call, part } from "../../api/call.ts";

const pageSize = 100;

export interface KeptMessages {
  /** The oldest first. */
  readonly messages: UIMessage[];
  /** Where the ones before them begin; null when there are none. */
  readonly older: string | null;
}

/** Nothing in a conversation that has not begun. */
export async function loadMessages(conversationId: string, cursor?: string): Promise<KeptMessages> {
  try {
    const path = `/api/conversations/${part(conversationId)}/messages`;
    const query = { order: "newest", limit: pageSize, cursor };
    const page = await call<{ messages: UIMessage[]; nextCursor: string | null }>(path, { query });
    return { messages: page.messages.toReversed(), older: page.nextCursor };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { messages: [], older: null };
    throw error;
  }
}
