// Decides about a tool call that waits in a chat, beside the chat: the decision is kept, and the reply continues by itself.
import type { UIMessageChunk } from "ai";
import { AgentNotFoundError, ConversationNotFoundError } from "../../errors/index.ts";
import { parseObject } from "../../values/fields.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import {
  applyDecision,
  notWaiting,
  type ToolDecision,
  waitingCalls,
} from "../conversation/apply-tool-decisions.ts";
import type { OwnerOption } from "../conversation/conversations.ts";
import { messageOf } from "../conversation/kept-message.ts";
import { readTurnInput } from "./kept-turn.ts";
import { runChat } from "./run-chat.ts";
import { startTurn } from "./start-turn.ts";
import { continuedMessage } from "./turn.ts";
import type { TurnEnvironment } from "./turn-environment.ts";
import type { TurnExecutions } from "./turn-host.ts";

export interface DecidedCall {
  /** How many calls of the message still wait: the reply continues when none does. */
  readonly waiting: number;
}

export interface DecidingParts {
  readonly environment: TurnEnvironment;
  readonly executions: Pick<TurnExecutions, "live">;
  readonly agents: ReadonlyMap<string, CallableAgent>;
}

/** Resolves when the decision is kept. The reply continues for the user of the conversation, with the context of its turn. */
export async function decideApproval(
  { environment, executions, agents }: DecidingParts,
  conversationId: string,
  decision: ToolDecision,
  owner: OwnerOption,
): Promise<DecidedCall> {
  await environment.ready;
  const { conversations } = environment;
  const conversation = await conversations.read({ conversationId, ...owner });
  if (conversation === undefined) throw new ConversationNotFoundError({ conversationId });
  const userId = conversation.userId ?? undefined;
  const live = await executions.live(conversationId);
  const asking = live && readTurnInput(live.input);
  // The reply of the turn, also where messages follow whose process ended before it began their turns.
  const query = { conversationId, userId: userId ?? null, upTo: asking?.messageId, limit: 1 };
  const [last] = (await conversations.recent(query)) ?? [];
  const message = last && messageOf(last);
  // A decision that comes second is refused at once: it does not wait for the reply that continues.
  if (live === undefined || asking === undefined || message === undefined)
    throw notWaiting(message, decision.approvalId);
  const agentId = live.agentId ?? "";
  const agent = agents.get(agentId);
  if (agent === undefined) throw new AgentNotFoundError({ agentId });
  await applyDecision(message, decision, {});
  const { settings, waitsSince, playground } = asking;
  const started = await startTurn(environment, agent, [message], {
    ...settings,
    ...{
      mode: "chat",
      conversationId,
      userId,
      context: parseObject(live.context, "The context of an execution"),
      playground,
    },
    decision: { ...decision, waitsSince: live.waitsSince ?? waitsSince },
  });
  if (started.kind !== "new") throw new TypeError("a decision has no running reply to share");
  const { turn } = started;
  const waiting = waitingCalls(continuedMessage(turn.history)).length;
  if (waiting > 0) await turn.leaveWaiting();
  else void drain(await runChat(turn, { resumable: true }));
  return { waiting };
}

/** A reader until the end: the next message of the user stops only replies without one. */
export async function drain(chunks: AsyncIterable<UIMessageChunk>): Promise<void> {
  for await (const _ of chunks);
}
