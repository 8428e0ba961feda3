// The forms in which callers see an execution, from its row.
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
import { valueAt } from "./journal.ts";
import { type Kept, type KeptInput, keys } from "./layout.ts";

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
  await cells.load([keys.input(executionId), ...(kept.outcome === true ? [keys.outcome(executionId)] : [])]);
  const { input = null, context = "{}" } = cells.get<KeptInput>(keys.input(executionId)) ?? {};
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
