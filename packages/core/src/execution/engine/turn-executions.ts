// Turns as the agents of this process see them: begun here, and those of other processes beside them.
import type { TurnExecutions, TurnToBegin } from "../../agent/turn/turn-host.ts";
import { type BeginTurnParts, beginTurn } from "./begin-turn.ts";
import { endForgottenTurn, type ForgottenTurnParts } from "./end-forgotten-turn.ts";
import { type OtherTurnParts, otherTurns } from "./other-turns.ts";

export function turnExecutions(engine: BeginTurnParts & ForgottenTurnParts & OtherTurnParts): TurnExecutions {
  const begin = async (turn: TurnToBegin) => {
    const result = await beginTurn(engine, turn);
    if (result.kind !== "busy" || !(await endForgottenTurn(engine, result.executionId))) return result;
    return beginTurn(engine, turn);
  };
  return { begin, others: otherTurns(engine) };
}
