// Builds what is written to the store from a batch, and says afterwards which part of it was recorded.
import { encodeEvent, encodeEvents } from "../../journal/codec.ts";
import { type EventType, type JournalEvent, type NewEvent, numberEvents } from "../../journal/events.ts";
import type { Commit, CommitResult, Suspension } from "../../store/store.ts";
import type { NewStoredEvent } from "../../store/stored-event.ts";
import type { CommitBatch } from "./commit-batch.ts";
import type { Ending } from "./settlement.ts";
import { workflowSuspendedEvent } from "./step-events.ts";

/**
 * Outcomes, retries and suspensions: an execution that reaches one has got further since it was recovered. One that
 * only starts a step or emits before it crashes its process has not.
 */
const progressTypes: ReadonlySet<EventType> = new Set<EventType>([
  "step-complete",
  "step-evaluated",
  "step-skipped",
  "step-bailed",
  "step-error",
  "step-retry",
  "step-suspended",
]);

/** Whose commit it is. */
export interface CommitTarget {
  readonly executionId: string;
  readonly token: string;
  /** The top-level step that now runs. */
  readonly stepIndex: number;
}

/** What the execution goes idle with: the resumes it knows of, and the suspension it waits at. */
export interface IdleRequest {
  readonly resumes: number;
  readonly suspension: Suspension | undefined;
}

/** A commit with its events as they are published once it is recorded. */
export interface BuiltCommit {
  readonly commit: Commit;
  readonly events: readonly NewEvent[];
  readonly following: readonly NewEvent[];
  readonly idleEvent: NewEvent | undefined;
  readonly ending: Ending | undefined;
}

/** Everything in the batch, and how the execution ends or goes idle after it. */
export function buildCommit(
  target: CommitTarget,
  batch: CommitBatch,
  { ending, idle }: { readonly ending?: Ending | undefined; readonly idle?: IdleRequest | undefined },
): BuiltCommit {
  const following: NewEvent[] = batch.following.map(({ event }) => event);
  if (ending !== undefined) following.push(ending.event);
  const built = buildOutcomes(target, batch, idle);
  const commit: Commit = {
    ...built.commit,
    following: encodeEvents(following),
    progress: built.commit.progress || following.some(isProgress),
    closeBelow: batch.closeBelow,
    timers: Array.from(batch.timers.values(), ({ timer }) => timer),
    clear: batch.clear,
    end: ending?.end ?? null,
  };
  return { ...built, commit, following, ending };
}

/** Only the outcomes of the batch: what follows from them waits. */
export function buildOutcomes(target: CommitTarget, batch: CommitBatch, idle?: IdleRequest): BuiltCommit {
  const { events, open } = batch;
  const idleEvent = idle?.suspension && suspendedEvent(idle.suspension);
  const commit: Commit = {
    ...emptyCommit(target),
    events: encodeEvents(events),
    progress: events.some(isProgress),
    open,
    idle: idle ? { resumes: idle.resumes, event: idleEvent ? encodeEvent(idleEvent) : null } : null,
  };
  return { commit, events, following: [], idleEvent, ending: undefined };
}

/** The end of an execution and nothing else; `clear` names the timers that go. */
export function buildEnding(
  target: CommitTarget,
  ending: Ending,
  clear: readonly string[] = [],
): BuiltCommit {
  const following = [ending.event];
  const commit = { ...emptyCommit(target), following: encodeEvents(following), clear, end: ending.end };
  return { commit, events: [], following, idleEvent: undefined, ending };
}

/** What the store recorded: the events with their numbers, and in their stored form. */
export function recordedBy(
  { commit, events, following, idleEvent }: BuiltCommit,
  { kind, sequence, idle }: CommitResult,
): { readonly events: readonly JournalEvent[]; readonly stored: readonly NewStoredEvent[] } {
  const recorded = [...events];
  const stored = [...commit.events];
  if (kind === "ok") {
    recorded.push(...following);
    stored.push(...commit.following);
  }
  if (idle && idleEvent !== undefined) recorded.push(idleEvent);
  if (idle && commit.idle?.event) stored.push(commit.idle.event);
  return { events: numberEvents(recorded, sequence - recorded.length + 1), stored };
}

function isProgress({ type }: NewEvent): boolean {
  return progressTypes.has(type);
}

function emptyCommit({ executionId, token, stepIndex }: CommitTarget): Commit {
  return {
    executionId,
    token,
    stepIndex,
    progress: false,
    events: [],
    open: [],
    following: [],
    closeBelow: [],
    timers: [],
    clear: [],
    end: null,
    idle: null,
  };
}

function suspendedEvent(suspension: Suspension): NewEvent {
  return workflowSuspendedEvent(suspension, suspension.stepIndex, undefined);
}
