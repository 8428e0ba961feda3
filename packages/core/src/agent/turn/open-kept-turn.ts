// Opens a turn of a kept conversation: waits until the conversation is free, and begins the turn together with its message.
import type { ToolSet, UIMessage } from "ai";
import {
  type AndanteError,
  ConversationBusyError,
  ConversationConflictError,
  ConversationNotFoundError,
  MessageWithdrawnError,
  QueueFullError,
} from "../../errors/index.ts";
import type { BeginTurnResult } from "../../store/store.ts";
import { unlessAborted } from "../../values/unless-aborted.ts";
import { uuid } from "../../values/uuid.ts";
import type { Attachments } from "../call/attachments.ts";
import { budgetError } from "../call/budget.ts";
import type { CallSettings } from "../call/call-settings.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { Operation } from "../call/operation.ts";
import type { WhenBusy } from "../call/when-busy.ts";
import { notWaiting } from "../conversation/apply-tool-decisions.ts";
import { dueSummary, seenMessages } from "../conversation/compaction.ts";
import { messageOf } from "../conversation/kept-message.ts";
import { openConversation } from "../conversation/open-conversation.ts";
import { attachmentsOf, historyForModel } from "../messages/given-messages.ts";
import {
  type ActiveTurn,
  JoinsReply,
  type Question,
  type SharedReply,
  type TurnMode,
} from "./active-turn.ts";
import { KeptTurn } from "./kept-turn.ts";
import { QueuePlace } from "./queue-place.ts";
import type { TurnOptions } from "./turn.ts";
import type { StartTurnOptions, TurnEnvironment } from "./turn-environment.ts";
import type { RunningTurn } from "./turn-host.ts";

/** A new turn, or the reply that runs already to the same message. */
export type OpenedTurn =
  | ({ readonly kind: "new"; readonly running: RunningTurn } & Pick<
      TurnOptions,
      "messages" | "history" | "messageId" | "conversation" | "summary"
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
  const { stopUnread, mode, decision } = options;
  // A person who decides beside the chat ends no reply of the customer.
  const whenBusy = decision === undefined ? (options.whenBusy ?? asked.agent.whenBusy) : "queue";
  const { agent, active, sent, conversationId, userId } = asked;
  const question: Question = { agentId: agent.id, mode, messageId: sent.id, body: JSON.stringify(sent) };
  // Callers of other modes wait for the conversation, also beside a recovered stream that chats may attach to.
  const mayShare = isNew(asked) && !options.isLeft && (mode === "chat" || mode === "text");
  const running = () => (mayShare ? turns.same(conversationId, userId, question, active) : undefined);
  const same = running();
  const shared = same && (await unlessAborted(same.shared(), active.signal));
  if (shared !== undefined) return { kind: "shared", reply: shared };
  if (stopUnread && whenBusy !== "steer") turns.find(conversationId, userId)?.stopWhenUnread();
  active.question = question;
  const files = attachmentsOf(agent, asked.operation);
  if (sent.role === "user") await files.check(sent);
  const place = new QueuePlace(environment, asked, options);
  try {
    await enter(environment, asked, { running, files, whenBusy, place });
    for (;;) {
      const opened = await begin(environment, asked, files, place, options);
      if (opened.kind === "changed") continue;
      if (opened.kind === "new") return opened;
      if (opened.kind === "has-reply") {
        // A message that waited: the process that took its place over has replied.
        const made =
          place.isTaken && mode === "chat"
            ? await environment.elsewhere?.keptReply(sent.id, { conversationId, userId })
            : undefined;
        if (made !== undefined) return { kind: "shared", reply: made };
        throw refusal("has-reply", { conversationId, messageId: sent.id, limit: environment.maxQueued });
      }
      files.forget();
      if (opened.kind === "behind") {
        await waitBehind(environment, asked, place, options.isLeft === true || whenBusy === "reject");
        continue;
      }
      const reply = await waitElsewhere(environment, asked, { mode, whenBusy, place }, opened.executionId);
      if (reply !== undefined) return { kind: "shared", reply };
    }
  } catch (error) {
    if (error instanceof JoinsReply) return { kind: "shared", reply: error.reply };
    if (error instanceof MessageWithdrawnError && place.steers) {
      const reply = await environment.elsewhere?.keptReply(sent.id, { conversationId, userId });
      if (reply !== undefined) return { kind: "shared", reply };
    }
    await place.giveUp(active.signal.aborted ? active.signal.reason : error);
    throw error;
  }
}

/** Messages are queued before this one, whose process may be gone: lets them go first. */
async function waitBehind(
  { queues, turns }: TurnEnvironment,
  { active, conversationId, userId }: AskedTurn,
  place: QueuePlace,
  isRefused: boolean,
): Promise<void> {
  if (isRefused) throw new ConversationBusyError({ conversationId });
  await place.take();
  active.begun();
  await turns.yieldWhile(active, queues.letPass({ conversationId, userId }, active.signal));
}

interface Waiting {
  readonly whenBusy: WhenBusy;
  readonly place: QueuePlace;
}

