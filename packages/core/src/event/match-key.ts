// The keys by which events and waits find each other.

/** A wait without a key is ended by any event of the name. */
export const anyKey = "*";

export function matchKey(key: string | null): string {
  return key === null ? anyKey : `=${key}`;
}

/** The process that can continue a wait: one that registers this workflow, or this agent. */
export function targetOf({
  workflowId,
  agentId,
}: {
  readonly workflowId: string;
  readonly agentId?: string | null | undefined;
}): string {
  return agentId == null ? `w${workflowId}` : `a${agentId}`;
}
