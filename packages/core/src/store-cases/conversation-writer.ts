// Writes to the conversation of a case, with fields that no case has to name.
import { randomUUID } from "node:crypto";
import type { KeepReply, PostMessage } from "../store/conversation-store.ts";
import type { Store } from "../store/store.ts";
import { commitOf, event } from "./store-cases.ts";

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
  /** Keeps a reply as the end of a turn, which began with the last message as it is. */
  const keep = async (messageId: string, fields: Partial<KeepReply> = {}) => {
    const { store, conversationId, userId } = subject();
    const { usage: used = usage, at = 2_000, ...rest } = fields;
    const executionId = randomUUID();
    const where = { conversationId, userId, ...rest };
    const last = (await store.conversations.recent({ ...where, limit: 1 }))?.at(-1);
    if (last === undefined) return false;
    const claim = { owner: "writer", token: "token" };
    await store.heartbeat({ owner: claim.owner, lease: 60_000 });
    const turn = { executionId, agentId: "agent", ...where, input: "{}", context: "{}", startAt: at };
    const same = { messageId: last.messageId, previous: last.body, body: last.body, at };
    const message = { kind: "replace", ...same } as const;
    await store.beginTurn({ message, turn: { ...turn, claim, events: [event("workflow-start")] } });
    const said = { messageId, body: JSON.stringify({ id: messageId }), partial: false };
    const end = { status: "completed", result: "{}", error: null } as const;
    const following = [event("workflow-complete")];
    const commit = commitOf(executionId, { usage: used, following, end });
    const result = await store.endTurn({ commit, reply: { message: said, at, ...where } });
    return result.kind === "ok";
  };
  const ids = async () => {
    const { store, conversationId } = subject();
    const messages = await store.conversations.messages({ conversationId, after: 0, limit: 100 });
    return messages?.map(({ messageId }) => messageId);
  };
  return { post, keep, ids };
}
