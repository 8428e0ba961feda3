// Deals with the end of an execution that has a parent, children or a schedule: the parent that waits for it continues, children
// that still run are cancelled, and the next occurrence that waits for it starts. Done again after a crash, until the store has noted it.
import { randomUUID } from "node:crypto";
import { decodeEvent, encodeEvent } from "../../journal/codec.ts";
import type { WorkflowCancelledEvent, WorkflowResumedEvent } from "../../journal/events.ts";
import { scheduleIn } from "../../schedule/cause.ts";
import type { DueTimer, ExecutionRow } from "../../store/store.ts";
import { childState } from "./child-executions.ts";
import { type EndParts, endedOutside } from "./ended-outside.ts";
import type { Engine } from "./engine.ts";
import { childPrefix, type ParentLink, readLinks } from "./links.ts";
import type { Processed } from "./scheduler.ts";
import { type WriteCancelParts, writeCancel } from "./write-cancel.ts";
import { type WriteResumeParts, writeResume } from "./write-resume.ts";

export type ProcessEndParts = EndParts &
  WriteResumeParts &
  WriteCancelParts &
  Pick<Engine, "clock" | "postEnd" | "schedules">;

/** Children that are read at once. */
const page = 100;

export async function processEnd(engine: ProcessEndParts, { executionId }: DueTimer): Promise<Processed> {
  const state = await engine.store.state(executionId);
  if (state === undefined) return "refused";
  const { execution } = state;
  const { parent, hasChildren } = readLinks(execution.links);
  const schedule = scheduleIn(execution.links);
  if (hasChildren) await cancelChildren(engine, executionId);
  const tell = parent?.background === undefined ? wakeParent : post;
  if (parent !== undefined && !(await tell(engine, parent, execution))) return "later";
  if (schedule !== undefined) await engine.schedules?.ended(schedule.scheduleId, execution);
  await engine.store.endHandled({ executionId });
  return "done";
}

/** Posts the end into the conversation, where there is one. False when this process cannot. */
async function post(
  engine: ProcessEndParts,
  { background }: ParentLink,
  row: ExecutionRow,
): Promise<boolean> {
  const { conversationId, workflowId, userId, context } = row;
  if (conversationId === null || background === undefined) return true;
  return engine.postEnd({ ...background, ...childState(row), workflowId, conversationId, userId, context });
}

/** False when the parent does not wait yet, or cannot continue in this process. */
async function wakeParent(
  engine: ProcessEndParts,
  { executionId, path }: ParentLink,
  child: Pick<ExecutionRow, "executionId" | "status">,
): Promise<boolean> {
  const state = await engine.store.state(executionId);
  if (state === undefined || state.execution.endAt !== null) return true;
  const suspension = state.suspensions.find((open) => open.path === path);
  if (suspension === undefined || !runsHere(engine, state.execution)) return false;
  const { suspensionId, stepIndex } = suspension;
  const timestamp = engine.clock.now();
  const event: WorkflowResumedEvent = {
    ...{ type: "workflow-resumed", timestamp, path, stepIndex, suspensionId, userId: undefined },
    // Its tool reads the result from the child.
    resumeData: JSON.stringify({ executionId: child.executionId, status: child.status }),
    ...{ byDeadline: false, expired: false },
  };
  const claim = { owner: engine.claims.taker, token: randomUUID() };
  const closes = { suspensionIds: [suspensionId], rewind: null };
  // Like a deadline it waits while the parent is paused.
  const resume = { executionId, ...closes, events: [encodeEvent(event)], claim, byDeadline: true };
  return writeResume(engine, { resume, state });
}

/** Whether the definition of the workflow, or the agent of the turn, is registered in this process. */
function runsHere(
  engine: Pick<ProcessEndParts, "kind">,
  { kind, workflowId, agentId }: Pick<ExecutionRow, "kind" | "workflowId" | "agentId">,
): boolean {
  const { workflowIds = [], agentIds = [] } = engine.kind(kind).claimable ?? {};
  return agentId === null ? workflowIds.includes(workflowId) : agentIds.includes(agentId);
}

/** Cancels the children that run, unless they are to continue. */
export async function cancelChildren(engine: ProcessEndParts, executionId: string): Promise<void> {
  const query = { idPrefix: childPrefix(executionId), limit: page };
  for (let before: { startAt: number; executionId: string } | undefined; ; ) {
    const children = await engine.store.list({ ...query, before });
    for (const child of children) {
      const isOver = child.endAt !== null || readLinks(child.links).parent?.onParentEnd === "continue";
      if (!isOver) await cancelChild(engine, child.executionId);
    }
    const last = children.at(-1);
    if (last === undefined) return;
    before = { startAt: last.startAt, executionId: last.executionId };
  }
}

async function cancelChild(engine: ProcessEndParts, executionId: string): Promise<void> {
  const state = await engine.store.state(executionId);
  if (state === undefined || state.execution.endAt !== null) return;
  const reason = "The execution that has started it has ended";
  const event: WorkflowCancelledEvent = {
    ...{ type: "workflow-cancelled", timestamp: engine.clock.now(), reason },
    ...{ userId: undefined, suspensionId: undefined },
  };
  const how = { key: randomUUID(), status: "cancelled", error: null, due: null } as const;
  const result = await writeCancel(engine, state.execution, { ...how, event: encodeEvent(event) });
  if (result.kind === "refused") return;
  await endedOutside(engine, state.execution, decodeEvent(result.event), reason);
}
