// The ids of a conversation for calls of `authorize`: its agent is the one that started it.
import type { Andante } from "@andante/core";
import { ConversationNotFoundError } from "@andante/core/errors";
import { givenIds, type Ids } from "../auth/permission.ts";

/** For routes of conversations. */
export async function conversationInPath({ andante, params }: PathOf): Promise<readonly Ids[]> {
  const found = await find(andante, params.conversationId ?? "");
  return found === undefined ? [] : [givenIds({ agentId: found.agentId, userId: found.userId })];
}

/** For a fork: the new conversation has the agent of the source, and an id that its caller may choose. */
export async function forkedConversation(known: ForkOf): Promise<readonly Ids[]> {
  const { conversationId } = known.body;
  const source = await conversationInPath(known);
  if (conversationId === undefined || conversationId === null) return source;
  return [...source, ...source.map(({ agentId = "" }) => ({ agentId, conversationId }))];
}

/** For routes of agents: another agent than the path's may have started the conversation. */
export async function idsIn(
  andante: Andante,
  conversationId: string | null | undefined,
): Promise<readonly Ids[]> {
  if (conversationId === undefined || conversationId === null) return [];
  const found = await find(andante, conversationId);
  if (found === undefined) return [{ conversationId }];
  return [{ conversationId, id: found.agentId, ...givenIds({ userId: found.userId }) }];
}

/** Undefined where there is no such conversation. */
async function find(andante: Andante, conversationId: string) {
  try {
    return await andante.conversations.read(conversationId);
  } catch (error) {
    if (error instanceof ConversationNotFoundError) return undefined;
    throw error;
  }
}

interface PathOf {
  readonly andante: Andante;
  readonly params: Ids;
}

interface ForkOf extends PathOf {
  readonly body: { readonly conversationId?: string | null | undefined };
}
