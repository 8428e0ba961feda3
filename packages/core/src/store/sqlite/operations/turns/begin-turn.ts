// Keeps a message and creates the turn that replies to it; the index of live turns allows one for each conversation.
import type { DatabaseSync } from "node:sqlite";
import type { PostMessage, PostResult, ReplaceLast } from "../../../conversation-store.ts";
import { beforeTurn, decisions, endOfWait } from "../../../decide/index.ts";
import type { BeginTurn, BeginTurnResult } from "../../../store.ts";
import { nullableText, status, text } from "../../columns.ts";
import { appendEvents } from "../../journal-rows.ts";
import type { PerformDecision } from "../../perform-decision.ts";
import { queuedBefore } from "../conversations/queue.ts";
import { messagesBefore } from "../conversations/recent-messages.ts";

interface TurnWrites {
  post(message: Omit<PostMessage, "key">): PostResult;
  replaceLast(change: ReplaceLast): boolean;
  readonly perform: PerformDecision;
}

export function beginTurn(database: DatabaseSync, { post, replaceLast, perform }: TurnWrites) {
  const append = appendEvents(database);
  const readBefore = messagesBefore(database);
  const tokenOf = database.prepare("select token from executions where execution_id = ?");
  const ownerOf = database.prepare("select user_id from conversations where conversation_id = ?");
  const findLive = database.prepare(
    `select execution_id, iif(idle = 1, 'suspended', 'running') as status from executions indexed by executions_live_turn
     where conversation_id = ? and kind = 'turn' and end_at is null`,
  );
  const insert = database.prepare(
    `insert into executions (execution_id, kind, workflow_id, agent_id, status, input, context, user_id,
       conversation_id, start_at, sequence, owner, token)
     values (?, 'turn', '', ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const keep = ({
    message,
    turn,
  }: BeginTurn): "begun" | "changed" | Exclude<PostResult["kind"], "posted"> => {
    const { conversationId, userId, agentId } = turn;
    if (message.kind === "replace")
      return replaceLast({ ...message, conversationId, userId }) ? "begun" : "changed";
    const { kind } = post({ ...message, conversationId, userId, agentId });
    return kind === "posted" ? "begun" : kind;
  };
  const begun = ({ message, turn, before }: BeginTurn): BeginTurnResult => {
    if (before === undefined || message.kind !== "post") return { kind: "begun" };
    return { kind: "begun", before: readBefore(turn.conversationId, message.messageId, before) };
  };
  const isBehind = queuedBefore(database);
  return (argument: BeginTurn): BeginTurnResult => {
    const { turn, message } = argument;
    const { executionId, conversationId, userId, claim, events } = turn;
    const [same, conversation, live] = [
      tokenOf.get(executionId),
      ownerOf.get(conversationId),
      findLive.get(conversationId),
    ];
    const early = beforeTurn(turn, message, {
      token: same && nullableText(same, "token"),
      owner: conversation && nullableText(conversation, "user_id"),
      live: live && { executionId: text(live, "execution_id"), status: status(live) },
      isBehind: conversation !== undefined && isBehind(conversationId, message),
    });
    if (early === "repeated") return begun(argument);
    if (early !== undefined) return early;
    const kind = keep(argument);
    if (kind !== "begun") return { kind };
    const { agentId, input, context, startAt } = turn;
    if (live !== undefined) perform(decisions.cancel, endOfWait(turn, text(live, "execution_id")));
    const what = [executionId, agentId, input, context, userId, conversationId, startAt];
    insert.run(...what, events.length, claim.owner, claim.token);
    append(executionId, 0, events);
    // Nothing is before the message that a conversation begins with.
    return conversation === undefined && argument.before !== undefined
      ? { kind: "begun", before: [] }
      : begun(argument);
  };
}
