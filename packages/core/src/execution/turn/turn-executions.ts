// Turns as the agents of this process see them: begun here, and those of other processes beside them.
import { randomUUID } from "node:crypto";
import type { LiveTurn, ResumedTool, TurnExecutions, TurnToBegin } from "../../agent/turn/turn-host.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { WorkflowCancelledEvent } from "../../journal/events.ts";
import type { Engine } from "../engine/engine.ts";
import { type BeginTurnParts, beginTurn } from "./begin-turn.ts";
import { endForgottenTurn, type ForgottenTurnParts } from "./end-forgotten-turn.ts";
import { liveTurn, type OtherTurnParts, otherTurns } from "./other-turns.ts";
import { type ResumeTurnParts, resumeTurn } from "./resume-turn.ts";
import type { TurnKind } from "./turn-kind.ts";

export function turnExecutions(
  engine: BeginTurnParts &
    ForgottenTurnParts &
    OtherTurnParts &
    ResumeTurnParts &
    Pick<Engine, "lookForEnds" | "changes">,
  kind: TurnKind,
): TurnExecutions {
  const begin = async (turn: TurnToBegin) => {
    const result = await beginTurn(engine, kind, turn);
    if (result.kind === "begun" && turn.message.kind === "replace") reportDecided(engine, turn);
    // It may have ended one that waited for another execution.
    if (result.kind === "begun" && kind.hasHadChildren) engine.lookForEnds();
    if (result.kind !== "busy" || !(await endForgottenTurn(engine, kind.agentIds, result.executionId)))
      return result;
    return beginTurn(engine, kind, turn);
  };
  const live = (conversationId: string) => liveTurn(engine.store, conversationId);
  const resume = (tool: ResumedTool) => resumeTurn(engine, kind, tool);
  const endWait = async ({ executionId }: LiveTurn) => {
    const timestamp = engine.clock.now();
    const event: WorkflowCancelledEvent = {
      ...{
        type: "workflow-cancelled",
        timestamp,
        reason: "Stopped",
        userId: undefined,
        suspensionId: undefined,
      },
    };
    const how = { key: randomUUID(), status: "cancelled", error: null, due: null } as const;
    const { kind: result } = await engine.store.cancel({ executionId, ...how, event: encodeEvent(event) });
    if (kind.hasHadChildren) engine.lookForEnds();
    return result === "cancelled";
  };
  return { begin, live, endWait, resume, others: otherTurns(engine) };
}

/** Calls of a message have been decided: the inbox has changed. */
function reportDecided(
  { changes, clock }: Pick<Engine, "changes" | "clock">,
  { executionId, userId, conversationId }: TurnToBegin,
): void {
  const where = { executionId, workflowId: "", userId, conversationId, stepPath: undefined };
  changes.report({ ...where, status: "running", sequence: 0, timestamp: clock.now() });
}
