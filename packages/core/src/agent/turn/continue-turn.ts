// Continues a turn that another process left: calls the agent again, with the records of its calls.
import { ReplyStoppedError } from "../../errors/index.ts";
import { replyErrorText } from "../call/model-failure.ts";
import type { Operation } from "../call/operation.ts";
import { waitingCalls } from "../conversation/apply-tool-decisions.ts";
import { dueSummary, seenMessages } from "../conversation/compaction.ts";
import { messageOf } from "../conversation/kept-message.ts";
import { attachmentsOf, historyForModel } from "../messages/given-messages.ts";
import { replay } from "../reply/replay-message.ts";
import { replyFailure } from "../reply/stream-parts.ts";
import { shapeOf } from "../schema/object-shape.ts";
import { objectReply } from "./object-reply.ts";
import type { RecoveredTurn } from "./recovered-turn.ts";
import { fillReply } from "./run-chat.ts";
import { inPlayground, operationOf, recordingOperation, titleAfter } from "./start-turn.ts";
import { steerTurn } from "./steer-turn.ts";
import { textReply } from "./text-turn.ts";
import { continuedMessage, Turn } from "./turn.ts";
import type { TurnEnvironment } from "./turn-environment.ts";

/** Never rejects: a turn that cannot be continued ends with the reply so far. */
export async function continueTurn(environment: TurnEnvironment, recovered: RecoveredTurn): Promise<void> {
  const { agent, running, active, kept, reply, view, conversationId, userId } = recovered;
  const { mode, schema, traceparent } = kept.input;
  const asked = { userId: userId ?? undefined, conversationId, traceparent: traceparent ?? undefined };
  const caller = operationOf(environment, agent, asked, new Map(running.context), active);
  const operation = recordingOperation(caller, running, { ...recovered, mode });
  try {
    await environment.observed?.();
    // Nothing is recorded of the calls of an agent that is not ours: it would be asked once more.
    if (recovered.onlyRecorded && !agent.recordsCalls) throw new ReplyStoppedError();
    const turn = await openAgain(environment, recovered, operation);
    const continued = continuedMessage(turn.history);
    view.resolve((chunks) => (continued === undefined ? chunks : replay(continued, chunks)));
    if (waitingCalls(continued).length > 0) {
      await turn.leaveWaiting();
      reply.close();
      return;
    }
    // Its caller has left: the error is in the log.
    if (mode === "text") await textReply(turn).catch(() => undefined);
    else if (schema === null) await fillReply(turn, reply);
    else await objectReply(turn, await shapeOf(schema, environment.schemas)).catch(() => undefined);
  } catch (error) {
    view.resolve((chunks) => chunks);
    reply.append({ type: "error", errorText: replyErrorText(replyFailure(error, operation)) });
    reply.close();
    await kept.finish(null).catch(() => undefined);
    active.end();
  }
}

async function openAgain(
  environment: TurnEnvironment,
  { agent: registered, kept, active, conversationId, userId, entered }: RecoveredTurn,
  operation: Operation,
): Promise<Turn> {
  const agent = inPlayground(registered, kept.input);
  const { conversations, approvals, clock } = environment;
  await entered;
  const { mode, messageId, replyTo, settings } = kept.input;
  const upTo = replyTo ?? messageId;
  const recent = await conversations.recent({ conversationId, userId, upTo, limit: agent.window + 1 });
  const last = recent?.at(-1);
  if (replyTo !== null && last?.messageId === replyTo)
    active.question = { agentId: agent.id, mode, messageId: replyTo, body: last.body };
  const known = (recent ?? []).map(messageOf);
  const history = seenMessages(agent, known);
  const tools = await agent.toolsFor(operation);
  if (mode === "chat") steerTurn(environment, { agent, operation, tools, active, conversationId, userId });
  const loaded = await attachmentsOf(agent, operation).resolve(history);
  const messages = await historyForModel(agent, loaded, tools, operation);
  const completed = titleAfter(environment, { agent, operation, history, conversationId, userId });
  const summary = dueSummary(agent, known);
  const what = { tools, messages, history, messageId, conversation: kept, completed, summary };
  return new Turn({ ...what, agent, operation, settings, active, approvals, clock });
}
