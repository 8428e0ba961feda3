// Keeps a message and creates the turn that replies to it; the index of live turns allows one for each conversation.
import {
  type BeginTurn,
  type BeginTurnResult,
  beforeTurn,
  decisions,
  endOfWait,
  type PostResult,
  type ReplaceLast,
  rowText,
} from "@andante/core/store";
import { nullableText, status, text } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { lockConversation } from "../conversations/once.ts";
import { postMessage } from "../conversations/post-message.ts";
import { queuedBefore } from "../conversations/queue.ts";
import { messagesBefore } from "../conversations/reads.ts";
import { decideLocked } from "./end-turn.ts";

export function beginTurn(s: string) {
  const post = postMessage(s);
  const replace = replaceLast(s);
  const readBefore = messagesBefore(s);
  const findBefore = queuedBefore(s);
  const tokenOf = `select token from ${s}.executions where execution_id = $1`;
  const ownerOf = `select user_id from ${s}.conversations where conversation_id = $1`;
  const findLive = `select execution_id, case when idle then 'suspended' else 'running' end as status from ${s}.executions
    where conversation_id = $1 and kind = 'turn' and end_at is null`;
  const insert = `insert into ${s}.executions (execution_id, kind, workflow_id, agent_id, status, input, context, user_id,
      conversation_id, start_at, sequence, owner, token)
    values ($1, 'turn', '', $2, 'running', $3, $4, $5, $6, $7, $8, $9, $10)`;
  const journal = `insert into ${s}.journal (execution_id, sequence, events) values ($1, $2, $3)`;
  const keep = async (
    query: Query,
    { message, turn }: BeginTurn,
  ): Promise<"begun" | "changed" | Exclude<PostResult["kind"], "posted">> => {
    const { conversationId, userId, agentId } = turn;
    if (message.kind === "replace")
      return (await replace(query, { ...message, conversationId, userId })) ? "begun" : "changed";
    const { kind } = await post(query, { ...message, conversationId, userId, agentId });
    return kind === "posted" ? "begun" : kind;
  };
  const begun = async (query: Query, { message, turn, before }: BeginTurn): Promise<BeginTurnResult> => {
    if (before === undefined || message.kind !== "post") return { kind: "begun" };
    return { kind: "begun", before: await readBefore(query, turn.conversationId, message.messageId, before) };
  };
  return async (query: Query, argument: BeginTurn): Promise<BeginTurnResult> => {
    const { executionId, conversationId, userId, claim, events, ...turn } = argument.turn;
    const { message } = argument;
    const { messageId } = message;
    await lockConversation(query, s, conversationId);
    const found = await Promise.all([
      query(tokenOf, [executionId]),
      query(ownerOf, [conversationId]),
      query(findLive, [conversationId]),
      query(findBefore, [conversationId, messageId, message.kind === "post" && message.wasQueued === true]),
    ]);
    const [same, conversation, live, before] = found.map(({ rows }) => rows[0]);
    const early = beforeTurn(argument.turn, message, {
      token: same && nullableText(same, "token"),
      owner: conversation && nullableText(conversation, "user_id"),
      live: live && { executionId: text(live, "execution_id"), status: status(live) },
      isBehind: before !== undefined,
    });
    if (early === "repeated") return begun(query, argument);
    if (early !== undefined) return early;
    const kind = await keep(query, argument);
    if (kind !== "begun") return { kind };
    const { agentId, input, context, startAt } = turn;
    if (live !== undefined)
      await decideLocked(query, s, decisions.cancel, endOfWait(argument.turn, text(live, "execution_id")));
    const what = [executionId, agentId, input, context, userId, conversationId, startAt];
    await query(insert, [...what, events.length, claim.owner, claim.token]);
    if (events.length > 0) await query(journal, [executionId, events.length, rowText(0, events)]);
    // Nothing is before the message that a conversation begins with.
    return conversation === undefined && argument.before !== undefined
      ? { kind: "begun", before: [] }
      : begun(query, argument);
  };
}

/** Changes a message that no reply follows if it still has the body that the caller read. */
function replaceLast(s: string) {
  const change = `update ${s}.messages changed set body = $1
    where conversation_id = $2 and message_id = $3 and body = $4
      and not exists (select from ${s}.messages
        where conversation_id = $2 and sequence > changed.sequence and role = 'assistant')
      and exists (select from ${s}.conversations where conversation_id = $2 and user_id is not distinct from $5)`;
  const touch = `update ${s}.conversations set updated_at = greatest(updated_at, $1), revision = revision + 1
    where conversation_id = $2`;
  return async (query: Query, argument: ReplaceLast): Promise<boolean> => {
    const { conversationId, userId, messageId, previous, body, at } = argument;
    const { count } = await query(change, [body, conversationId, messageId, previous, userId]);
    if (count === 0) return false;
    await query(touch, [at, conversationId]);
    return true;
  };
}