/** Another process replies in the conversation: waits until it has, or returns its reply to the same message. */
async function waitElsewhere(
  environment: TurnEnvironment,
  asked: AskedTurn,
  { mode, whenBusy, place }: Waiting & { readonly mode: TurnMode },
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
    if (whenBusy === "reject") throw new ConversationBusyError({ conversationId });
    await place.take();
    active.begun();
  } else if (whenBusy === "reject") throw new ConversationBusyError({ conversationId });
  const which = { executionId };
  const ended =
    whenBusy === "interrupt"
      ? unlessAborted(elsewhere.stop(which), active.signal)
      : elsewhere.ended(which, active.signal);
  await turns.yieldWhile(active, ended);
  return undefined;
}

async function enter(
  environment: TurnEnvironment,
  asked: AskedTurn,
  {
    running,
    files,
    whenBusy,
    place,
  }: Waiting & { readonly running: () => ActiveTurn | undefined; readonly files: Attachments },
): Promise<void> {
  const { turns, conversations: store } = environment;
  const { active, conversationId, userId } = asked;
  const readOwner = async () => (await store.read({ conversationId }))?.userId;
  await turns.enter(active, conversationId, userId, readOwner, async () => {
    files.forget();
    const shared = await running()?.shared();
    if (shared !== undefined) throw new JoinsReply(shared);
    if (whenBusy === "reject") throw new ConversationBusyError({ conversationId });
    if (isNew(asked)) {
      await turns.begun(conversationId);
      await place.take();
    }
    if (whenBusy === "interrupt") await interrupt(environment, conversationId);
  });
}

/** Stops the reply that runs in the conversation, wherever it does. Messages that wait already stay. */
async function interrupt({ kept, elsewhere }: TurnEnvironment, conversationId: string): Promise<void> {
  const live = await kept.liveIn(conversationId);
  if (live === undefined || live.waitsSince !== undefined) return;
  if (kept.has(live.executionId)) kept.stop(live.executionId);
  // The message waits for its end in any case.
  else void elsewhere?.stop(live).catch(() => undefined);
}

async function begin(
  { conversations: store, clock, kept, maxQueued }: TurnEnvironment,
  { agent, conversationId, userId, active, settings, tools, operation, context, sent, again }: AskedTurn,
  files: Attachments,
  place: QueuePlace,
  { mode, schema, traceparent, replaces, decision, playground, ownConversation }: StartTurnOptions,
): Promise<
  | Extract<OpenedTurn, { kind: "new" }>
  | Extract<BeginTurnResult, { kind: "busy" }>
  | { readonly kind: "changed" }
  | { readonly kind: "behind" }
  | { readonly kind: "has-reply" }
> {
  const at = clock.now();
  const named = replaces !== undefined;
  const asking = sent.role === "assistant" ? await kept.waitIn(conversationId) : undefined;
  if (decision !== undefined && asking?.messageId !== sent.id) {
    const [last] = (await store.recent({ conversationId, userId, upTo: sent.id, limit: 1 })) ?? [];
    throw notWaiting(last && messageOf(last), decision.approvalId);
  }
  const waitsSince = decision?.waitsSince ?? asking?.waitsSince;
  const opening = { agent, tools, conversationId, userId, again, named, at, decision, waitsSince };
  if (agent.budget?.conversation !== undefined) {
    const known = await store.read({ conversationId, userId });
    const problem = known && budgetError(agent.budget.conversation, known.usage);
    if (problem !== undefined) throw problem;
  }
  const opened = await openConversation(store, opening, sent);
  const { messages: messagesWith, messageId } = opened;
  const message =
    opened.message.kind === "post"
      ? { ...opened.message, ...(place.isTaken && { wasQueued: true }), ownConversation }
      : opened.message;
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
      ...(playground && { playground }),
    },
  });
  active.signal.throwIfAborted();
  const where = { agentId: agent.id, conversationId, userId, context };
  const begun = await kept.begin(turn, { ...where, message, before: agent.window });
  if (begun.kind === "busy") return begun;
  if (begun.kind === "behind" || begun.kind === "has-reply") return { kind: begun.kind };
  // The call, or another one of the message, was decided meanwhile.
  if (begun.kind === "changed" && sent.role === "assistant") return { kind: "changed" };
  if (begun.kind !== "begun")
    throw refusal(begun.kind, { conversationId, messageId: sent.id, limit: maxQueued });
  active.begun();
  const running = await turn.running;
  try {
    const known = messagesWith(begun.before ?? []);
    const history = seenMessages(agent, known);
    const summary = dueSummary(agent, known);
    const messages = await historyForModel(agent, await files.resolve(history), tools, operation);
    return { kind: "new", messages, history, messageId, conversation: turn, running, summary };
  } catch (error) {
    // A function of the host failed. The message is kept: posting it again begins another turn.
    await turn.finish(null).catch(() => undefined);
    throw error;
  }
}

function refusal(
  kind: Exclude<BeginTurnResult["kind"], "begun" | "busy" | "behind">,
  { conversationId, messageId, limit }: Record<"conversationId" | "messageId", string> & { limit: number },
): AndanteError {
  switch (kind) {
    case "withdrawn":
      return new MessageWithdrawnError({ messageId });
    case "full":
      return new QueueFullError({ conversationId, limit });
    case "foreign":
      return new ConversationNotFoundError({ conversationId });
    case "has-reply":
      return new ConversationConflictError({ problem: `Message ${messageId} already has a reply` });
    case "changed":
      return new ConversationConflictError({ problem: `Message ${messageId} has already been continued` });
  }
}
