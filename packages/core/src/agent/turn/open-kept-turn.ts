// Opens a turn of a kept conversation: waits until the conversation is free, and begins the turn together with its message.
import { randomUUID } from "node:crypto";
import type { ToolSet, UIMessage } from "ai";
import {
  type AndanteError,
  ConversationConflictError,
  ConversationNotFoundError,
} from "../../errors/index.ts";
import type { BeginTurnResult } from "../../store/store.ts";
import { unlessAborted } from "../../values/unless-aborted.ts";
import { uuid } from "../../values/uuid.ts";
import type { Attachments } from "../call/attachments.ts";
import { budgetError } from "../call/budget.ts";
import type { CallSettings } from "../call/call-settings.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { Operation } from "../call/operation.ts";
import { openConversation, titleOf } from "../conversation/open-conversation.ts";
import { attachmentsOf, historyForModel } from "../messages/given-messages.ts";
import type { ActiveTurn, Question, SharedReply, TurnMode } from "./active-turn.ts";
import { KeptTurn } from "./kept-turn.ts";
import type { TurnOptions } from "./turn.ts";
import type { StartTurnOptions, TurnEnvironment } from "./turn-environment.ts";
import type { RunningTurn } from "./turn-host.ts";

/** A new turn, or the reply that runs already to the same message. */
export type OpenedTurn =
  | ({ readonly kind: "new"; readonly running: RunningTurn } & Pick<
      TurnOptions,
      "messages" | "history" | "messageId" | "conversation"
    >)
  | { readonly kind: "shared"; readonly reply: SharedReply };

export interface AskedTurn {
  readonly agent: CallableAgent;
  readonly conversationId: string;
  readonly userId: string | null;
  readonly active: ActiveTurn;
  readonly settings: CallSettings;
  /** The agent's tools for this reply. */
  readonly tools: ToolSet;
  readonly operation: Operation;
  /** The caller's context, a JSON object. */
  readonly context: string;
  /** The last message that the caller sent. */
  readonly sent: UIMessage;
  /** The caller wants another reply to a message that has one. */
  readonly again: boolean;
}

/** True for a new message of the user. A decision about a tool call is taken once: the same one again is a conflict. */
function isNew({ sent, again }: AskedTurn): boolean {
  return sent.role === "user" && !again;
}

export async function openKeptTurn(
  environment: TurnEnvironment,
  asked: AskedTurn,
  options: StartTurnOptions,
): Promise<OpenedTurn> {
  const { turns } = environment;
  const { stopUnread, mode } = options;
  const { agent, active, sent, conversationId, userId } = asked;
  const question: Question = { agentId: agent.id, mode, messageId: sent.id, body: JSON.stringify(sent) };
  // Callers of other modes wait for the conversation, also beside a recovered stream that chats may attach to.
  const mayShare = isNew(asked) && (mode === "chat" || mode === "text");
  const running = () => (mayShare ? turns.same(conversationId, userId, question, active) : undefined);
  const same = running();
  const shared = same && (await unlessAborted(same.shared(), active.signal));
  if (shared !== undefined) return { kind: "shared", reply: shared };
  if (stopUnread) turns.find(conversationId, userId)?.stopWhenUnread();
  active.question = question;
  const files = attachmentsOf(agent, asked.operation);
  if (sent.role === "user") await files.check(sent);
  try {
    await enter(environment, asked, running, files);
  } catch (error) {
    if (error instanceof RunsAlready) return { kind: "shared", reply: error.reply };
    throw error;
  }
  for (;;) {
    const opened = await begin(environment, asked, files, options);
    if (opened.kind === "changed") continue;
    if (opened.kind !== "busy") return opened;
    files.forget();
    const reply = await waitElsewhere(environment, asked, mode, opened.executionId);
    if (reply !== undefined) return { kind: "shared", reply };
  }
}

/** Another process replies in the conversation: waits until it has, or returns its reply to the same message. */
async function waitElsewhere(
  environment: TurnEnvironment,
  asked: AskedTurn,
  mode: TurnMode,
  executionId: string,
): Promise<SharedReply | undefined> {
  const { elsewhere, turns } = environment;
  if (elsewhere === undefined)
    throw new ConversationConflictError({ problem: "Another reply is under way in the conversation" });
  const { agent, active, sent, conversationId, userId } = asked;
  if (isNew(asked)) {
    const which = { agentId: agent.id, conversationId, userId };
    const live = mode === "chat" ? await elsewhere.replyTo(sent.id, which) : undefined;
    if (live !== undefined) return { mode: "chat", read: () => elsewhere.read(live, conversationId) };
    await keepWaiting(environment, asked);
    active.begun();
  }
  await turns.yieldWhile(active, elsewhere.ended({ executionId }, active.signal));
  return undefined;
}

