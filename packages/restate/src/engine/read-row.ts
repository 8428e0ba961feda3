// The forms in which callers and lists see an execution, from its row.
import type {
  ClaimedExecution,
  ExecutionHead,
  ListedExecution,
  Outcome,
  StoredExecution,
  Suspension,
  WaitingSuspension,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { inputOf, valueAt } from "./journal.ts";
import { type Kept, keys } from "./layout.ts";
import { columnsOf, field, optional, tagField } from "./lines.ts";

export function claimedOf({ record, fixed, timeoutAt }: Kept): ClaimedExecution {
  const { owner: _o, token: _t, commits: _c, idle: _i, usage: _u, ...rest } = record;
  const { openSuspensions: _s, parkedUnder: _p, ...columns } = rest;
  return { ...columns, ...fixed, timeoutAt };
}

/** Whose outcome may have to be loaded first. */
function outcomeOf(cells: Cells, { record, outcome }: Kept): Outcome | null {
  return outcome === true ? (cells.get<Outcome>(keys.outcome(record.executionId)) ?? null) : outcome;
}

export async function listedOf(cells: Cells, kept: Kept): Promise<ListedExecution> {
  if (kept.outcome === true) await cells.load([keys.outcome(kept.record.executionId)]);
  const { kind: _, agentId: _a, ...columns } = claimedOf(kept);
  return { ...columns, error: outcomeOf(cells, kept)?.error ?? null };
}

export async function stateOf(cells: Cells, kept: Kept): Promise<StoredExecution> {
  const { executionId } = kept.record;
  if (kept.outcome === true) await cells.load([keys.outcome(executionId)]);
  const { input, context } = await inputOf(cells, kept);
  const outcome = outcomeOf(cells, kept);
  const result =
    outcome?.resultAt == null ? (outcome?.result ?? null) : await valueAt(cells, kept, outcome.resultAt);
  const execution = { ...claimedOf(kept), input, context, result, error: outcome?.error ?? null };
  const suspensions = kept.suspensions.toSorted(bySuspension);
  return { execution, suspensions, timers: kept.timers, usage: kept.record.usage };
}

export function bySuspension(a: Suspension, b: Suspension): number {
  return a.suspendedAt - b.suspendedAt || (a.suspensionId < b.suspensionId ? -1 : 1);
}

export function headOf({ record, fixed }: Kept): ExecutionHead {
  const { executionId, kind, status, sequence, paused, parked, owner } = record;
  const { workflowId, agentId, userId, conversationId } = fixed;
  const place = { executionId, kind, workflowId, agentId, userId, conversationId };
  return { ...place, status, sequence, paused, parked: parked !== null, owner };
}

export function waitingOf({ record, fixed }: Kept, suspension: Suspension): WaitingSuspension {
  const { workflowId, agentId, userId, conversationId, startAt } = fixed;
  const { executionId } = record;
  return { executionId, workflowId, agentId, userId, conversationId, startAt, suspension };
}

export const columns = columnsOf(
  "kind status startAt endAt workflowId userId executionId tags trace conversationId replayOf parked whole",
);

/** The fields of its row. */
export function fieldsOf({ record, fixed }: Kept): (string | number)[] {
  const { kind, status, executionId, endAt, parked } = record;
  const { startAt, workflowId, userId, tags, trace, conversationId, replayOf } = fixed;
  const names = [field(workflowId), optional(userId), field(executionId), tags.map(tagField).join("")];
  const marks = [trace, conversationId, replayOf?.executionId ?? null].map(optional);
  return [kind, status, startAt, endAt ?? "", ...names, ...marks, parked === null ? "" : "parked"];
}

export const waitingColumns = columnsOf(
  "suspendedAt suspensionId executionId workflowId agentId userId whole",
);

/** An open suspension in lists, without its long fields, and the fields before it. */
export function shortOf(kept: Kept, suspension: Suspension): Place {
  const { resumeSchema: _, ...short } = { ...suspension, reason: "", data: null, onDeadline: null };
  const { workflowId, agentId, userId } = kept.fixed;
  const names = [short.suspensionId, kept.record.executionId, workflowId].map(field);
  return [waitingOf(kept, short), short.suspendedAt, ...names, optional(agentId), optional(userId)];
}

/** A value by which an execution is found, and its fields. */
export type Place = readonly [value: unknown, ...fields: (string | number)[]];
