// Writes to the conversation of a case, with fields that no case has to name.
import { randomUUID } from "node:crypto";
import type { KeepReply, PostMessage } from "../store/conversation-store.ts";
import type { Store } from "../store/store.ts";

export const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5, calls: 1 };

/** The conversation that a case is about; each case has another. */
interface Subject {
  readonly store: Store;
  readonly conversationId: string;
  readonly userId: string;
}

export function writerOf(subject: () => Subject) {
  const post = (messageId: string, fields: Partial<PostMessage> = {}) => {
    const { store, conversationId, userId } = subject();
    return store.conversations.post({
      key: randomUUID(),
      conversationId,
      agentId: "agent",
      userId,
      title: "A title",
      messageId,
      body: JSON.stringify({ id: messageId }),
      again: false,
      at: 1_000,
      ...fields,
    });
  };
  const keep = (messageId: string, fields: Partial<KeepReply> = {}) => {
    const { store, conversationId, userId } = subject();
    return store.conversations.keep({
      key: randomUUID(),
      conversationId,
      userId,
      message: { messageId, body: JSON.stringify({ id: messageId }), partial: false },
      usage,
      at: 2_000,
      ...fields,
    });
  };
  const ids = async () => {
    const { store, conversationId } = subject();
    const messages = await store.conversations.messages({ conversationId, after: 0, limit: 100 });
    return messages?.map(({ messageId }) => messageId);
  };
  return { post, keep, ids };
}
