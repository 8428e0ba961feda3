// The turns of all processes that share the store, as this one sees them.
import { approvalIdOf } from "../../agent/turn/approval-waits.ts";
import type { LiveTurn, OtherTurns, ReplyQuestion } from "../../agent/turn/turn-host.ts";
import { ShuttingDownError } from "../../errors/index.ts";
import type { ClusterChannel } from "../../store/cluster-channel.ts";
import type { Suspension } from "../../store/store.ts";
import { isChildWait } from "../../store/suspension.ts";
import { unlessAborted } from "../../values/unless-aborted.ts";
import type { Engine } from "../engine/engine.ts";
import { viewSuspension } from "../stream/views.ts";

/** The parts of the engine that turns of other processes are seen through. */
export type OtherTurnParts = Pick<Engine, "store" | "waiters" | "keepAlive">;

/** Undefined where one process has the store to itself. */
export function otherTurns(engine: OtherTurnParts): OtherTurns | undefined {
  const { clusterChannel } = engine.store;
  return clusterChannel && turnsBeside(engine, clusterChannel);
}

/** The turn that runs or waits in a conversation. */
export async function liveTurn(
  store: OtherTurnParts["store"],
  conversationId: string,
): Promise<LiveTurn | undefined> {
  const head = await store.liveTurn(conversationId);
  const state = head && (await store.state(head.executionId));
  if (state === undefined || state.execution.endAt !== null) return undefined;
  const { executionId, agentId, userId, input, context } = state.execution;
  const [suspension] = state.suspensions;
  const waits = head?.owner === null && (suspension !== undefined || state.timers.length > 0);
  const waitsSince = waits ? (suspension?.suspendedAt ?? state.execution.startAt) : undefined;
  const waitsForTools = waits && state.suspensions.every(({ path }) => approvalIdOf(path) === null);
  const stored: unknown = JSON.parse(input ?? "null");
  const questions = state.suspensions.flatMap((open) => (isChildWait(open) ? [] : [questionOf(open)]));
  return { executionId, agentId, userId, input: stored, context, waitsSince, waitsForTools, questions };
}

function questionOf(open: Suspension): ReplyQuestion {
  const { suspensionId, reason, data, resumeSchema } = viewSuspension(undefined, open);
  const approvalId = approvalIdOf(open.path);
  return { suspensionId, approvalId, reason, data, ...(resumeSchema && { resumeSchema }) };
}

function turnsBeside(engine: OtherTurnParts, clusterChannel: ClusterChannel): OtherTurns {
  const { store } = engine;
  const running = async (conversationId: string): Promise<LiveTurn | undefined> => {
    const live = await liveTurn(store, conversationId);
    return live?.waitsSince === undefined ? live : undefined;
  };
  /** False when it had ended already. True when it has, or may have, by now. */
  const awaitEnd = async (executionId: string, signal: AbortSignal): Promise<boolean> => {
    signal.throwIfAborted();
    // Waiting begins before the read, so that no end in between is missed.
    const wait = engine.waiters.wait(executionId);
    try {
      const [head] = await store.heads([executionId]);
      if (head?.status !== "running") return false;
      // A turn whose tools only sleep still runs by its status.
      if (head.owner === null && (await running(head.conversationId ?? ""))?.executionId !== executionId)
        return false;
      const { kind } = await engine.keepAlive.during(unlessAborted(wait.settled, signal));
      if (kind === "stopped") throw new ShuttingDownError();
      return true;
    } finally {
      wait.cancel();
    }
  };
  const ended = async (executionId: string, signal: AbortSignal): Promise<void> => {
    for (let ran = true; ran; ) ran = await awaitEnd(executionId, signal);
  };
  return { running, ended, askToStop: (executionId) => clusterChannel.askToStop(executionId) };
}
