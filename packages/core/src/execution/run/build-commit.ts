// Builds the commit of a batch, and determines afterwards which part of it was recorded.

import type { ExecutionOutbox } from "../../delivery/outbox.ts";
import { targetOf } from "../../event/match-key.ts";
import { encodeEvent, encodeEvents } from "../../journal/codec.ts";
import { type EventType, type JournalEvent, type NewEvent, numberEvents } from "../../journal/events.ts";
import { isLong, type KeptValues } from "../../journal/kept-values.ts";
import { sendWork } from "../../store/decide/index.ts";
import type { FactChange } from "../../store/fact-store.ts";
import { inTime } from "../../store/in-time.ts";
import type { Commit, CommitResult, EventPosition, Suspension } from "../../store/store.ts";
import type { NewStoredEvent } from "../../store/stored-event.ts";
import { type StoredUsage, sumUsage } from "../../store/usage.ts";
import { CommitBatch } from "./commit-batch.ts";
import type { Ending } from "./settlement.ts";
import { chargesIn, type Spender, spentIn } from "./spent.ts";
import { workflowSuspendedEvent } from "./step-events.ts";

/**
 * Outcomes, checkpoints, retries and suspensions: an execution that reaches one has made progress since it was recovered. One that
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
  "checkpoint-complete",
  "checkpoint-retry",
]);

/** Whose commit it is. */
export interface CommitTarget {
  readonly executionId: string;
  readonly token: string;
  /** The commits of this claim are numbered. */
  readonly number: number;
  /** The top-level step that now runs. */
  readonly stepIndex: number;
  /** The number of the last event that is known. */
  readonly after: number;
  /** The last event of another writer that no commit has named yet. */
  readonly others?: EventPosition | undefined;
  /** The time of the last event that is known: none of these is earlier. */
  readonly lastAt: number;
  /** The long values that the journal holds. */
  readonly values: KeptValues;
  /** The user and the workflow that the usage of calls counts for. */
  readonly spender: Spender;
  /** Makes the deliveries of its events. Default: none are made. */
  readonly outbox?: ExecutionOutbox | undefined;
  /** It has started other executions. */
  readonly hasChildren?: boolean | undefined;
}

/** The request to go idle: the number of known resumes, and the suspension the execution waits at. */
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
  /** The events in their stored form, with their values. */
  readonly stored: {
    readonly events: readonly NewStoredEvent[];
    readonly following: readonly NewStoredEvent[];
  };
}

/** Everything in the batch, and how the execution ends or goes idle after it. */
export function buildCommit(
  target: CommitTarget,
  batch: CommitBatch,
  { ending, idle }: { readonly ending?: Ending | undefined; readonly idle?: IdleRequest | undefined },
): BuiltCommit {
  const { open } = batch;
  const { executionId, token, number, stepIndex } = target;
  const events = inTime(batch.events, target.lastAt);
  const afterEvents = lastOf(events, target.lastAt);
  const follows: NewEvent[] = batch.following.map(({ event }) => event);
  if (ending !== undefined) follows.push(ending.event);
  const following = inTime(follows, afterEvents);
  const idleEvent = idle?.suspension && suspendedEvent(idle.suspension, lastOf(following, afterEvents));
  const stored = { events: encodeEvents(events), following: encodeEvents(following) };
  const [outcomes, consequences] = target.values.write(stored.events, stored.following);
  // Field by field: this is made for every commit, and copies of it would be, too.
  const commit: Commit = {
    executionId,
    token,
    number,
    after: target.after,
    stepIndex,
    progress: events.some(isProgress) || following.some(isProgress),
    usage: usageOf(events),
    events: outcomes,
    open,
    closeEnded: batch.closeEnded,
    following: consequences,
    closeBelow: batch.closeBelow,
    timers: batch.timers.size === 0 ? [] : Array.from(batch.timers.values(), ({ timer }) => timer),
    clear: batch.clear,
    end: ending === undefined ? null : endOf(ending),
    idle: idleOf(idle, idleEvent),
    ...(target.others && { others: target.others }),
    ...factsOf(events),
    ...spending(events, target),
    ...sendsOf(batch, target),
    ...childrenOf(target),
    ...takesOf(batch),
    ...deliveriesOf(target, batch, ending),
  };
  return { commit, events, following, idleEvent, ending, stored };
}

/** Only the outcomes of the batch: their consequences wait. */
export function buildOutcomes(target: CommitTarget, batch: CommitBatch, idle?: IdleRequest): BuiltCommit {
  const { open } = batch;
  const events = inTime(batch.events, target.lastAt);
  const idleEvent = idle?.suspension && suspendedEvent(idle.suspension, lastOf(events, target.lastAt));
  const stored = { events: encodeEvents(events), following: [] };
  const [outcomes] = target.values.write(stored.events);
  const commit: Commit = {
    ...emptyCommit(target),
    usage: usageOf(events),
    progress: events.some(isProgress),
    events: outcomes,
    open,
    closeEnded: batch.closeEnded,
    idle: idleOf(idle, idleEvent),
    ...factsOf(events),
    ...spending(events, target),
    ...sendsOf(batch, target),
    ...takesOf(batch),
    ...deliveriesOf(target, batch, undefined),
  };
  return { commit, events, following: [], idleEvent, ending: undefined, stored };
}

