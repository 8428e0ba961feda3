// The title of a conversation as the host makes it: of its first message and the reply, after both are kept.
import { randomUUID } from "node:crypto";
import type { UIMessage } from "ai";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { Operation } from "../call/operation.ts";
import { titleOf } from "./open-conversation.ts";

export interface TitledConversation {
  readonly conversations: ConversationStore;
  readonly agent: Pick<CallableAgent, "title">;
  readonly operation: Operation;
  readonly conversationId: string;
  readonly userId: string | null;
  readonly now: () => number;
}

const maxTitleLength = 200;

/** Never rejects: a conversation without a title of the host's keeps the one that it began with. */
export async function makeTitle(
  { conversations, agent, operation, conversationId, userId, now }: TitledConversation,
  messages: readonly [question: UIMessage, reply: UIMessage],
): Promise<void> {
  try {
    const which = { conversationId, userId };
    const recent = await conversations.recent({ ...which, limit: 3 });
    if (recent?.length !== 2) return;
    const title = (await agent.title?.(messages, operation))?.trim().slice(0, maxTitleLength);
    if (title === undefined || title === "") return;
    const current = await conversations.read(which);
    // It may have been renamed meanwhile.
    if (current === undefined || current.title !== titleOf(messages[0])) return;
    await conversations.change({ key: randomUUID(), ...which, title, at: now() });
  } catch (error) {
    operation.logger.warn({ err: error }, "the title of a conversation could not be made");
  }
}
