// Starts a turn: checks what the caller sends, opens the conversation, and collects what the model is asked.
import type { TelemetryOptions } from "ai";
import type { Logger } from "../../observe/log/logger.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { Clock } from "../../values/clock.ts";
import { uuid } from "../../values/uuid.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import { noteFailure } from "../call/note-failure.ts";
import { Operation } from "../call/operation.ts";
import { openConversation } from "../conversation/open-conversation.ts";
import type { ActiveTurn } from "./active-turn.ts";
import type { ActiveTurns } from "./active-turns.ts";
import { type AgentCallOptions, checkCallOptions } from "./call-options.ts";
import type { ClientApprovals } from "./client-approvals.ts";
import { forModel, type GivenMessages, lastOf, readMessages } from "./given-messages.ts";
import { continuedMessage, Turn, type TurnOptions } from "./turn.ts";

/** What the turns of one Andante share. */
export interface TurnEnvironment {
  readonly turns: ActiveTurns;
  readonly conversations: ConversationStore;
  readonly approvals: ClientApprovals;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Makes the AI SDK's `telemetry` option for the agents of one operation. Default: no observation. */
  readonly telemetry?: OperationTelemetry | undefined;
  readonly ready: Promise<void>;
}

/** The caller, as far as spans show it. */
export type OperationTelemetry = (
  caller: Pick<AgentCallOptions, "userId" | "conversationId" | "traceparent">,
  logger: Logger,
) => (agentId: string) => TelemetryOptions;

export interface StartTurnOptions extends AgentCallOptions {
  /** Reply again to a message that already has a reply. Default: false. */
  readonly again?: boolean | undefined;
  /** Stop the reply that runs in the conversation when its user has stopped reading it. Default: false. */
  readonly stopUnread?: boolean | undefined;
}

export async function startTurn(
  environment: TurnEnvironment,
  agent: CallableAgent,
  input: unknown,
  options: StartTurnOptions,
): Promise<Turn> {
  const active = environment.turns.begin(agent.id, options.signal);
  let operation: Operation | undefined;
  try {
    const { settings, context } = checkCallOptions(agent, options);
    operation = operationOf(environment, agent, options, context, active);
    const kept = options.conversationId !== undefined && agent.window > 0;
    const given = await readMessages(input, agent.tools, kept ? "last" : "all");
    await environment.ready;
    const { approvals, clock } = environment;
    const call = { agent, operation, settings, active, approvals, clock };
    return new Turn(
      kept
        ? { ...call, ...(await openKept(environment, agent, given, active, options)) }
        : { ...call, ...(await unkept(approvals, agent, operation, given)) },
    );
  } catch (error) {
    active.end();
    const reason: unknown = active.signal.aborted ? active.signal.reason : error;
    if (operation !== undefined) noteFailure(reason, operation);
    throw reason;
  }
}

function operationOf(
  { logger: parent, telemetry }: TurnEnvironment,
  { id: agentId }: CallableAgent,
  { userId, conversationId, traceparent }: StartTurnOptions,
  context: Map<string, unknown>,
  { signal }: ActiveTurn,
): Operation {
  const logger = parent.child({
    agentId,
    ...(conversationId !== undefined && { conversationId }),
    ...(userId !== undefined && { userId }),
  });
  return new Operation(
    { userId, conversationId, context, logger, signal },
    telemetry?.({ userId, conversationId, traceparent }, logger),
  );
}

type TurnMessages = Pick<TurnOptions, "messages" | "history" | "messageId" | "conversation">;

async function unkept(
  approvals: ClientApprovals,
  agent: CallableAgent,
  operation: Operation,
  given: GivenMessages,
): Promise<TurnMessages> {
  const history = given.kind === "chat" ? given.messages : [];
  const messages = await forModel(given, agent.tools);
  return {
    messages: await approvals.accept(agent, operation, messages),
    history,
    messageId: continuedMessage(history)?.id ?? uuid(),
    conversation: undefined,
  };
}

/** Waits until the conversation is free, and adds the caller's message to it. */
async function openKept(
  { turns, conversations: store, clock }: TurnEnvironment,
  agent: CallableAgent,
  given: GivenMessages,
  active: ActiveTurn,
  { conversationId = "", again = false, stopUnread = false, ...options }: StartTurnOptions,
): Promise<TurnMessages> {
  const userId = options.userId ?? null;
  const sent = lastOf(given);
  if (stopUnread) turns.find(conversationId, userId)?.stopWhenUnread();
  const readOwner = async () => (await store.read({ conversationId }))?.userId;
  await turns.enter(active, conversationId, userId, readOwner);
  const opening = { agent, conversationId, userId, again, at: clock.now() };
  const { history, messageId } = await openConversation(store, opening, sent);
  const messages = await forModel({ kind: "chat", messages: history }, agent.tools);
  return { messages, history, messageId, conversation: { store, conversationId, userId } };
}
