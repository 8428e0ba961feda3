// Turns as the agents of this process see them: begun here, and those of other processes beside them.
import type { TurnExecutions } from "../../agent/turn/turn-host.ts";
import { beginTurn } from "./begin-turn.ts";
import type { Engine } from "./engine.ts";
import { otherTurns } from "./other-turns.ts";

export function turnExecutions(engine: Engine): TurnExecutions {
  return { begin: (turn) => beginTurn(engine, turn), others: otherTurns(engine) };
}
