// The kept messages of a conversation: the newest page first, older ones on request.
import { AndanteApiError } from "@andante/client";
import type { UIMessage } from "ai";
import { andante } from "../../api/andante.ts";

const pageSize = 100;

export interface KeptMessages {
  /** Oldest first. */
  readonly messages: UIMessage[];
  /** The cursor of the page before them; null when there is none. */
  readonly older: string | null;
}

/** An empty page for a conversation that does not exist yet. */
export async function loadMessages(conversationId: string, cursor?: string): Promise<KeptMessages> {
  try {
    const conversation = andante.conversation(conversationId);
    const page = await conversation.messages({ order: "newest", limit: pageSize, cursor });
    // The server keeps messages in the AI SDK's own form.
    const messages: readonly unknown[] = page.messages.toReversed();
    return { messages: messages as UIMessage[], older: page.nextCursor };
  } catch (error) {
    if (error instanceof AndanteApiError && error.status === 404) return { messages: [], older: null };
    throw error;
  }
}