function childrenOf({ hasChildren }: CommitTarget): Pick<Commit, "hasChildren"> | undefined {
  return hasChildren ? { hasChildren } : undefined;
}

function sendsOf({ sends }: CommitBatch, { spender }: CommitTarget): Pick<Commit, "sends"> | undefined {
  if (sends.length === 0) return undefined;
  const target = targetOf({ workflowId: spender.workflowId });
  return { sends: sends.map((signal) => sendWork(signal, target)) };
}

/** The deliveries of an end, or of the suspensions that are opened; without the field where there are none. */
function deliveriesOf(
  { outbox }: CommitTarget,
  { open, notices }: Pick<CommitBatch, "open" | "notices">,
  ending: Ending | undefined,
): Pick<Commit, "deliveries"> | undefined {
  if (outbox === undefined || (ending === undefined && open.length === 0)) return undefined;
  const deliveries =
    ending === undefined
      ? outbox.ofSuspensions(
          open.map((suspension) => ({ suspension, notice: notices?.get(suspension.suspensionId) })),
        )
      : outbox.ofEnd({ ...ending.end, at: ending.event.timestamp });
  return deliveries && { deliveries };
}

function takesOf({ takes }: CommitBatch): Pick<Commit, "takes"> | undefined {
  return takes.length === 0 ? undefined : { takes };
}

function spending(
  events: readonly NewEvent[],
  { executionId, spender }: CommitTarget,
): Pick<Commit, "spent" | "charges"> | undefined {
  const spent = spentIn(events, spender);
  const charges = spent && chargesIn(events, executionId, spender);
  return spent && { spent, ...(charges && { charges }) };
}

function idleOf(idle: IdleRequest | undefined, event: NewEvent | undefined): Commit["idle"] {
  return idle ? { resumes: idle.resumes, event: event ? encodeEvent(event) : null } : null;
}

/** The end of an execution and nothing else; `clear` names the timers that go. */
export function buildEnding(
  target: CommitTarget,
  ending: Ending,
  clear: readonly string[] = [],
): BuiltCommit {
  const following = inTime([ending.event], target.lastAt);
  const stored = { events: [], following: encodeEvents(following) };
  const [written] = target.values.write(stored.following);
  const deliveries = deliveriesOf(target, new CommitBatch(), ending);
  const commit = { ...emptyCommit(target), following: written, clear, end: endOf(ending), ...deliveries };
  return { commit, events: [], following, idleEvent: undefined, ending, stored };
}

/** The recorded events: with their numbers, and in their stored form. */
export function recordedBy(
  { commit, events, following, idleEvent, stored: built }: BuiltCommit,
  { kind, sequence, idle }: CommitResult,
): { readonly events: readonly JournalEvent[]; readonly stored: readonly NewStoredEvent[] } {
  const recorded = [...events];
  const stored = [...built.events];
  if (kind === "ok") {
    for (const event of following) recorded.push(event);
    for (const event of built.following) stored.push(event);
  }
  if (idle && idleEvent !== undefined) recorded.push(idleEvent);
  if (idle && commit.idle?.event) stored.push(commit.idle.event);
  return { events: numberEvents(recorded, sequence - recorded.length + 1), stored };
}

function isProgress({ type }: NewEvent): boolean {
  return progressTypes.has(type);
}

/** The changes of facts by the tool calls among these events; without the field where there are none. */
function factsOf(events: readonly NewEvent[]): Pick<Commit, "facts"> | undefined {
  let facts: FactChange[] | undefined;
  for (const event of events) {
    if (event.type !== "checkpoint-complete" || event.call?.kind !== "tool") continue;
    const { fact } = event.call;
    if (fact === undefined) continue;
    facts ??= [];
    facts.push(fact);
  }
  return facts && { facts };
}

/** A long result is written once, with the last event. */
function endOf({ end }: Ending): NonNullable<Commit["end"]> {
  const { status, result, error } = end;
  return { status, result: isLong(result) ? { sameAs: -1 } : result, error };
}

/** The usage of agents in these events: counted with each call, a step only sums it up. */
export function usageOf(
  events: readonly NewEvent[],
  counted: "checkpoint-complete" | "step-complete" = "checkpoint-complete",
): StoredUsage | null {
  let total: StoredUsage | null = null;
  for (const event of events) {
    if (event.type !== counted || event.usage === undefined) continue;
    total = sumUsage(total, event.usage);
  }
  return total;
}

function emptyCommit(target: CommitTarget): Commit {
  const { executionId, token, number, after, stepIndex, others } = target;
  return {
    ...childrenOf(target),
    executionId,
    token,
    number,
    after,
    stepIndex,
    progress: false,
    usage: null,
    events: [],
    open: [],
    following: [],
    closeBelow: [],
    timers: [],
    clear: [],
    end: null,
    idle: null,
    ...(others && { others }),
  };
}

function lastOf(events: readonly NewEvent[], before: number): number {
  return events.at(-1)?.timestamp ?? before;
}

/** Reports a suspension that may have opened before the last event, `lastAt`. */
function suspendedEvent(suspension: Suspension, lastAt: number): NewEvent {
  const event = workflowSuspendedEvent(suspension, suspension.stepIndex, undefined);
  return event.timestamp >= lastAt ? event : { ...event, timestamp: lastAt };
}
