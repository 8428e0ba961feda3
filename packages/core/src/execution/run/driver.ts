// Drives one execution: performs the commands of its plan and commits their outcomes.
//
// While a commit is in flight (commit-loop.ts) further outcomes collect in the next batch, so commits of one execution never
// overtake each other, and parallel branches that end together share one.
import { ExecutionStuckError, StoreRefusedError, UnknownEventError } from "../../errors/index.ts";
import { isEnd, type JournalEvent, type WorkflowResumedEvent } from "../../journal/events.ts";
import { causeOf, toFailure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import type { CommitResult, Store } from "../../store/store.ts";
import type { JsonText } from "../../values/json.ts";
import type { AbortScope } from "../body/abort-scope.ts";
import type { ExecutionFacts } from "../body/body-run.ts";
import type { CheckpointLog, DoneCheckpoint, FailedCheckpoint } from "../body/checkpoint-log.ts";
import { runAttempt } from "../body/run-attempt.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import { JournalGauge, StateGauge, withinResult } from "../limits/limits.ts";
import {
  type BuiltCommit,
  buildCommit,
  buildEnding,
  buildOutcomes,
  type CommitTarget,
  type IdleRequest,
} from "./build-commit.ts";
import { CheckpointRecords } from "./checkpoint-records.ts";
import { CommitBatch, type FollowingEvent } from "./commit-batch.ts";
import { CommitLoop, type StorageReports } from "./commit-loop.ts";
import { type Arrival, ExecutionProgress } from "./execution-progress.ts";
import { type Fiber, sliceSize } from "./fibers.ts";
import { Lateness } from "./lateness.ts";
import type { IdleExecution, LoadedExecution } from "./loaded-execution.ts";
import { maxRunsWithoutEvent, ReentryGuard } from "./reentry-guard.ts";
import { endingOf, type Settlement } from "./settlement.ts";

export interface DriverOptions {
  readonly execution: LoadedExecution;
  readonly facts: ExecutionFacts;
  readonly store: Pick<Store, "commit" | "release" | "events">;
  readonly storage: StorageReports;
  /** Called with committed events, in order. */
  publish(events: readonly JournalEvent[]): void;
  /** Called when waiting callers can be notified; the driver itself may continue (a pause with a body in flight). */
  settle(settlement: Settlement): void;
  /** Called when something in the store falls due at a time, here or wherever the execution then is. */
  scheduleWakeup(at: number, kind: "sleep" | "limit"): void;
  /** Notified after progress that publishes no event. */
  readonly progress: { notify(): void };
  /** Gives the claim back and keeps every process from running the execution; undefined for a turn, which fails. */
  readonly park: ((token: string, reason: string) => Promise<void>) | undefined;
  /** Called when the driver has released the execution. */
  leave(driver: Driver): void;
  /** Called after that when the store has lost commits of this claim: releases it and has the execution loaded again. */
  reload(): void;
}

/**
 * Milliseconds: an execution that wakes within them stays loaded. Releasing and loading it again takes several calls of the
 * store, which a loop of ten thousand rounds with a short sleep in each would pay for every round.
 */
const shortSleep = 1000;

export class Driver implements CheckpointLog {
  readonly executionId: string;
  readonly #options: DriverOptions;
  readonly #progress: ExecutionProgress;
  readonly #loop: CommitLoop;
  readonly #lateness: Lateness;
  /** Fibers whose bodies or checks are asynchronous and have not ended. */
  readonly #running = new Set<Fiber>();
  /** The fiber whose body is being called. Most bodies finish synchronously and never enter `#running`. */
  #entered: Fiber | undefined;
  #arrivals: Arrival[] = [];
  #paused: boolean;
  /** The number of the event that paused it last, or lifted the pause. */
  #pausedAt = 0;
  #draining = false;
  #over = false;
  /** Set while bodies that may start wait for the next turn of the event loop. */
  #nextTurn: NodeJS.Immediate | undefined;
  /** The numbers of the delivered resumes; created for the first. */
  #delivered: Set<number> | undefined;
  readonly #gauge: JournalGauge;
  /** Made for the first checkpoint. */
  #records: CheckpointRecords | undefined;
  /** Created when a body has ended without an outcome. */
  #guard: ReentryGuard | undefined;
  #idle: IdleExecution | undefined;

  constructor(options: DriverOptions) {
    const { execution, facts } = options;
    this.#options = options;
    this.executionId = facts.executionId;
    this.#paused = execution.paused;
    const { executionId } = this;
    const { store, storage } = options;
    const { userId = null, workflowId, tags, observation } = facts;
    const spender = { userId, workflowId, tags, budgets: observation.usage.budgets };
    this.#loop = new CommitLoop({
      executionId,
      execution,
      spender,
      outbox: facts.outbox?.of(
        { executionId, workflowId, userId, startAt: execution.startAt },
        execution.workflow,
      ),
      hasChildren: () => facts.children?.hasStarted === true,
      store,
      storage,
      takeIn: (events) => {
        this.#takeIn(events);
        options.progress.notify();
      },
      failed: (error, must) => this.#failedToRead(error, must),
    });
    this.#gauge = new JournalGauge(facts.limits.journal, execution.bytes);
    this.#gauge.add([], execution.sequence);
    this.#progress = new ExecutionProgress({
      execution,
      clock: facts.clock,
      limits: facts.limits,
      stateGauge: new StateGauge(facts.limits),
      limitIsDue: (at) => options.scheduleWakeup(at, "limit"),
      onAsyncCheck: (fiber, outcome) => {
        this.#begin(fiber);
        outcome.then((result) => this.#arrive({ fiber, command: undefined, result }));
      },
    });
    this.#lateness = new Lateness({
      clock: facts.clock,
      progress: this.#progress,
      isSettled: () =>
        this.#over || this.#paused ? undefined : !this.#loop.inFlight && this.#arrivals.length === 0,
      wake: () => this.#flush(),
      limitIsDue: (at) => options.scheduleWakeup(at, "limit"),
    });
  }

  /** The top-level step that runs now. */
  get stepIndex(): number {
    return this.#progress.stepIndex;
  }

  /** The number of the last event that is known here: its own, or one that was delivered. */
  get sequence(): number {
    return this.#loop.sequence;
  }

  get workflowId(): string {
    return this.#options.execution.workflow.id;
  }

  /** Proves the claim. */
  get token(): string {
    return this.#options.execution.token;
  }

  /** Whose execution it is; null when it has no user. */
  get userId(): string | null {
    return this.#options.facts.userId ?? null;
  }

  /** The fold of its journal and its waits; undefined unless it has gone idle with everything recorded. */
  get idle(): IdleExecution | undefined {
    return this.#idle;
  }

  /** True while a body of this execution runs here. */
  get isRunning(): boolean {
    if (this.#entered?.scope.closed === false) return true;
    for (const fiber of this.#running) if (!fiber.scope.closed) return true;
    return false;
  }

  /** False while nothing is under way: the execution waits for a time that has not come. */
  get isBusy(): boolean {
    const isComing = this.#arrivals.length > 0 || this.#nextTurn !== undefined;
    return this.#loop.inFlight || this.#loop.isReading || isComing || this.isRunning;
  }

  /** Walks the plan to the end of the journal; the next work is ready to be committed. */
  begin(): void {
    this.#progress.begin();
  }

  /** For a new execution: its first events, to be committed with its creation under numbers from `first` on. */
  takeFirstEvents(first: number): readonly FollowingEvent[] {
    const events = this.#progress.takeFirstEvents(first);
    const last = first + events.length - 1;
    this.#gauge.add([], last);
    this.#loop.began({ sequence: last, timestamp: events.at(-1)?.timestamp ?? 0 });
    return events;
  }

  /** Commits ready work and runs the bodies that may run. */
  run(): void {
    this.#flush();
  }

  /** Takes in resumes, which their callers have already journaled. */
  deliver(events: readonly JournalEvent[]): void {
    const { journal, sequence } = this.#options.execution;
    for (const event of events) {
      if (event.type !== "workflow-resumed" || event.sequence <= sequence) continue;
      this.#delivered ??= new Set();
      if (this.#delivered.has(event.sequence)) continue;
      this.#delivered.add(event.sequence);
      journal.resumes++;
      const { path, resumeData = "null" } = event;
      this.#gauge.addText(resumeData);
      this.#loop.noteOther(event);
      if (path === null) this.#lifted(event);
      else this.#progress.resume(path, event);
    }
    this.#flush();
  }

  /** The execution was paused by this event: starts nothing new until the pause is lifted; bodies in flight may finish. */
  pause({ sequence, timestamp }: Pick<JournalEvent, "sequence" | "timestamp">): void {
    this.#loop.noteOther({ sequence, timestamp });
    this.#setPaused(true, sequence);
    this.#flush();
  }

  /** The pause was lifted: the time that it lasted does not count for the timeouts. */
  #lifted({ sequence, pausedFor = 0 }: WorkflowResumedEvent & { readonly sequence: number }): void {
    if (this.#progress.timeoutAt !== null) this.#progress.timeoutAt += pausedFor;
    this.#options.execution.journal.lifted(pausedFor);
    this.#setPaused(false, sequence);
  }

  /** The event of a pause may arrive after a later one. */
  #setPaused(paused: boolean, sequence: number): void {
    if (sequence <= this.#pausedAt) return;
    this.#pausedAt = sequence;
    this.#paused = paused;
    this.#loop.knows(sequence);
  }

  /** Another process has written to the execution: reads its events. */
  look(): void {
    this.#loop.readOthers({ must: false });
  }

  /** True when a deadline or timeout of this time has to wait for earlier times; it is scheduled again then. */
  holds(limit: number): boolean {
    return this.#lateness.holds(limit);
  }

  get startsWork(): boolean {
    return !this.#paused && !this.#draining;
  }

  checkpointDone(command: RunCommand, checkpoint: DoneCheckpoint, how?: { later: boolean }): Promise<void> {
    const committed = this.#checkpoints().done(this.#progress.batch, command, checkpoint);
    if (this.#over) this.#records?.abandon();
    else if (how?.later !== true) this.commitCheckpoints();
    return committed;
  }

  commitCheckpoints(): void {
    queueMicrotask(() => this.#flush());
  }

  checkpointFailed(command: RunCommand, checkpoint: FailedCheckpoint): void {
    this.#checkpoints().failed(this.#progress.batch, command, checkpoint);
  }

  /** Starts nothing new; lets bodies in flight finish, then releases the execution. */
  drain(): void {
    this.#draining = true;
    this.#flush();
  }

  /** Aborts the bodies in flight and releases the execution without waiting for them, or for the store. */
  releaseNow(): void {
    if (this.#over) return;
    // A store in trouble may never reply; a request that reaches it before it closes is still processed if possible.
    const { executionId, token } = this;
    this.#options.store.release({ executionId, token, offer: true }).catch(() => undefined);
    this.stop({ kind: "stopped" }, new Error("The process stops"));
  }

  /** Stops at once: signals abort, nothing more is committed. */
  stop(settlement: Settlement, reason: Error): void {
    if (this.#over) return;
    this.#finish(settlement);
    this.#progress.scope.abort(reason);
  }

  // ---- advancing

  #arrive(arrival: Arrival): void {
    this.#running.delete(arrival.fiber);
    this.#lateness.ended(arrival.fiber);
    this.#arrivals.push(arrival);
    this.#flush();
  }

  #flush(): void {
    if (this.#loop.inFlight || this.#over) return;
    const arrivals = this.#arrivals;
    this.#arrivals = arrivals.length > sliceSize ? arrivals.splice(sliceSize) : [];
    for (const arrival of arrivals) if (!this.#sticks(arrival)) this.#progress.consume(arrival);
    // A pause lets no timer fire, and a process that stops starts nothing.
    const waits = this.#paused || this.#draining || this.#guard?.stuckAt !== undefined;
    const nextLook = waits ? undefined : this.#progress.wakeUp(this.#lateness.hasLate);
    if (!waits) this.#progress.openNext();
    const { batch } = this.#progress;
    batch.prune();
    this.#reportFailures(batch);
    const outcome = this.#progress.outcome ?? this.#gauge.outcome;
    if (this.#paused || (waits && outcome === undefined)) return this.#flushOutcomes(batch);
    const works = batch.starts.length > 0 || this.#progress.isHeld || this.#arrivals.length > 0;
    const idle = outcome === undefined && !works && !this.isRunning && !this.#wakesSoon();
    // While the execution is loaded it wakes by itself; once it is released, by its rows.
    this.#lateness.setAlarm(nextLook);
    this.#lateness.releaseLimit();
    if (batch.isEmpty && !idle && outcome === undefined) return this.#perform(batch);
    this.#progress.batch = new CommitBatch();
    const ending = outcome && endingOf(withinResult(this.#options.facts.limits, outcome), this.#endAt());
    const request = idle ? this.#idleRequest() : undefined;
    const built = buildCommit(this.#target, batch, { ending, idle: request });
    // A step's own failure explains more than the limit of the journal.
    const failed = this.#progress.outcome?.kind === "error";
    const overfull = failed ? undefined : this.#gauge.outcomeWith(built.stored);
    if (overfull === undefined) this.#send(batch, built);
    else this.#endOverfull(batch, overfull);
  }

  /** True when its body has been run too often without a new event. */
  #sticks({ command, fiber: { scope }, result }: Arrival): boolean {
    if (command === undefined || scope.closed || !runsAgain.has(result.kind)) return false;
    return this.#isStuck(command.path, scope);
  }

  #isStuck(path: string, scope: AbortScope): boolean {
    this.#guard ??= new ReentryGuard();
    return this.#guard.isLast(path, this.#loop.sequence, scope);
  }

  /** Running it again would lead to the same. A turn fails, so that its conversation is free. */
  #park(path: string): void {
    const { facts, park } = this.#options;
    const { executionId } = facts;
    const err = new ExecutionStuckError({ executionId, path, runs: maxRunsWithoutEvent });
    if (park === undefined) return this.#endWith(err);
    facts.logger.error({ stepPath: path, err }, "execution parked: it makes no progress");
    this.#loop.hold();
    park(this.token, err.message).then(
      () => this.stop({ kind: "elsewhere" }, err),
      (error: unknown) => this.#refused(error, true),
    );
  }

  /** Records the outcomes of bodies and the end: nothing follows. */
  #endOverfull(batch: CommitBatch, outcome: Outcome): void {
    const last = new CommitBatch();
    last.events = batch.events;
    last.sends = batch.sends;
    last.takes = batch.takes;
    last.clear = this.#timerPaths;
    const ending = endingOf(outcome, this.#endAt());
    this.#send(last, buildCommit(this.#target, last, { ending }));
  }

  /** A failed attempt is a warning, unless it ends the execution: that has a line of its own. */
  #reportFailures(batch: CommitBatch): void {
    const { outcome } = this.#progress;
    for (const { command, failure, retried } of batch.failed.splice(0)) {
      if (outcome?.kind === "error" && outcome.error === failure) continue;
      const { path: stepPath, attempt } = command;
      const what = retried ? "the step failed and is tried again" : "the step failed";
      this.#options.facts.logger.warn({ stepPath, attempt, err: causeOf(failure) }, what);
    }
  }

  #begin(fiber: Fiber): void {
    this.#running.add(fiber);
    this.#lateness.began(fiber);
  }

  #checkpoints(): CheckpointRecords {
    const { execution, facts } = this.#options;
    this.#records ??= new CheckpointRecords(execution.journal, facts.clock);
    return this.#records;
  }

  get #timerPaths(): string[] {
    return this.#progress.waits.timers.map(({ path }) => path);
  }

  get #target(): CommitTarget {
    return this.#loop.target(this.stepIndex);
  }

  #now(): number {
    return this.#options.facts.clock.now();
  }

  /** The time of an end that is written now. */
  #endAt(): number {
    return Math.max(this.#now(), this.#loop.lastAt);
  }

  #wakesSoon(): boolean {
    const { nextWake } = this.#progress;
    return nextWake !== undefined && nextWake <= this.#now() + shortSleep;
  }

  #idleRequest(): IdleRequest {
    return { resumes: this.#options.execution.journal.resumes, suspension: this.#progress.firstOpen };
  }

  /** Commits only outcomes; their consequences wait for a pause to be lifted, or for the next process. */
  #flushOutcomes(batch: CommitBatch): void {
    if (batch.events.length > 0) return this.#sendOutcomes(batch);
    if (this.#arrivals.length > 0) return this.#flush();
    const stuckAt = this.#guard?.stuckAt;
    if (stuckAt !== undefined) return this.#park(stuckAt);
    if (this.isRunning) return;
    if (this.#draining) return this.#release();
    // Paused with no body in flight: this driver is not needed any more. The pause has had its event.
    this.#sendOutcomes(batch, { ...this.#idleRequest(), suspension: undefined });
  }

  #sendOutcomes(batch: CommitBatch, idle?: IdleRequest): void {
    const outcomes = new CommitBatch();
    outcomes.events = batch.events.splice(0);
    outcomes.open = batch.open.splice(0);
    outcomes.closeEnded = batch.closeEnded.splice(0);
    outcomes.sends = batch.sends.splice(0);
    outcomes.takes = batch.takes.splice(0);
    outcomes.notices = batch.notices;
    batch.notices = undefined;
    this.#send(outcomes, buildOutcomes(this.#target, outcomes, idle));
  }

  /** `last`: the store has refused a write already, and this one records it. */
  #send(batch: CommitBatch, built: BuiltCommit, last = false): void {
    this.#loop.send(
      built,
      (result) => this.#committed(batch, built, result),
      (error) => this.#refused(error, last),
    );
  }

  #committed(batch: CommitBatch, built: BuiltCommit, result: CommitResult): void {
    const { commit, ending } = built;
    if (this.#over) return;
    if (result.kind === "ended" || result.kind === "fenced") {
      return this.stop({ kind: "elsewhere" }, new Error("The execution was ended or taken over elsewhere"));
    }
    if (result.kind === "lost") return this.#lost();
    this.#record(built, result);
    for (const { deadline } of commit.open) {
      if (deadline !== null) this.#options.scheduleWakeup(deadline, "limit");
    }
    // Waits for events look for earlier events, and events of bodies are sent: both is work in the store.
    if (commit.sends !== undefined || commit.open.some(({ awaits }) => awaits))
      this.#options.scheduleWakeup(this.#now(), "limit");
    for (const { row } of commit.deliveries ?? [])
      if (row.dueAt !== null) this.#options.scheduleWakeup(row.dueAt, "limit");
    if (result.idle) return this.#goIdle(batch, result);
    if (result.kind === "paused") {
      // The outcomes are recorded; their consequences are kept until the pause is lifted, which may be known already.
      this.#setPaused(true, result.sequence);
      this.#progress.batch.prepend(batch);
      return this.#continue(built);
    }
    if (ending !== undefined) {
      abortLost(batch);
      this.#finish(ending.settlement);
      // A limit of the journal may have ended it while bodies run.
      if (this.#running.size > 0) this.#progress.scope.abort(new Error("The execution has ended"));
      return;
    }
    // The process stops: the next one starts the committed bodies.
    if (this.#draining) this.#progress.batch.prepend(batch);
    else this.#perform(batch);
    this.#continue(built);
  }

  /** A replica without the last commits has become the primary: the state in memory differs from the journal. */
  #lost(): void {
    const { logger } = this.#options.facts;
    logger.warn({}, "the store has lost commits of the execution: it is loaded again and repeats them");
    this.stop({ kind: "elsewhere" }, new Error("The store has lost commits of the execution"));
    this.#options.reload();
  }

  /** An idle request that was not granted means that a resume has come. */
  #continue({ commit }: BuiltCommit): void {
    if (commit.idle === null || this.#isStuck("", this.#progress.scope)) this.#flush();
    else this.#loop.readOthers({ must: true });
  }

  /** Aborts lost branches, then starts the committed bodies, a slice in each turn of the event loop. */
  #perform(batch: CommitBatch): void {
    abortLost(batch);
    const { length } = batch.starts;
    const starts = batch.takeStarts(this.#nextTurn === undefined ? sliceSize : 0, this.#progress.batch);
    if (starts.length < length) {
      this.#nextTurn ??= setImmediate(() => {
        this.#nextTurn = undefined;
        this.#flush();
      });
    }
    for (const { fiber, command } of starts) {
      this.#entered = fiber;
      const result = runAttempt({
        facts: this.#options.facts,
        command,
        scope: fiber.scope,
        emit: (from, name, data) => this.#emit(from, name, data),
        log: this,
      });
      this.#entered = undefined;
      if (result instanceof Promise) {
        this.#begin(fiber);
        void result.then((settled) => this.#arrive({ fiber, command, result: settled }));
      } else this.#arrivals.push({ fiber, command, result });
    }
    if (this.#arrivals.length > 0) this.#flush();
  }

  /** An event of a body is a commit of its own; those that come before it is in flight share one. */
  #emit(command: RunCommand, name: string, data: JsonText): void {
    if (this.#over) return;
    this.#progress.emit(command, name, data);
    queueMicrotask(() => this.#flush());
  }

  #goIdle(committed: CommitBatch, { kind, sequence }: CommitResult): void {
    // Work held back by a pause exists only in memory.
    if (kind === "ok" && !this.#paused && this.#progress.batch.isEmpty) {
      const { startAt, journal, values, input, kept } = this.#options.execution;
      const { bytes } = this.#gauge;
      const fold = { startAt, journal, values, input, kept, sequence, lastAt: this.#loop.lastAt, bytes };
      const { timeoutAt, waits, stepIndex } = this.#progress;
      const { timers, suspensions } = waits;
      this.#idle = { fold, timeoutAt, stepIndex, suspensions: [...suspensions], timers };
    }
    // Including branches held back by a pause: the outcome that decided against them is recorded.
    for (const batch of [committed, this.#progress.batch]) abortLost(batch);
    const { firstOpen: suspension, nextWake } = this.#progress;
    if (nextWake !== undefined) this.#options.scheduleWakeup(nextWake, "sleep");
    if (suspension !== undefined) return this.#finish({ kind: "suspended", suspension });
    // Callers waiting for a sleeping execution keep waiting.
    this.#finish(nextWake === undefined ? { kind: "elsewhere" } : undefined);
  }

  /** Releases the execution. Aborts nothing: no body that counts is in flight, and a signal never means idle. */
  #finish(settlement: Settlement | undefined): void {
    this.#over = true;
    this.#loop.stop();
    this.#lateness.stop();
    this.#progress.scope.close();
    this.#records?.abandon();
    if (settlement !== undefined) this.#options.settle(settlement);
    this.#options.leave(this);
  }

  #failedToRead(error: unknown, must: boolean): void {
    if (error instanceof UnknownEventError) this.#releaseToNewer(error);
    else if (must) this.#refused(error, false);
  }

  /** The journal was written by a newer version, so only a process of that version may continue. */
  #releaseToNewer(err: UnknownEventError): void {
    const { facts, store } = this.#options;
    facts.logger.warn({ err }, "released execution: journal was written by a newer version");
    store.release({ executionId: this.executionId, token: this.token }).catch(() => undefined);
    this.stop({ kind: "elsewhere" }, err);
  }

  #takeIn(found: readonly JournalEvent[]): void {
    const last = found.at(-1);
    this.#loop.knows(last?.sequence, last?.timestamp);
    // While a commit is in flight the end may be this driver's own; another one's is the commit's result.
    const over = found.find((event) => isEnd(event) || event.type === "execution-rewound");
    if (over !== undefined && !this.#loop.inFlight) {
      return this.stop({ kind: "elsewhere" }, new Error("The execution was ended or taken over elsewhere"));
    }
    for (const event of found) {
      if (event.type !== "workflow-suspended" || event.path !== null) continue;
      this.#loop.noteOther(event);
      this.#setPaused(true, event.sequence);
    }
    this.deliver(found);
  }

  #release(): void {
    this.#loop.hold();
    const leave = () => {
      if (!this.#over) this.#finish({ kind: "stopped" });
    };
    const { executionId, token } = this;
    this.#options.store.release({ executionId, token, offer: true }).then(leave, leave);
  }

  #record(built: BuiltCommit, result: CommitResult): void {
    const { events, stored } = this.#loop.record(built, result);
    this.#gauge.add(stored, result.sequence);
    this.#records?.committed(events);
    this.#options.publish(events);
  }

  /** The store refused this write for good, or is gone. A refusal ends the execution, visibly. */
  #refused(cause: unknown, last: boolean): void {
    if (this.#over) return;
    if (!(cause instanceof StoreRefusedError) || last) {
      const { facts, storage } = this.#options;
      if (!storage.failed(cause)) facts.logger.error({ err: cause }, "a commit of the execution failed");
      return this.stop({ kind: "stopped" }, new Error("The store is gone"));
    }
    this.#endWith(cause);
  }

  #endWith(cause: unknown): void {
    const failed = endingOf({ kind: "error", error: toFailure(cause) }, this.#endAt());
    this.#send(new CommitBatch(), buildEnding(this.#target, failed, this.#timerPaths), true);
  }
}

/** Results of bodies that run again, at once or later. */
const runsAgain: ReadonlySet<string> = new Set(["calls-suspended", "interrupted", "waiting"]);

function abortLost(batch: CommitBatch): void {
  for (const { scope, reason } of batch.lost.splice(0)) scope.abort(reason);
}
