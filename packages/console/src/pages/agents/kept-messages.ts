// The kept messages of a conversation: the newest page first, older ones on request.
import { AndanteApiError, type ConversationMessage } from "@andante/client";
import type { UIMessage } from "ai";
import { andante } from "../../api/andante.ts";
import { isObject } from "../../form/as-schema.ts";

const pageSize = 100;

export interface KeptMessages {
  /** Oldest first. */
  readonly messages: UIMessage[];
  /** The cursor of the page before them; null when there is none. */
  readonly older: string | null;
}

/** The chat keeps no fields but the SDK's own: an incomplete reply and a summary are marked in their metadata. */
function withMarks({ partial, summary, ...message }: ConversationMessage): object {
  if (!partial && !summary) return message;
  return { ...message, metadata: { ...(isObject(message.metadata) && message.metadata), partial, summary } };
}

/** An empty page for a conversation that does not exist yet. */
export async function loadMessages(conversationId: string, cursor?: string): Promise<KeptMessages> {
  try {
    const conversation = andante.conversation(conversationId);
    const page = await conversation.messages({ order: "newest", limit: pageSize, cursor });
    // The server keeps messages in the AI SDK's own form.
    const messages: readonly unknown[] = page.messages.toReversed().map(withMarks);
    return { messages: messages as UIMessage[], older: page.nextCursor };
  } catch (error) {
    if (error instanceof AndanteApiError && error.status === 404) return { messages: [], older: null };
    throw error;
  }
}
