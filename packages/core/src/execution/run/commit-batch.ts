// The next commit of an execution: outcomes, their consequences, and the work that starts after the commit.
import type { Notice } from "../../delivery/outbox.ts";
import type { NewEvent, OutcomeEvent, StepStartEvent } from "../../journal/events.ts";
import type { Failure } from "../../journal/failure.ts";
import type { NewSignal } from "../../store/signal-store.ts";
import type { Suspension, Timer } from "../../store/store.ts";
import type { AbortScope } from "../body/abort-scope.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import type { Fiber } from "./fibers.ts";

/** An attempt of a body that failed. */
export interface FailedAttempt {
  readonly command: RunCommand;
  readonly failure: Failure;
  /** Another attempt follows. */
  readonly retried: boolean;
}

/** An event that follows from outcomes. */
export type FollowingEvent = StepStartEvent | OutcomeEvent;

/** A time to wake up at. */
interface BatchTimer {
  readonly timer: Timer;
  readonly scope: AbortScope;
}

const noTimers: ReadonlyMap<string, BatchTimer> = new Map();

export class CommitBatch {
  /** Outcomes of bodies. */
  events: NewEvent[] = [];
  /** Suspensions that the outcomes open. */
  open: Suspension[] = [];
  /** Events that the outcomes send. */
  sends: NewSignal[] = [];
  /** The notifications of those, by suspensionId; made for the first. */
  notices: Map<string, Notice> | undefined;
  /** Paths whose earlier decisions the outcomes use up. */
  takes: string[] = [];
  /** The consequences of the outcomes; void when their branch has lost before they are committed. */
  following: { readonly event: FollowingEvent; readonly scope: AbortScope }[] = [];
  /** Steps that the outcomes end with a call waiting below them, and calls that do not wait any more. */
  closeEnded: string[] = [];
  /** Containers that have ended with something waiting inside. */
  closeBelow: string[] = [];
  /** Times to wake up at, by path; void when their branch has lost before they are committed. */
  get timers(): ReadonlyMap<string, BatchTimer> {
    return this.#timers ?? noTimers;
  }
  /** Made for the first one: most batches have none. */
  #timers: Map<string, BatchTimer> | undefined;
  /** Paths whose timers are not needed any more. Cleared before `timers` are set: use `clearTimer`. */
  clear: string[] = [];
  /** Attempts that have failed, until their lines are written. */
  failed: FailedAttempt[] = [];
  /** Bodies to run once the batch is committed. */
  starts: { readonly fiber: Fiber; readonly command: RunCommand }[] = [];
  /** Branches whose signals are aborted once the batch is committed. */
  lost: { readonly scope: AbortScope; readonly reason: Error }[] = [];

  /** Puts work that was held back (the execution is paused) in front of this batch. */
  prepend(held: CommitBatch): void {
    this.following.unshift(...held.following);
    this.closeBelow.unshift(...held.closeBelow);
    for (const path of this.clear) held.#timers?.delete(path);
    if (held.timers.size > 0) this.#timers = new Map([...held.timers, ...this.timers]);
    this.clear.unshift(...held.clear);
    // Not as arguments: there may be more than a call can have.
    this.starts = [...held.starts, ...this.starts];
    this.lost.unshift(...held.lost);
  }

  /** Takes so many of the bodies to run; the others go in front of those of `next`. */
  takeStarts(most: number, next: CommitBatch): CommitBatch["starts"] {
    const { starts } = this;
    this.starts = [];
    if (starts.length <= most) return starts;
    next.starts = [...starts.slice(most), ...next.starts];
    return starts.slice(0, most);
  }

  /** The timer at this path is not needed any more, whether the store holds it already or it is in this batch. */
  clearTimer(path: string): void {
    this.#timers?.delete(path);
    this.clear.push(path);
  }

  setTimer(timer: Timer, scope: AbortScope): void {
    this.#timers ??= new Map();
    this.#timers.set(timer.path, { timer, scope });
  }

  /** True when nothing of it has to be recorded. */
  get isEmpty(): boolean {
    const { events, following, timers, clear, closeEnded } = this;
    const changes = events.length + following.length + timers.size + clear.length + closeEnded.length;
    return changes === 0;
  }

  /** Leaves out events of branches that have lost meanwhile; ended steps stay, because other steps may see them. */
  prune(): void {
    if (this.lost.length === 0) return;
    const ended = new Set(this.following.map(({ event }) => (event.type === "step-start" ? "" : event.path)));
    this.following = this.following.filter(({ event, scope }) => !scope.closed || ended.has(event.path));
    for (const [path, { scope }] of this.timers) if (scope.closed) this.#timers?.delete(path);
    this.starts = this.starts.filter(({ fiber }) => !fiber.scope.closed);
  }
}
