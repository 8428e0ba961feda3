// Replies of agents as a caller of another protocol sees them.
import type { Andante } from "@andante/core";
import { ConversationNotFoundError, InvalidOptionError } from "@andante/core/errors";
import type { OwnerOption, ReplyState, StartedReply } from "@andante/core/internal";
import { isWithoutId } from "../auth/inject-user.ts";
import { optionsOf } from "../routes/agents.ts";
import { ownerFor } from "../routes/conversation-ids.ts";
import { type InnerCall, rowOf } from "./inner-call.ts";

/** The reply to a message of a conversation that the caller may see. */
export function visibleReply(
  call: InnerCall,
  conversationId: string,
  messageId: string,
): Promise<ReplyState> {
  return inConversation(call, conversationId, { replyTo: messageId }, ({ agents }, owner) =>
    agents.reply(conversationId, messageId, owner),
  );
}

/** The agent that a conversation began with; undefined for one that is not there, or that the caller may not see. */
export async function agentOfConversation(
  call: InnerCall,
  conversationId: string,
): Promise<string | undefined> {
  try {
    return await inConversation(call, conversationId, {}, async ({ conversations }, owner) => {
      const { agentId } = await conversations.read(conversationId, owner);
      return agentId;
    });
  } catch (error) {
    if (error instanceof ConversationNotFoundError) return undefined;
    throw error;
  }
}

function inConversation<Found>(
  call: InnerCall,
  conversationId: string,
  query: Readonly<Record<string, unknown>>,
  read: (andante: Andante, owner: OwnerOption) => Promise<Found>,
): Promise<Found> {
  return call.perform(rowOf("listMessages"), { params: { conversationId }, query }, (context) => {
    const owner = ownerFor(context);
    if (owner === undefined) throw new ConversationNotFoundError({ conversationId });
    return read(context.andante, owner);
  });
}

/** Stops the reply that runs in a conversation. It is kept as far as it came. */
export function stopReply(call: InnerCall, agentId: string, conversationId: string): Promise<unknown> {
  return call.ask(rowOf("stopChat"), { params: { id: agentId, conversationId } });
}

/** The words of a message. */
export function textOf({ message }: Pick<ReplyState, "message">): string {
  return (message?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

interface CallOptions {
  readonly conversationId?: string | undefined;
}

interface StartOptions {
  /** Refuses a conversation that began with another agent. Default: false. */
  readonly ownConversation?: boolean;
}

/** A reply that is read later; undefined where nothing would keep it: for an agent or a user without conversations. */
export async function startReply(
  call: InnerCall,
  agentId: string,
  input: unknown,
  options: CallOptions,
  { ownConversation }: StartOptions = {},
): Promise<StartedReply | undefined> {
  if (isWithoutId(call.caller)) return undefined;
  const request = { params: { id: agentId }, body: { input, options } };
  try {
    return await call.perform(rowOf("generateText"), request, (context) => {
      const { signal: _, ...rest } = optionsOf(context, options);
      return call.service.andante.agents.start(agentId, input, { ...rest, ownConversation });
    });
  } catch (error) {
    // An agent that keeps no conversations.
    if (error instanceof InvalidOptionError && options.conversationId === undefined) return undefined;
    throw error;
  }
}

/** The text of a reply that the caller waits for. */
export function askAgent(
  call: InnerCall,
  agentId: string,
  input: unknown,
  options: CallOptions,
): Promise<string> {
  const request = { params: { id: agentId }, body: { input, options } };
  return call.perform(rowOf("generateText"), request, async (context) => {
    const { text } = await call.service.andante.agents.text(agentId, input, optionsOf(context, options));
    return text;
  });
}
