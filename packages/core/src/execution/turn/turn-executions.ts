// Turns as the agents of this process see them: begun here, and those of other processes beside them.
import type { TurnExecutions, TurnToBegin } from "../../agent/turn/turn-host.ts";
import type { Engine } from "../engine/engine.ts";
import { type BeginTurnParts, beginTurn } from "./begin-turn.ts";
import { endForgottenTurn, type ForgottenTurnParts } from "./end-forgotten-turn.ts";
import { liveTurn, type OtherTurnParts, otherTurns } from "./other-turns.ts";
import type { TurnKind } from "./turn-kind.ts";

export function turnExecutions(
  engine: BeginTurnParts & ForgottenTurnParts & OtherTurnParts & Pick<Engine, "changes">,
  kind: TurnKind,
): TurnExecutions {
  const begin = async (turn: TurnToBegin) => {
    const result = await beginTurn(engine, kind, turn);
    if (result.kind === "begun" && turn.message.kind === "replace") reportDecided(engine, turn);
    if (result.kind !== "busy" || !(await endForgottenTurn(engine, kind.agentIds, result.executionId)))
      return result;
    return beginTurn(engine, kind, turn);
  };
  const live = (conversationId: string) => liveTurn(engine.store, conversationId);
  return { begin, live, others: otherTurns(engine) };
}

/** Calls of a message have been decided: the inbox has changed. */
function reportDecided(
  { changes, clock }: Pick<Engine, "changes" | "clock">,
  { executionId, userId, conversationId }: TurnToBegin,
): void {
  const where = { executionId, workflowId: "", userId, conversationId, stepPath: undefined };
  changes.report({ ...where, status: "running", sequence: 0, timestamp: clock.now() });
}