/**
 * It waits for another reply, perhaps for minutes: from now on it is not lost. In a conversation that has become another
 * user's meanwhile nothing is kept, and the beginning of its own turn fails.
 */
async function keepWaiting(
  { conversations, clock }: TurnEnvironment,
  { agent, sent, conversationId, userId }: AskedTurn,
): Promise<void> {
  const where = { key: randomUUID(), conversationId, userId, agentId: agent.id };
  const message = { messageId: sent.id, body: JSON.stringify(sent), title: titleOf(sent), again: false };
  await conversations.post({ ...where, ...message, waits: true, at: clock.now() });
}

/** The same message came just before this one, and has its reply. */
class RunsAlready extends Error {
  readonly reply: SharedReply;
  constructor(reply: SharedReply) {
    super("the reply runs already");
    this.reply = reply;
  }
}

async function enter(
  environment: TurnEnvironment,
  asked: AskedTurn,
  running: () => ActiveTurn | undefined,
  files: Attachments,
): Promise<void> {
  const { turns, conversations: store } = environment;
  const { active, conversationId, userId } = asked;
  const readOwner = async () => (await store.read({ conversationId }))?.userId;
  await turns.enter(active, conversationId, userId, readOwner, async () => {
    files.forget();
    const shared = await running()?.shared();
    if (shared !== undefined) throw new RunsAlready(shared);
    if (!isNew(asked)) return;
    await turns.begun(conversationId);
    await keepWaiting(environment, asked);
  });
}

async function begin(
  { conversations: store, clock, kept }: TurnEnvironment,
  { agent, conversationId, userId, active, settings, tools, operation, context, sent, again }: AskedTurn,
  files: Attachments,
  { mode, schema, traceparent, replaces, decision }: StartTurnOptions,
): Promise<OpenedTurn | Extract<BeginTurnResult, { kind: "busy" }> | { readonly kind: "changed" }> {
  const at = clock.now();
  const named = replaces !== undefined;
  const opening = { agent, tools, conversationId, userId, again, named, at, decision };
  if (agent.budget?.conversation !== undefined) {
    const known = await store.read({ conversationId, userId });
    const problem = known && budgetError(agent.budget.conversation, known.usage);
    if (problem !== undefined) throw problem;
  }
  const { history: historyWith, messageId, message } = await openConversation(store, opening, sent);
  const turn = new KeptTurn({
    executionId: uuid(),
    conversationId,
    userId,
    active,
    clock,
    input: {
      agentId: agent.id,
      mode,
      messageId,
      replyTo: message.kind === "post" ? message.messageId : null,
      settings,
      schema: schema ?? null,
      startedAt: at,
      traceparent: traceparent ?? null,
      ...(decision && { waitsSince: decision.waitsSince }),
    },
  });
  active.signal.throwIfAborted();
  const where = { agentId: agent.id, conversationId, userId, context };
  const begun = await kept.begin(turn, { ...where, message, before: agent.window });
  if (begun.kind === "busy") return begun;
  // Another call of the message was decided meanwhile.
  if (begun.kind === "changed" && decision !== undefined) return { kind: "changed" };
  if (begun.kind !== "begun") throw refusal(begun.kind, conversationId, sent.id);
  active.begun();
  const running = await turn.running;
  try {
    const history = historyWith(begun.before ?? []);
    const messages = await historyForModel(agent, await files.resolve(history), tools, operation);
    return { kind: "new", messages, history, messageId, conversation: turn, running };
  } catch (error) {
    // A function of the host failed. The message is kept: posting it again begins another turn.
    await turn.finish(null).catch(() => undefined);
    throw error;
  }
}

function refusal(
  kind: Exclude<BeginTurnResult["kind"], "begun" | "busy">,
  conversationId: string,
  messageId: string,
): AndanteError {
  switch (kind) {
    case "foreign":
      return new ConversationNotFoundError({ conversationId });
    case "has-reply":
      return new ConversationConflictError({ problem: `Message ${messageId} already has a reply` });
    case "changed":
      return new ConversationConflictError({ problem: `Message ${messageId} has already been continued` });
  }
}
