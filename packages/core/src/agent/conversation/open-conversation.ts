// Opens a conversation for one reply: the messages that the model sees, and the message of the caller that is kept.
import type { ToolSet, UIMessage } from "ai";
import {
  ConversationConflictError,
  ConversationNotFoundError,
  InputValidationError,
} from "../../errors/index.ts";
import type { ConversationStore, StoredMessage } from "../../store/conversation-store.ts";
import type { TurnMessage } from "../../store/store.ts";
import { isoTime } from "../../values/iso-time.ts";
import { uuid } from "../../values/uuid.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import {
  applyDecision,
  applyToolDecisions,
  type DecisionRecord,
  notWaiting,
  type ToolDecision,
} from "./apply-tool-decisions.ts";
import { checkOutputs } from "./check-outputs.ts";
import type { KeptMessage } from "./compaction.ts";
import { messageOf } from "./kept-message.ts";

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
  /** A person decides about one call of the last reply, beside the chat. */
  readonly decision?: ToolDecision | undefined;
  /** Since when the calls of the last reply wait, in milliseconds since 1970. */
  readonly waitsSince?: number | undefined;
  /** The time now, in milliseconds since 1970. */
  readonly at: number;
}

export interface OpenConversation {
  /** The newest messages, oldest first. `before`: those before the user's message when the turn began. */
  messages(before: readonly StoredMessage[]): readonly KeptMessage[];
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
  const { again, named, at } = opening;
  if (again && !named) await checkNewest(store, opening, sent.id);
  const body = JSON.stringify(sent);
  return {
    messages: (before) => [...before.map(messageOf), sent],
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
  // Messages whose process ended before it began their turns may follow the reply that waits.
  const upTo = decision && sent.id;
  const recent = await store.recent({ conversationId, userId, upTo, limit: agent.window + 1 });
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
  const record = recordOf(opening);
  const decided =
    decision === undefined
      ? applyToolDecisions(waiting, sent, tools, record)
      : await applyDecision(waiting, decision, tools, record);
  await checkOutputs(decided, tools, waiting);
  const messages = [...recent.slice(0, -1).map(messageOf), decided];
  const body = JSON.stringify(decided);
  return {
    messages: () => messages,
    messageId: sent.id,
    message: { kind: "replace", messageId: sent.id, previous: last.body, body, at },
  };
}

function recordOf({ decision, userId, waitsSince, at }: Opening): DecisionRecord {
  const by = decision === undefined ? userId : (decision.by ?? null);
  const waited = waitsSince !== undefined && { waitedMs: Math.max(0, at - waitsSince) };
  return { by, at: isoTime(at), ...waited, ...(decision?.byDeadline && { byDeadline: true }) };
}

const maxTitleLength = 80;

/** The title of a conversation that begins with this message. */
export function titleOf({ parts }: UIMessage): string | null {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  const words = text.trim().replaceAll(/\s+/g, " ");
  if (words === "") return null;
  return words.length <= maxTitleLength ? words : `${[...words].slice(0, maxTitleLength - 1).join("")}…`;
}
