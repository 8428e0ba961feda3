// The ids of a conversation for calls of `authorize`, and the owner of a caller's conversations.
import type { Andante } from "@andante/core";
import { ConversationNotFoundError } from "@andante/core/errors";
import type { OwnerOption } from "@andante/core/internal";
import { givenIds, type Ids } from "../auth/permission.ts";
import type { RouteContext } from "../route.ts";

type PathOf = Pick<RouteContext, "andante" | "params">;

/** The owner filter. Undefined where the caller is limited to its own conversations and has no id: there are none. */
export function ownerFor({ scope, caller }: RouteContext): OwnerOption | undefined {
  if (scope === "all") return {};
  return caller.userId === undefined ? undefined : { userId: caller.userId };
}

/** For routes of conversations: the agent is the one that started the conversation. */
export async function conversationInPath({ andante, params }: PathOf): Promise<readonly Ids[]> {
  const found = await find(andante, params.conversationId ?? "");
  return found === undefined ? [] : [givenIds({ agentId: found.agentId, userId: found.userId })];
}

/** For a fork: the new conversation has the agent of the source, and an id that its caller may choose. */
export async function forkedConversation(
  known: PathOf & { readonly body: { readonly conversationId?: string | null | undefined } },
): Promise<readonly Ids[]> {
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
