// The ids of a conversation for the questions to `authorize`: the agent is the one that it began with.
import type { Andante } from "@andante/core";
import { ConversationNotFoundError } from "@andante/core/errors";
import type { Ids } from "../auth/permission.ts";

/** The conversation's agent; undefined where there is no such conversation. */
async function agentOf(andante: Andante, conversationId: string): Promise<string | undefined> {
  try {
    return (await andante.conversations.read(conversationId)).agentId;
  } catch (error) {
    if (error instanceof ConversationNotFoundError) return undefined;
    throw error;
  }
}

/** For routes of conversations. */
export async function agentInPath({ andante, params }: PathOf): Promise<Ids> {
  const agentId = await agentOf(andante, params.conversationId ?? "");
  return agentId === undefined ? {} : { agentId };
}

/** For routes of agents: another agent than the path's may have begun the conversation. */
export async function idsIn(andante: Andante, conversationId: string | null | undefined): Promise<Ids> {
  if (conversationId === undefined || conversationId === null) return {};
  const id = await agentOf(andante, conversationId);
  return { conversationId, ...(id !== undefined && { id }) };
}

interface PathOf {
  readonly andante: Andante;
  readonly params: Ids;
}
