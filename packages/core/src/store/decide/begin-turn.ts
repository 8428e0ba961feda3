// Whether a turn of a conversation may begin.
import type { BeginTurnResult, Cancel, ExecutionHead, NewTurn } from "../store.ts";

export interface TurnFacts {
  /** The token of the execution with the id of the turn; undefined when there is none. */
  readonly token: string | null | undefined;
  /** The user of the conversation; undefined when there is no such conversation. */
  readonly owner: string | null | undefined;
  /** The live turn of the conversation. */
  readonly live: Pick<ExecutionHead, "executionId" | "status"> | undefined;
}

/** Undefined: its message may be kept. `repeated`: it has begun, and the result of that call was lost. */
export function beforeTurn(
  { userId, claim }: NewTurn,
  { token, owner, live }: TurnFacts,
): BeginTurnResult | "repeated" | undefined {
  if (token === claim.token) return "repeated";
  // A turn of another user stays unknown.
  if (owner !== undefined && owner !== userId) return { kind: "foreign" };
  return live?.status === "running" ? { kind: "busy", executionId: live.executionId } : undefined;
}

/** Ends the turn whose reply waited for a person: this turn continues the reply, or the user has gone on without it. */
export function endOfWait({ startAt, claim }: NewTurn, executionId: string): Cancel {
  const nowhere = { path: null, stepIndex: null, stepType: null, value: null, detail: null };
  const event = { timestamp: startAt, type: "workflow-cancelled", ...nowhere };
  return { executionId, key: claim.token, event, status: "cancelled", error: null, due: null };
}
