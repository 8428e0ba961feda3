// Executions and commits for tests that write to a store directly.
import { randomUUID } from "node:crypto";
import type { Commit, NewExecution, NewStoredEvent } from "@andante/core/store";

export function event(type: string, value: string | null = null): NewStoredEvent {
  return { timestamp: 1_000, type, path: null, stepIndex: null, stepType: null, value, detail: null };
}

export function execution(fields: Partial<NewExecution> = {}): NewExecution {
  return {
    executionId: randomUUID(),
    workflowId: "publish",
    input: null,
    context: "{}",
    userId: null,
    conversationId: null,
    startAt: 1_000,
    timeoutAt: null,
    claim: { owner: "here", token: randomUUID() },
    events: [event("workflow-start")],
    ...fields,
  };
}

/** The commit with this number under the claim of an execution. */
export function commitOf(made: NewExecution, number: number, fields: Partial<Commit> = {}): Commit {
  return {
    executionId: made.executionId,
    token: made.claim.token,
    number,
    events: [event(`step-${number}`)],
    usage: null,
    open: [],
    following: [],
    closeBelow: [],
    timers: [],
    clear: [],
    stepIndex: number,
    progress: true,
    end: null,
    idle: null,
    ...fields,
  };
}
