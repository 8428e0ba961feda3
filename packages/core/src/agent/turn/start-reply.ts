// A reply that no caller waits for: started in a conversation, and read later from there, also after a restart.
import type { UIMessage } from "ai";
import { ConversationNotFoundError, InvalidOptionError } from "../../errors/index.ts";
import { isRecord } from "../../values/fields.ts";
import type { JsonSchema, Schema } from "../../values/schema.ts";
import { uuid } from "../../values/uuid.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import { type ConversationMessage, type OwnerOption, viewMessage } from "../conversation/conversations.ts";
import { lastOf, readMessages } from "../messages/given-messages.ts";
import { shapeOf } from "../schema/object-shape.ts";
import type { AgentCallOptions } from "./call-options.ts";
import { drain } from "./decide-approval.ts";
import { readTurnInput } from "./kept-turn.ts";
import { objectReply } from "./object-reply.ts";
import { runChat } from "./run-chat.ts";
import { startTurn } from "./start-turn.ts";
import type { StartTurnOptions, TurnEnvironment } from "./turn-environment.ts";
import type { ReplyQuestion, TurnExecutions } from "./turn-host.ts";

/** Options of a reply that is read later. */
export interface StartReplyOptions
  extends AgentCallOptions,
    Pick<StartTurnOptions, "again" | "replaces" | "traceparent" | "ownConversation"> {
  /** For an object: its schema, such as one of Zod, or a JSON Schema. Default: text. */
  readonly schema?: Schema | JsonSchema | undefined;
}

/** Where the reply will be. */
export interface StartedReply {
  readonly conversationId: string;
  /** The message that it replies to. */
  readonly messageId: string;
}

/**
 * - `running`: it is made, or waits for another reply of the conversation.
 * - `waiting`: it waits for a person or a tool.
 * - `done`: it has ended, perhaps as a part (`partial` of its message).
 * - `none`: it has failed before anything was said, or was never begun.
 */
export type ReplyStatus = "running" | "waiting" | "done" | "none";

export interface ReplyState {
  readonly status: ReplyStatus;
  /** The agent that the conversation began with. */
  readonly agentId: string;
  /** As far as it is kept. */
  readonly message: ConversationMessage | undefined;
  /** The message that it replies to; undefined where the conversation has none of this id. */
  readonly asked: ConversationMessage | undefined;
  /** True while the message waits for the replies before it. */
  readonly queued: boolean;
  /** What a person can answer while it waits. */
  readonly questions: readonly ReplyQuestion[];
}

/** Milliseconds to wait for the beginning: a message behind another reply is kept by then. */
const patience = 1000;

/** Resolves when the message is kept. Without a conversation it begins one. */
export async function startReply(
  environment: TurnEnvironment,
  agent: CallableAgent,
  input: unknown,
  { schema, ...options }: StartReplyOptions,
): Promise<StartedReply> {
  if (agent.window === 0) {
    const problem = "the agent keeps no conversation, so its reply cannot be read later";
    throw new InvalidOptionError({ option: "conversationId", problem });
  }
  const { conversationId = uuid() } = options;
  const [messages, messageId] = await withId(input);
  const shape = schema && (await shapeOf(schema, environment.schemas));
  const how = { ...options, conversationId, signal: undefined };
  const asked = shape
    ? { ...how, mode: "object" as const, schema: shape.schema }
    : { ...how, mode: "chat" as const };
  const begun = startTurn(environment, agent, messages, asked).then(async (started) => {
    if (started.kind !== "new") return;
    // A failure is in the log, and the conversation has the reply as far as it came.
    if (shape) void objectReply(started.turn, shape).catch(() => undefined);
    else void drain(await runChat(started.turn, { resumable: true }));
  });
  await withTimeout(begun, patience);
  return { conversationId, messageId };
}

/** The input, whose last message has an id then. */
async function withId(input: unknown): Promise<readonly [input: unknown, messageId: string]> {
  const last: unknown = Array.isArray(input) ? input.at(-1) : undefined;
  if (isRecord(last) && "parts" in last && typeof last.id === "string") return [input, last.id];
  const message: UIMessage = lastOf(await readMessages(input, {}, "last"));
  return [[message], message.id];
}

/** The reply to a message of the user; or the reply itself, where it continues after a decision. */
export async function readReply(
  { conversations, ready }: Pick<TurnEnvironment, "conversations" | "ready">,
  executions: Pick<TurnExecutions, "live">,
  { conversationId, messageId }: StartedReply,
  owner: OwnerOption,
): Promise<ReplyState> {
  await ready;
  const conversation = await conversations.read({ conversationId, ...owner });
  if (conversation === undefined) throw new ConversationNotFoundError({ conversationId });
  const { agentId, userId } = conversation;
  // Before the messages: a reply that begins or ends in between is there.
  const queued = (await conversations.queue({ conversationId, userId })) ?? [];
  const live = await executions.live(conversationId);
  const [kept] = (await conversations.recent({ conversationId, userId, upTo: messageId, limit: 1 })) ?? [];
  if (kept?.messageId !== messageId)
    return { status: "none", agentId, message: undefined, asked: undefined, queued: false, questions: [] };
  const mine = viewMessage(kept);
  const [next] =
    mine.role === "assistant"
      ? [kept]
      : ((await conversations.messages({ conversationId, userId, after: kept.sequence, limit: 1 })) ?? []);
  const found = next && viewMessage(next);
  const message = found?.role === "assistant" ? found : undefined;
  const isLive = live !== undefined && readTurnInput(live.input).replyTo === messageId;
  if (!isLive && message === undefined && queued.some((each) => each.messageId === messageId))
    return { status: "running", agentId, message, asked: mine, queued: true, questions: [] };
  const status = statusOf(live, messageId, message);
  const questions = status === "waiting" ? (live?.questions ?? []) : [];
  return { status, agentId, message, asked: mine, queued: false, questions };
}

function statusOf(
  live: Awaited<ReturnType<TurnExecutions["live"]>>,
  messageId: string,
  message: ConversationMessage | undefined,
): ReplyStatus {
  if (live !== undefined) {
    const { replyTo, messageId: made } = readTurnInput(live.input);
    if (replyTo === messageId || made === message?.id)
      return live.waitsSince === undefined ? "running" : "waiting";
    // It waits for that one.
    if (message === undefined) return "running";
  }
  return message === undefined ? "none" : "done";
}
