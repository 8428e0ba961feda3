// Drives one execution: performs what its state asks for, one commit in flight at a time.
//
// While a commit is in flight further outcomes collect in the next batch, so commits of one execution never overtake
// each other, and parallel branches that end together share one.
import { ExecutionStuckError, StoreRefusedError, UnknownEventError } from "../../errors/index.ts";
import { isEnd, type JournalEvent, type WorkflowResumedEvent } from "../../journal/events.ts";
import { causeOf, toFailure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import type { CommitResult, EventPosition, Store } from "../../store/store.ts";
import type { JsonText } from "../../values/json.ts";
import type { AbortScope } from "../body/abort-scope.ts";
import type { ExecutionFacts } from "../body/body-run.ts";
import type { CheckpointLog, DoneCheckpoint, FailedCheckpoint } from "../body/checkpoint-log.ts";
import { JournalGauge, StateGauge, withinResult } from "../body/limits.ts";
import { runAttempt } from "../body/run-attempt.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import { Alarm } from "./alarm.ts";
import {
  type BuiltCommit,
  buildCommit,
  buildEnding,
  buildOutcomes,
  type CommitTarget,
  type IdleRequest,
  recordedBy,
} from "./build-commit.ts";
import { CheckpointRecords } from "./checkpoint-records.ts";
import { CommitBatch, type FollowingEvent } from "./commit-batch.ts";
import { type Arrival, ExecutionProgress } from "./execution-progress.ts";
import { type Fiber, sliceSize } from "./fibers.ts";
import type { IdleFold, LoadedExecution } from "./loaded-execution.ts";
import { OthersEvents } from "./others-events.ts";
import { maxRunsWithoutEvent, ReentryGuard } from "./reentry-guard.ts";
import { endingOf, type Settlement } from "./settlement.ts";

export interface DriverOptions {
  readonly execution: LoadedExecution;
  readonly facts: ExecutionFacts;
  readonly store: Pick<Store, "commit" | "release" | "events">;
  readonly storage: StorageReports;
  /** Called with what was committed, in order. */
  publish(events: readonly JournalEvent[]): void;
  /** Called when waiting callers can be notified; the driver itself may continue (a pause with a body in flight). */
  settle(settlement: Settlement): void;
  /** Called when something in the store falls due at a time, here or wherever the execution then is. */
  scheduleWakeup(at: number, kind: "sleep" | "limit"): void;
  /** Told when something was done of which nobody else hears. */
  readonly progress: { notify(): void };
  /** Gives the claim back and keeps every process from running the execution; undefined for a turn, which fails. */
  readonly park: ((token: string, reason: string) => Promise<void>) | undefined;
  /** Called when the driver has let go of the execution. */
  leave(driver: Driver): void;
  /** Called after that when the store has lost commits of this claim: releases it and has the execution loaded again. */
  reload(): void;
}

/** Learns how the store fares with commits. */
export interface StorageReports {
  sent(): void;
  replied(): void;
  /** Something was written. */
  wrote(): void;
  /** True when the storage is to blame, which is then told for all executions together. */
  failed(error: unknown): boolean;
}

/**
 * Milliseconds: an execution that wakes within them stays loaded. Letting go and loading again takes
 * several calls of the store, which a loop of ten thousand rounds with a short sleep in each would pay for every round.
 */
const shortSleep = 1000;

export class Driver implements CheckpointLog {
  readonly executionId: string;
  readonly #options: DriverOptions;
  readonly #progress: ExecutionProgress;
  readonly #running = new Set<Fiber>();
  /** The one whose body has not returned yet. Most bodies are over when they do, and never come among those that run. */
  #entered: Fiber | undefined;
  /** Those of them that began while the execution catches up with times that have passed; made when there is one. */
  #late: Set<Fiber> | undefined;
  /** A deadline or timeout that has passed and has to wait for what comes before it. */
  #heldLimit: number | undefined;
  #arrivals: Arrival[] = [];
  #committing = false;
  #paused: boolean;
  /** The number of the event that paused it last, or lifted the pause. */
  #pausedAt = 0;
  #draining = false;
  #over = false;
  /** Set while bodies that may start wait for the next turn of the event loop. */
  #nextTurn: NodeJS.Immediate | undefined;
  readonly #alarm: Alarm;
  /** The numbers of the resumes that were taken in; made for the first. */
  #delivered: Set<number> | undefined;
  readonly #gauge: JournalGauge;
  /** Made for the first checkpoint. */
  #records: CheckpointRecords | undefined;
  /** How many commits were recorded. */
  #commits = 0;
  /** The number of the last event that is known here. */
  #sequence: number;
  /** Its time, or that of a later one: no event that is written here is earlier. */
  #lastAt: number;
  /** The last event of another writer that was read and is not yet named by a recorded commit. */
  #other: EventPosition | undefined;
  /** Made when a body has ended without an outcome. */
  #guard: ReentryGuard | undefined;
  /** Made when others have written. */
  #others: OthersEvents | undefined;
  /** Up to this number everything was known when it began. */
  #knownFrom: number;
  #idle: IdleFold | undefined;

  constructor(options: DriverOptions) {
    const { execution, facts } = options;
    this.#options = options;
    this.executionId = facts.executionId;
    this.#paused = execution.paused;
    this.#sequence = execution.sequence;
    this.#lastAt = execution.lastAt;
    this.#knownFrom = execution.sequence;
    this.#gauge = new JournalGauge(facts.limits.journal, execution.bytes);
    this.#gauge.add([], execution.sequence);
    this.#alarm = new Alarm(facts.clock, () => this.#flush());
    this.#progress = new ExecutionProgress({
      execution,
      clock: facts.clock,
      limits: facts.limits,
      stateGauge: new StateGauge(facts.limits),
      limitIsDue: (at) => options.scheduleWakeup(at, "limit"),
      checks: (fiber, outcome) => {
        this.#begin(fiber);
        outcome.then((result) => this.#arrive({ fiber, command: undefined, result }));
      },
    });
  }

  /** The top-level step that runs now. */
  get stepIndex(): number {
    return this.#progress.stepIndex;
  }

  /** The number of the last event that is known here: its own, or one that was delivered. */
  get sequence(): number {
    return this.#sequence;
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

  /** The fold of its journal; undefined unless it has gone idle with everything recorded. */
  get idle(): IdleFold | undefined {
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
    return this.#committing || this.#others?.isReading === true || isComing || this.isRunning;
  }

  /** Walks the plan as far as the journal reaches; what follows is ready to be committed. */
  begin(): void {
    this.#progress.begin();
  }

  /** For a new execution: what it begins with, to be committed with its creation under numbers from `first` on. */
  takeFirstEvents(first: number): readonly FollowingEvent[] {
    const events = this.#progress.takeFirstEvents(first);
    const last = first + events.length - 1;
    this.#gauge.add([], last);
    this.#knows(last, events.at(-1)?.timestamp);
    this.#knownFrom = last;
    return events;
  }

  /** Commits what is ready and runs what may run. */
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
      this.#noteOther(event);
      if (path === null) this.#lifted(event);
      else this.#progress.resume(path, event);
    }
    this.#flush();
  }

  /** The execution was paused by this event: starts nothing new until the pause is lifted; bodies in flight may finish. */
  pause({ sequence, timestamp }: Pick<JournalEvent, "sequence" | "timestamp">): void {
    this.#noteOther({ sequence, timestamp });
    this.#setPaused(true, sequence);
    this.#flush();
  }

  /** The next commit names this event, so that a store that has lost it does not record the consequences. */
  #noteOther({ sequence, timestamp }: Pick<JournalEvent, "sequence" | "timestamp">): void {
    this.#knows(sequence, timestamp);
    if (sequence >= (this.#other?.sequence ?? 0)) this.#other = { sequence, at: timestamp };
  }

  /** This event is known here: those that follow have higher numbers, and none of them is earlier. */
  #knows(sequence = 0, timestamp = 0): void {
    this.#sequence = Math.max(this.#sequence, sequence);
    this.#lastAt = Math.max(this.#lastAt, timestamp);
  }

  /** The pause was lifted: the time that it lasted does not count for the timeouts. */
  #lifted({ sequence, pausedFor = 0 }: WorkflowResumedEvent & { readonly sequence: number }): void {
    if (this.#progress.timeoutAt !== null) this.#progress.timeoutAt += pausedFor;
    this.#options.execution.journal.lifted(pausedFor);
    this.#setPaused(false, sequence);
  }

  /** What is heard of a pause may be older than what is known. */
  #setPaused(paused: boolean, sequence: number): void {
    if (sequence <= this.#pausedAt) return;
    this.#pausedAt = sequence;
    this.#paused = paused;
    this.#knows(sequence);
  }

  /** Another process has written to the execution: takes in what it was. */
  look(): void {
    this.#readOthers({ must: false });
  }

  /** True when a deadline or timeout of this time has to wait for what comes before it; it is scheduled again then. */
  holds(limit: number): boolean {
    const at = this.#mayHappenAt(limit);
    if (at === undefined || at <= this.#now()) return false;
    this.#heldLimit = Math.min(this.#heldLimit ?? limit, limit);
    if (Number.isFinite(at)) this.#options.scheduleWakeup(at, "limit");
    return true;
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

  /** Starts nothing new; lets bodies in flight finish, then lets go of the execution. */
  drain(): void {
    this.#draining = true;
    this.#flush();
  }

  /** Aborts the bodies in flight and lets go of the execution without waiting for them, or for the store. */
  releaseNow(): void {
    if (this.#over) return;
    // A store that is in trouble may never reply; what it was asked before it closes, it does if it can.
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

  // ---- the commit loop

  #arrive(arrival: Arrival): void {
    this.#ends(arrival.fiber);
    this.#arrivals.push(arrival);
    this.#flush();
  }

  #flush(): void {
    if (this.#committing || this.#over) return;
    const arrivals = this.#arrivals;
    this.#arrivals = arrivals.length > sliceSize ? arrivals.splice(sliceSize) : [];
    for (const arrival of arrivals) if (!this.#sticks(arrival)) this.#progress.consume(arrival);
    // A pause lets no timer fire, and a process that stops starts nothing.
    const waits = this.#paused || this.#draining || this.#guard?.stuckAt !== undefined;
    const nextLook = waits ? undefined : this.#progress.wakeUp(this.#hasLate);
    if (!waits) this.#progress.openNext();
    const { batch } = this.#progress;
    batch.prune();
    if (batch.failed.length > 0) this.#reportFailures(batch);
    const outcome = this.#progress.outcome ?? this.#gauge.outcome;
    if (this.#paused || (waits && outcome === undefined)) return this.#flushOutcomes(batch);
    const works = batch.starts.length > 0 || this.#progress.isHeld || this.#arrivals.length > 0;
    const idle = outcome === undefined && !works && !this.isRunning && !this.#wakesSoon();
    // While the execution is loaded it wakes by itself; once it has let go, by its rows.
    this.#alarm.set(nextLook);
    this.#releaseLimit();
    if (batch.isEmpty && !idle && outcome === undefined) return this.#perform(batch);
    this.#progress.batch = new CommitBatch();
    const ending = outcome && endingOf(withinResult(this.#options.facts.limits, outcome), this.#endAt());
    const request = idle ? this.#idleRequest() : undefined;
    const built = buildCommit(this.#nextTarget(), batch, { ending, idle: request });
    // A step's own failure says more than the limit that its journal has reached.
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
    return this.#guard.isLast(path, this.#sequence, scope);
  }

  /** Running it again would lead to the same. A turn fails, so that its conversation is free. */
  #park(path: string): void {
    const { facts, park } = this.#options;
    const { executionId } = facts;
    const err = new ExecutionStuckError({ executionId, path, runs: maxRunsWithoutEvent });
    if (park === undefined) return this.#endWith(err);
    facts.logger.error({ stepPath: path, err }, "execution parked: it makes no progress");
    // Nothing is committed meanwhile.
    this.#committing = true;
    park(this.token, err.message).then(
      () => this.stop({ kind: "elsewhere" }, err),
      (error: unknown) => this.#refused(error, true),
    );
  }

  /** Records what bodies have returned, and the end: nothing follows. */
  #endOverfull(batch: CommitBatch, outcome: Outcome): void {
    const last = new CommitBatch();
    last.events = batch.events;
    last.clear = this.#timerPaths;
    const ending = endingOf(outcome, this.#endAt());
    this.#send(last, buildCommit(this.#nextTarget(), last, { ending }));
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
    if (!this.#progress.pace.isBehind) return;
    this.#late ??= new Set();
    this.#late.add(fiber);
  }

  get #hasLate(): boolean {
    return this.#late !== undefined && this.#late.size > 0;
  }

  #ends(fiber: Fiber): void {
    this.#running.delete(fiber);
    this.#late?.delete(fiber);
  }

  /** When a deadline or timeout may happen; infinite: after a sleep here that ends before it. */
  #mayHappenAt(limit: number): number | undefined {
    if (this.#over || this.#paused) return undefined;
    const { nextWake, pace, batch } = this.#progress;
    if (nextWake !== undefined && nextWake <= limit) return Number.POSITIVE_INFINITY;
    const settled = !this.#committing && this.#arrivals.length === 0;
    if (settled && !this.#hasLate && batch.starts.length === 0) return undefined;
    return pace.earliest(limit);
  }

  /** Nothing that comes before the limit that was held is left to happen. */
  #releaseLimit(): void {
    const held = this.#heldLimit;
    if (held === undefined || (this.#mayHappenAt(held) ?? 0) > this.#now()) return;
    this.#heldLimit = undefined;
    this.#options.scheduleWakeup(held, "limit");
  }

  #checkpoints(): CheckpointRecords {
    const { execution, facts } = this.#options;
    this.#records ??= new CheckpointRecords(execution.journal, facts.clock);
    return this.#records;
  }

  get #timerPaths(): string[] {
    return this.#progress.waits.timers.map(({ path }) => path);
  }

  #nextTarget(): CommitTarget {
    const { token, values } = this.#options.execution;
    // One that was not sent, or was refused, leaves its number to the next: the store takes a gap for a loss.
    const number = this.#commits + 1;
    const { executionId, stepIndex } = this;
    const [after, lastAt, others] = [this.#sequence, this.#lastAt, this.#other];
    return { executionId, token, number, stepIndex, values, after, lastAt, others };
  }

  #now(): number {
    return this.#options.facts.clock.now();
  }

  /** The time of an end that is written now. */
  #endAt(): number {
    return Math.max(this.#now(), this.#lastAt);
  }

  #wakesSoon(): boolean {
    const { nextWake } = this.#progress;
    return nextWake !== undefined && nextWake <= this.#now() + shortSleep;
  }

  #idleRequest(): IdleRequest {
    return { resumes: this.#options.execution.journal.resumes, suspension: this.#progress.firstOpen };
  }

  /** Commits only outcomes; what follows waits for a pause to be lifted, or for the next process. */
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
    this.#send(outcomes, buildOutcomes(this.#nextTarget(), outcomes, idle));
  }

  /** `last`: the store has refused a write already, and this one says so. */
  #send(batch: CommitBatch, built: BuiltCommit, last = false): void {
    this.#committing = true;
    const { store, storage } = this.#options;
    storage.sent();
    store.commit(built.commit).then(
      (result) => {
        storage.replied();
        storage.wrote();
        this.#committed(batch, built, result);
      },
      (error: unknown) => {
        storage.replied();
        this.#refused(error, last);
      },
    );
  }

  #committed(batch: CommitBatch, built: BuiltCommit, result: CommitResult): void {
    const { commit, ending } = built;
    this.#committing = false;
    if (this.#over) return;
    if (result.kind === "ended" || result.kind === "fenced") {
      return this.stop({ kind: "elsewhere" }, new Error("The execution was ended or taken over elsewhere"));
    }
    if (result.kind === "lost") return this.#lost();
    this.#commits = commit.number;
    if (this.#other === commit.others) this.#other = undefined;
    this.#publish(built, result);
    for (const { deadline } of commit.open) {
      if (deadline !== null) this.#options.scheduleWakeup(deadline, "limit");
    }
    if (result.idle) return this.#goIdle(batch, result);
    if (result.kind === "paused") {
      // The outcomes are recorded; what follows from them is kept until the pause is lifted, which may be known already.
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
    // The process stops: what was committed to start is for the next one.
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
    else this.#readOthers({ must: true });
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
    // What a pause holds back is known here, and not in the journal.
    if (kind === "ok" && !this.#paused && this.#progress.batch.isEmpty) {
      const { startAt, journal, values, input, kept } = this.#options.execution;
      const { bytes } = this.#gauge;
      this.#idle = { startAt, journal, values, input, kept, sequence, lastAt: this.#lastAt, bytes };
    }
    // Also what a pause held back has lost: the outcome that decided against it is recorded.
    for (const batch of [committed, this.#progress.batch]) abortLost(batch);
    const { firstOpen: suspension, nextWake } = this.#progress;
    if (nextWake !== undefined) this.#options.scheduleWakeup(nextWake, "sleep");
    if (suspension !== undefined) return this.#finish({ kind: "suspended", suspension });
    // Callers waiting for a sleeping execution keep waiting.
    this.#finish(nextWake === undefined ? { kind: "elsewhere" } : undefined);
  }

  /** Lets go of the execution. Aborts nothing: no body that counts is in flight, and a signal never means idle. */
  #finish(settlement: Settlement | undefined): void {
    this.#over = true;
    this.#others?.stop();
    this.#releaseLimit();
    this.#alarm.cancel();
    this.#progress.scope.close();
    this.#records?.abandon();
    if (settlement !== undefined) this.#options.settle(settlement);
    this.#options.leave(this);
  }

  /** `must`: a resume came before the execution could go idle, and it waits for that. */
  #readOthers(how: { readonly must: boolean }): void {
    if (this.#over) return;
    const { store, storage, progress } = this.#options;
    this.#others ??= new OthersEvents({
      executionId: this.executionId,
      store,
      after: this.#knownFrom,
      storageFailed: (error) => storage.failed(error),
      takeIn: (events) => {
        this.#takeIn(events);
        progress.notify();
      },
      failed: (error, must) => this.#failedToRead(error, must),
    });
    this.#others.look(how);
  }

  #failedToRead(error: unknown, must: boolean): void {
    if (error instanceof UnknownEventError) this.#letGo(error);
    else if (must) this.#refused(error, false);
  }

  /** A process of a later release has written here. What it asked for is not known, so only such a one may continue. */
  #letGo(err: UnknownEventError): void {
    const { facts, store } = this.#options;
    facts.logger.warn({ err }, "let go of an execution: its journal holds events of a later release");
    store.release({ executionId: this.executionId, token: this.token }).catch(() => undefined);
    this.stop({ kind: "elsewhere" }, err);
  }

  #takeIn(found: readonly JournalEvent[]): void {
    const last = found.at(-1);
    this.#knows(last?.sequence, last?.timestamp);
    // While a commit is in flight the end may be this driver's own; another one's is the commit's result.
    const over = found.find((event) => isEnd(event) || event.type === "execution-rewound");
    if (over !== undefined && !this.#committing) {
      return this.stop({ kind: "elsewhere" }, new Error("The execution was ended or taken over elsewhere"));
    }
    for (const event of found) {
      if (event.type !== "workflow-suspended" || event.path !== null) continue;
      this.#noteOther(event);
      this.#setPaused(true, event.sequence);
    }
    this.deliver(found);
  }

  #release(): void {
    this.#committing = true;
    const leave = () => {
      if (!this.#over) this.#finish({ kind: "stopped" });
    };
    const { executionId, token } = this;
    this.#options.store.release({ executionId, token, offer: true }).then(leave, leave);
  }

  #publish(built: BuiltCommit, result: CommitResult): void {
    const { events, stored } = recordedBy(built, result);
    this.#gauge.add(stored, result.sequence);
    // Others have written in between: what it was may not have been heard.
    const missed = result.sequence - stored.length > this.#sequence;
    this.#knows(result.sequence, events.at(-1)?.timestamp);
    if (missed) queueMicrotask(() => this.look());
    this.#options.execution.values.recorded(stored, result.sequence - stored.length + 1);
    for (const event of events) this.#options.execution.journal.committed(event);
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
    this.#send(new CommitBatch(), buildEnding(this.#nextTarget(), failed, this.#timerPaths), true);
  }
}

/** Results of bodies that run again, at once or later. */
const runsAgain: ReadonlySet<string> = new Set(["calls-suspended", "interrupted", "waiting"]);

function abortLost(batch: CommitBatch): void {
  if (batch.lost.length === 0) return;
  for (const { scope, reason } of batch.lost.splice(0)) scope.abort(reason);
}
