// Whether a message may be posted into a conversation, and whether its turn may begin.
import type { ConversationRow, PostMessage } from "../conversation-store.ts";
import type { BeginTurnResult, Cancel, ExecutionHead, NewTurn, TurnMessage } from "../store.ts";

/** Whether a conversation that is there is not the one that a message is for. */
export function isForeign(
  { userId, agentId }: Pick<ConversationRow, "userId" | "agentId">,
  message: Pick<PostMessage, "userId" | "agentId" | "ownConversation">,
): boolean {
  return userId !== message.userId || (message.ownConversation === true && agentId !== message.agentId);
}

export interface TurnFacts {
  /** The token of the execution with the id of the turn; undefined when there is none. */
  readonly token: string | null | undefined;
  /** The user of the conversation; undefined when there is no such conversation. */
  readonly owner: string | null | undefined;
  /** The live turn of the conversation. */
  readonly live: Pick<ExecutionHead, "executionId" | "status"> | undefined;
  /** Whether messages are queued before the one that begins it. */
  readonly isBehind: boolean;
}

/** Undefined: its message may be kept. `repeated`: it has begun, and the result of that call was lost. */
export function beforeTurn(
  { userId, claim }: NewTurn,
  message: TurnMessage,
  { token, owner, live, isBehind }: TurnFacts,
): BeginTurnResult | "repeated" | undefined {
  if (token === claim.token) return "repeated";
  // A turn of another user stays unknown.
  if (owner !== undefined && owner !== userId) return { kind: "foreign" };
  if (live?.status === "running") return { kind: "busy", executionId: live.executionId };
  // Another reply takes back the messages after its own, and a decision does not wait for them.
  return isBehind && message.kind === "post" && !message.again ? { kind: "behind" } : undefined;
}

/** Ends the turn whose reply waited for a person: this turn continues the reply, or the user has gone on without it. */
export function endOfWait({ startAt, claim }: NewTurn, executionId: string): Cancel {
  const nowhere = { path: null, stepIndex: null, stepType: null, value: null, detail: null };
  const event = { timestamp: startAt, type: "workflow-cancelled", ...nowhere };
  return { executionId, key: claim.token, event, status: "cancelled", error: null, due: null };
}
