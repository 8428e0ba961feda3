// Turns as the agents of this process see them: begun here, and those of other processes beside them.
import type { TurnExecutions, TurnToBegin } from "../../agent/turn/turn-host.ts";
import { type BeginTurnParts, beginTurn } from "./begin-turn.ts";
import { endForgottenTurn, type ForgottenTurnParts } from "./end-forgotten-turn.ts";
import { type OtherTurnParts, otherTurns } from "./other-turns.ts";
import type { TurnKind } from "./turn-kind.ts";

export function turnExecutions(
  engine: BeginTurnParts & ForgottenTurnParts & OtherTurnParts,
  kind: TurnKind,
): TurnExecutions {
  const begin = async (turn: TurnToBegin) => {
    const result = await beginTurn(engine, kind, turn);
    if (result.kind !== "busy" || !(await endForgottenTurn(engine, kind.agentIds, result.executionId)))
      return result;
    return beginTurn(engine, kind, turn);
  };
  return { begin, others: otherTurns(engine) };
}
