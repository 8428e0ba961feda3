// Posts the end of work in the background into its conversation, as a message that the model reads with the next reply.
import { randomUUID } from "node:crypto";
import type { UIMessage } from "ai";
import {
  BudgetReachedError,
  BudgetUsedUpError,
  ConversationConflictError,
  MessageWithdrawnError,
  QueueFullError,
} from "../../errors/index.ts";
import { parseObject } from "../../values/fields.ts";
import { plainJson } from "../../values/json.ts";
import type { BackgroundEnd } from "../durable/children.ts";
import { type DecidingParts, drain } from "./decide-approval.ts";
import { runChat } from "./run-chat.ts";
import { startTurn } from "./start-turn.ts";

/** The most characters of a result that the message has. */
const maxResult = 20_000;

/** False when the agent that is to reply is not registered here. Once it is posted, posting it again changes nothing. */
export async function postEnd(
  { environment, executions, agents }: DecidingParts,
  end: BackgroundEnd,
): Promise<boolean> {
  await environment.ready;
  const { conversations, clock } = environment;
  const { conversationId, userId, context } = end;
  const conversation = await conversations.read({ conversationId, userId });
  if (conversation === undefined) return true;
  const message = messageOfEnd(end);
  const { agentId } = conversation;
  // Another turn would end the wait of this one: the reply that continues is followed by the message.
  const isWaiting = (await executions.live(conversationId))?.waitsSince !== undefined;
  const post = async () => {
    const where = { key: randomUUID(), conversationId, userId, agentId, title: null };
    const posted = { messageId: message.id, body: JSON.stringify(message), again: false, waits: true };
    await conversations.post({ ...where, ...posted, at: clock.now() });
    return true;
  };
  if (!end.wake || isWaiting) return post();
  const agent = agents.get(agentId);
  if (agent === undefined) return false;
  try {
    const options = {
      conversationId,
      userId: userId ?? undefined,
      context: parseObject(context, "The context of an execution"),
    };
    const started = await startTurn(environment, agent, [message], {
      ...options,
      mode: "chat",
      whenBusy: "queue",
    });
    if (started.kind === "new") void drain(await runChat(started.turn, { resumable: true }));
  } catch (error) {
    // No reply may be made to it.
    if (error instanceof BudgetUsedUpError || error instanceof BudgetReachedError) return post();
    if (error instanceof QueueFullError) return false;
    // It has its reply already, or was taken back.
    if (!(error instanceof ConversationConflictError || error instanceof MessageWithdrawnError)) throw error;
  }
  return true;
}

function messageOfEnd({
  executionId,
  workflowId,
  toolName,
  status,
  result,
  problem,
}: BackgroundEnd): UIMessage {
  const value = problem ?? (result === undefined ? "" : JSON.stringify(plainJson(result)));
  const shown = value.length <= maxResult ? value : `${value.slice(0, maxResult)}…`;
  const how = status === "error" ? "failed" : status;
  const text = `The work of the tool ${toolName} in the background (execution ${executionId}) has ${how === "cancelled" ? "been " : ""}${how}${shown === "" ? "." : `: ${shown}`}`;
  return {
    id: `end-${executionId}`,
    role: "user",
    metadata: { background: { executionId, workflowId, toolName, status } },
    parts: [{ type: "text", text }],
  };
}
