// Resumes a tool that waits in a reply: the turn continues here, from its records.
import { randomUUID } from "node:crypto";
import { approvalIdOf } from "../../agent/turn/approval-waits.ts";
import type { ResumedTool } from "../../agent/turn/turn-host.ts";
import { AgentNotFoundError, NotSuspendedError } from "../../errors/index.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { WorkflowResumedEvent } from "../../journal/events.ts";
import { isChildWait } from "../../store/suspension.ts";
import type { Engine } from "../engine/engine.ts";
import { type WriteResumeParts, writeResume } from "../engine/write-resume.ts";
import { checkResumeData } from "../limits/resume-data.ts";
import type { TurnKind } from "./turn-kind.ts";

/** The parts of the engine that a turn is resumed with. */
export type ResumeTurnParts = WriteResumeParts & Pick<Engine, "clock" | "limits">;

/** Resolves when the data is kept. Of several resumes of one wait the first counts. */
export async function resumeTurn(
  engine: ResumeTurnParts,
  { agentIds }: Pick<TurnKind, "agentIds">,
  { conversationId, suspensionId, data, by, schemas }: ResumedTool,
): Promise<void> {
  const { store, clock, limits } = engine;
  const head = await store.liveTurn(conversationId);
  const state = head && (await store.state(head.executionId));
  const suspension = state?.suspensions.find((open) => open.suspensionId === suspensionId);
  const isTool =
    suspension !== undefined && approvalIdOf(suspension.path) === null && !isChildWait(suspension);
  if (state === undefined || suspension === undefined || !isTool)
    throw new NotSuspendedError({ executionId: head?.executionId ?? suspensionId });
  const { executionId, agentId } = state.execution;
  // A process without the agent could not continue the reply.
  if (agentId === null || !agentIds.includes(agentId))
    throw new AgentNotFoundError({ agentId: agentId ?? "" });
  const checks = { executionId, limits, schemas };
  const resumeData = await checkResumeData(checks, data, suspension.resumeSchema ?? undefined);
  const { path, stepIndex } = suspension;
  const timestamp = clock.now();
  const event: WorkflowResumedEvent = {
    ...{ type: "workflow-resumed", timestamp, path, stepIndex, suspensionId, resumeData },
    ...{ userId: by, byDeadline: false, expired: false },
  };
  const resume = {
    ...{ executionId, suspensionIds: [suspensionId], rewind: null, events: [encodeEvent(event)] },
    ...{ claim: { owner: engine.claims.taker, token: randomUUID() }, byDeadline: false },
  };
  if (!(await writeResume(engine, { resume, state }))) throw new NotSuspendedError({ executionId });
}
