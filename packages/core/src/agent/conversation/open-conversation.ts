// Opens a conversation for one reply: the messages that the model sees, and the message of the caller that is kept.
import type { ToolSet, UIMessage } from "ai";
import {
  ConversationConflictError,
  ConversationNotFoundError,
  InputValidationError,
} from "../../errors/index.ts";
import type { ConversationStore, StoredMessage } from "../../store/conversation-store.ts";
import type { TurnMessage } from "../../store/store.ts";
import { uuid } from "../../values/uuid.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import { applyDecision, applyToolDecisions, notWaiting, type ToolDecision } from "./apply-tool-decisions.ts";
import { checkOutputs } from "./check-outputs.ts";
import { messageOf } from "./kept-message.ts";
import { windowOf } from "./window.ts";

export interface Opening {
  readonly agent: Pick<CallableAgent, "id" | "window" | "memory">;
  /** The agent's tools for this reply. */
  readonly tools: ToolSet;
  readonly conversationId: string;
  readonly userId: string | null;
  /** The caller wants another reply to a message that has one. */
  readonly again: boolean;
  /** The caller names the reply that it wants again: later messages are removed. */
  readonly named: boolean;
  /** A person decides about one call of the last message, beside the chat. */
  readonly decision?: ToolDecision | undefined;
  /** The time now, in milliseconds since 1970. */
  readonly at: number;
}

export interface OpenConversation {
  /** The messages that the model sees, oldest first. `before`: those before the user's message when the turn began. */
  history(before: readonly StoredMessage[]): readonly UIMessage[];
  /** The id of the message that the reply becomes; the last one's when it is continued. */
  readonly messageId: string;
  /** The message that is kept together with the turn that replies to it. */
  readonly message: TurnMessage;
}

/** `sent` is the last message that the caller sent: the user's, or the assistant's with decisions on its tool calls. */
export async function openConversation(
  store: ConversationStore,
  opening: Opening,
  sent: UIMessage,
): Promise<OpenConversation> {
  return sent.role === "user" ? addMessage(store, opening, sent) : continueMessage(store, opening, sent);
}

async function addMessage(
  store: ConversationStore,
  opening: Opening,
  sent: UIMessage,
): Promise<OpenConversation> {
  const { again, named, agent, at } = opening;
  if (again && !named) await checkNewest(store, opening, sent.id);
  const body = JSON.stringify(sent);
  return {
    history: (before) => windowOf([...before.map(messageOf), sent], agent.window, agent.memory.tokens),
    messageId: uuid(),
    message: { kind: "post", messageId: sent.id, body, title: titleOf(sent), again, at },
  };
}

/** Another reply to the last message takes nothing back but the old one. Another tab may have gone on since. */
async function checkNewest(
  store: ConversationStore,
  { conversationId, userId }: Opening,
  messageId: string,
): Promise<void> {
  const newest = await store.recent({ conversationId, userId, limit: 2 });
  const asked = newest?.map(messageOf).findLast(({ role }) => role === "user");
  if (asked === undefined || asked.id === messageId) return;
  throw new ConversationConflictError({
    problem: `Message ${messageId} is followed by newer ones: name the reply to replace (messageId)`,
  });
}

async function continueMessage(
  store: ConversationStore,
  opening: Opening,
  sent: UIMessage,
): Promise<OpenConversation> {
  const { conversationId, userId, agent, tools, at, decision } = opening;
  // One more than the window, so that the question before a continued reply is seen with it.
  const recent = await store.recent({ conversationId, userId, limit: agent.window + 1 });
  if (recent === undefined) throw new ConversationNotFoundError({ conversationId });
  const last = recent.at(-1);
  if (last?.messageId !== sent.id) {
    if (decision !== undefined) throw notWaiting(undefined, decision.approvalId);
    throw new InputValidationError({
      detail:
        "input: in a conversation the last message must be from the user, or be the assistant's latest one",
    });
  }
  const waiting = messageOf(last);
  const decided =
    decision === undefined
      ? applyToolDecisions(waiting, sent, tools)
      : await applyDecision(waiting, decision, tools);
  await checkOutputs(decided, tools, waiting);
  const messages = [...recent.slice(0, -1).map(messageOf), decided];
  const body = JSON.stringify(decided);
  return {
    history: () => windowOf(messages, agent.window, agent.memory.tokens),
    messageId: sent.id,
    message: { kind: "replace", messageId: sent.id, previous: last.body, body, at },
  };
}

const maxTitleLength = 80;

/** The title of a conversation that begins with this message. */
export function titleOf({ parts }: UIMessage): string | null {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  const words = text.trim().replaceAll(/\s+/g, " ");
  if (words === "") return null;
  return words.length <= maxTitleLength ? words : `${[...words].slice(0, maxTitleLength - 1).join("")}…`;
}
