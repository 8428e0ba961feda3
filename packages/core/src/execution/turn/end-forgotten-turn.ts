// Ends a turn whose agent is no longer registered: no process continues it, and it would keep its conversation busy forever.
import { defaultRecoverWithin } from "../../agent/call/agent-options.ts";
import { readTurnInput } from "../../agent/turn/kept-turn.ts";
import { AgentNotFoundError } from "../../errors/index.ts";
import type { StoredExecution } from "../../store/store.ts";
import { claimAbandoned } from "../engine/claim-abandoned.ts";
import type { Engine } from "../engine/engine.ts";
import { endingInError } from "../engine/fail-crash-loop.ts";

/** The parts of the engine that a forgotten turn is ended with. */
export type ForgottenTurnParts = Pick<Engine, "store" | "clock" | "logger" | "claims" | "waiters">;

/** True when it has ended. Where another process may have the agent, that has had the time to continue the turn. */
export async function endForgottenTurn(
  engine: ForgottenTurnParts,
  agentIds: readonly string[],
  executionId: string,
): Promise<boolean> {
  const { store, clock, logger } = engine;
  const state = await store.state(executionId);
  if (state === undefined) return true;
  const { agentId, conversationId, startAt } = state.execution;
  if (agentId === null || agentIds.includes(agentId)) return false;
  if (clock.now() - startAt <= defaultRecoverWithin) return false;
  const which = { workflowIds: [], agentIds: [agentId], limit: 1, only: executionId };
  const anyNumber = { suspects: false, suspectAfter: Number.MAX_SAFE_INTEGER };
  return claimAbandoned(engine, { ...which, ...anyNumber }, async ([claimed]) => {
    if (claimed === undefined) return false;
    const { token } = claimed.claim;
    logger.warn({ executionId, agentId, conversationId }, "ending an abandoned reply of an unknown agent");
    try {
      return await end(engine, state, token, agentId);
    } catch (error) {
      await store.release({ executionId, token }).catch(() => undefined);
      throw error;
    }
  });
}

async function end(
  engine: ForgottenTurnParts,
  state: StoredExecution,
  token: string,
  agentId: string,
): Promise<boolean> {
  const { store, clock } = engine;
  const { conversationId, userId, input } = state.execution;
  const { commit, ending } = await endingInError(
    { store, clock, outbox: undefined },
    state,
    token,
    new AgentNotFoundError({ agentId }),
  );
  const { replyTo } = readTurnInput(JSON.parse(input ?? "null"));
  const reply = {
    conversationId: conversationId ?? "",
    userId,
    replyTo: replyTo ?? undefined,
    message: null,
    at: engine.clock.now(),
  };
  const { kind } = await engine.store.endTurn({ commit, reply });
  engine.waiters.settle(state.execution.executionId, ending.settlement);
  return kind === "ok";
}
