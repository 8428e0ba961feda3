// Drives one execution: performs what its progress asks for, one commit under way at a time.
//
// While a commit is under way further outcomes collect in the next batch, so commits of one execution never overtake
// each other, and parallel branches that end together share one.
import { StoreRefusedError } from "../../errors/index.ts";
import { suspendedEvent } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import { isExpired } from "../../journal/journal.ts";
import type {
  Commit,
  CommitAnswer,
  JournalEvent,
  NewEvent,
  Store,
  Suspension,
  Timer,
} from "../../store/store.ts";
import type { JsonText } from "../../values/json.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { JournalGauge, withinResult } from "../body/limits.ts";
import { runAttempt } from "../body/run-attempt.ts";
import type { ExecutionFacts } from "../body/step-context.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import { Batch } from "./commit-batch.ts";
import { type Arrival, Progress } from "./execution-state.ts";
import type { Fiber } from "./fibers.ts";
import { type EndedSettlement, endingOf, type Settlement } from "./settlement.ts";

export interface DriverOptions {
  readonly facts: ExecutionFacts;
  readonly workflow: WorkflowDefinition;
  readonly input: JsonText;
  readonly token: string;
  readonly store: Store;
  /** Suspensions that are open when the driver takes over. */
  readonly suspensions: readonly Suspension[];
  /** Timers that the store holds when the driver takes over. */
  readonly timers: readonly Timer[];
  /** The number of the last event known. */
  readonly sequence: number;
  readonly stepIndex: number;
  /** A pause is open when the driver takes over. */
  readonly paused: boolean;
  /** The bytes that the journal holds when the driver takes over. */
  readonly bytes: number;
  /** Called with what was committed, in order. */
  publish(executionId: string, events: readonly JournalEvent[]): void;
  /** Called when those who wait can be answered; the driver itself may go on (a pause with a body in flight). */
  settle(settlement: Settlement): void;
  /** Called when something in the store falls due at a time, here or wherever the execution then is. */
  fallsDue(at: number, kind: "sleep" | "limit"): void;
  /** Called when the driver has let go of the execution. */
  leave(driver: Driver): void;
}

/**
 * Milliseconds: an execution that wakes within them stays loaded. Letting go and taking up again reads the whole journal,
 * so a loop of ten thousand rounds with a short sleep in each would take quadratic time.
 */
const shortSleep = 1000;

export class Driver {
  readonly executionId: string;
  readonly #options: DriverOptions;
  readonly #progress: Progress;
  readonly #running = new Set<Fiber>();
  #arrivals: Arrival[] = [];
  #committing = false;
  #catchingUp = false;
  #paused: boolean;
  #draining = false;
  #over = false;
  #alarm: { readonly at: number; callOff(): void } | undefined;
  /** The numbers of the resumes that were taken in. */
  readonly #delivered = new Set<number>();
  readonly #gauge: JournalGauge;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.executionId = options.facts.executionId;
    this.#paused = options.paused;
    this.#gauge = new JournalGauge(options.facts.limits.journal, options.bytes);
    const { suspensions, timers, sequence, stepIndex } = options;
    this.#progress = new Progress({
      journal: options.facts.journal,
      clock: options.facts.clock,
      suspensions,
      timers,
      sequence,
      stepIndex,
      checks: (fiber, outcome) => {
        this.#running.add(fiber);
        outcome.then((result) => this.#arrive({ fiber, command: undefined, result }));
      },
    });
  }

  get workflowId(): string {
    return this.#options.workflow.id;
  }

  /** True while a body of this execution runs here. */
  get isRunning(): boolean {
    for (const fiber of this.#running) if (!fiber.scope.closed) return true;
    return false;
  }

  /** False while nothing is under way: the execution waits for a time that has not come. */
  get isBusy(): boolean {
    return this.#committing || this.#catchingUp || this.#arrivals.length > 0 || this.isRunning;
  }

  /** Walks the plan as far as the journal reaches; what follows is ready to be committed. */
  begin(): void {
    this.#progress.begin(this.#options.workflow, this.#options.input);
  }

  /** For a new execution: the first events, to be committed with its creation. */
  takeFirstEvents(): readonly NewEvent[] {
    return this.#progress.takeFirstEvents();
  }

  /** Commits what is ready and runs what may run. */
  go(): void {
    this.#flush();
  }

  /** Takes in answers that were journaled by resumes. */
  deliver(events: readonly JournalEvent[]): void {
    const { facts, sequence } = this.#options;
    for (const event of events) {
      if (event.type !== "workflow-resumed" || event.sequence <= sequence) continue;
      if (this.#delivered.has(event.sequence)) continue;
      this.#delivered.add(event.sequence);
      facts.journal.answers++;
      if (event.path === null) this.#paused = false;
      else this.#progress.answer(event.path, event.value ?? "null", isExpired(event));
    }
    this.#flush();
  }

  /** The execution was paused: starts nothing new until the pause is lifted; bodies in flight may finish. */
  pause(): void {
    this.#paused = true;
    this.#flush();
  }

  /** Starts nothing new; lets bodies in flight finish, then lets go of the execution. */
  drain(): void {
    this.#draining = true;
    this.#flush();
  }

  /** Aborts the bodies in flight and lets go of the execution without waiting for them, or for the store. */
  releaseNow(): void {
    if (this.#over) return;
    const { executionId } = this;
    // A store that is in trouble may never answer; what it was asked before it closes, it does if it can.
    this.#options.store.release({ executionId, token: this.#options.token }).catch(() => undefined);
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
    this.#running.delete(arrival.fiber);
    this.#arrivals.push(arrival);
    this.#flush();
  }

  #flush(): void {
    if (this.#committing || this.#over) return;
    for (const arrival of this.#arrivals.splice(0)) this.#progress.consume(arrival);
    // A pause lets no timer fire, and a process that stops starts nothing.
    if (!this.#paused && !this.#draining) this.#progress.wakeUp();
    const batch = this.#progress.batch;
    batch.prune();
    const outcome = this.#progress.outcome ?? this.#gauge.outcome;
    if (this.#paused || (this.#draining && outcome === undefined)) return this.#flushOutcomes(batch);
    const idle = outcome === undefined && batch.starts.length === 0 && !this.isRunning && !this.#wakesSoon();
    this.#setAlarm();
    if (batch.isEmpty && !idle && outcome === undefined) return this.#perform(batch);
    this.#progress.batch = new Batch();
    const ended = outcome && endingOf(withinResult(this.#options.facts.limits, outcome), this.#now());
    const following = batch.following.map(({ event }) => event);
    this.#send(
      batch,
      {
        ...this.#commitOf(batch),
        following: ended === undefined ? following : [...following, ended.event],
        closeBelow: batch.closeBelow,
        timers: Array.from(batch.timers.values(), ({ timer }) => timer),
        clear: batch.clear,
        end: ended?.end ?? null,
        rest: idle ? this.#restWith(this.#progress.firstOpen) : null,
      },
      ended?.settlement,
    );
  }

  #now(): number {
    return this.#options.facts.clock.now();
  }

  #wakesSoon(): boolean {
    const { nextWake } = this.#progress;
    return nextWake !== undefined && nextWake <= this.#now() + shortSleep;
  }

  /** While the execution is loaded it wakes by itself; once it has let go, by its rows. */
  #setAlarm(): void {
    const at = this.#progress.nextWake;
    if (this.#alarm?.at === at) return;
    this.#alarm?.callOff();
    this.#alarm = undefined;
    if (at === undefined) return;
    const callOff = this.#options.facts.clock.at(at, "sleep", () => {
      this.#alarm = undefined;
      this.#flush();
    });
    this.#alarm = { at, callOff };
  }

  /** Commits only outcomes; what follows waits for a pause to be lifted, or for the next process. */
  #flushOutcomes(batch: Batch): void {
    if (batch.events.length > 0) return this.#sendOutcomes(batch);
    if (this.isRunning) return;
    if (this.#draining) return this.#release();
    // Paused with no body in flight: this driver is not needed any more.
    this.#sendOutcomes(batch, this.#restWith(undefined));
  }

  #sendOutcomes(batch: Batch, rest: Commit["rest"] = null): void {
    const outcomes = new Batch();
    outcomes.events = batch.events.splice(0);
    outcomes.open = batch.open.splice(0);
    this.#send(outcomes, { ...this.#commitOf(outcomes), rest });
  }

  #commitOf(batch: Batch): Commit {
    const { executionId } = this;
    const { token } = this.#options;
    const { events, open } = batch;
    const none = { following: [], closeBelow: [], timers: [], clear: [], end: null, rest: null };
    return { executionId, token, events, open, stepIndex: this.#progress.stepIndex, ...none };
  }

  #restWith(suspension: Suspension | undefined): Commit["rest"] {
    const event = suspension === undefined ? null : suspendedEvent("workflow-suspended", suspension, null);
    return { answers: this.#options.facts.journal.answers, event };
  }

  #send(batch: Batch, commit: Commit, ended?: EndedSettlement): void {
    this.#committing = true;
    this.#options.store.commit(commit).then(
      (answer) => this.#committed(batch, commit, answer, ended),
      (error: unknown) => this.#refused(error, ended),
    );
  }

  #committed(batch: Batch, commit: Commit, answer: CommitAnswer, ended: EndedSettlement | undefined): void {
    this.#committing = false;
    if (this.#over) return;
    if (answer.kind === "ended" || answer.kind === "fenced") {
      return this.stop({ kind: "elsewhere" }, new Error("The execution was ended or taken over elsewhere"));
    }
    this.#publish(commit, answer);
    for (const { deadline } of commit.open) if (deadline !== null) this.#options.fallsDue(deadline, "limit");
    if (answer.rested) return this.#rest(batch);
    if (answer.kind === "paused") {
      // The outcomes are recorded; what follows from them is kept until the pause is lifted.
      this.#paused = true;
      this.#progress.batch.prepend(batch);
      return this.#goOn(commit);
    }
    if (ended !== undefined) {
      abortLost(batch);
      this.#finish(ended);
      if (this.#gauge.outcome !== undefined) this.#progress.scope.abort(new Error("The execution has ended"));
      return;
    }
    // The process stops: what was committed to start is for the next one.
    if (this.#draining) this.#progress.batch.prepend(batch);
    else this.#perform(batch);
    this.#goOn(commit);
  }

  /** A rest that was not granted means that a resume has come. */
  #goOn(commit: Commit): void {
    if (commit.rest !== null) this.#catchUp();
    else this.#flush();
  }

  /** Aborts what has lost, then runs what was committed to start. */
  #perform(batch: Batch): void {
    abortLost(batch);
    for (const { fiber, command } of batch.starts.splice(0)) {
      this.#running.add(fiber);
      const result = runAttempt({
        facts: this.#options.facts,
        command,
        scope: fiber.scope,
        emit: (from, type, data) => this.#emit(from, type, data),
      });
      if (result instanceof Promise)
        result.then((settled) => this.#arrive({ fiber, command, result: settled }));
      else {
        this.#running.delete(fiber);
        this.#arrivals.push({ fiber, command, result });
      }
    }
    if (this.#arrivals.length > 0) this.#flush();
  }

  /** An event of a body is a commit of its own; those that come before it is under way share one. */
  #emit(command: RunCommand, type: string, data: JsonText): void {
    if (this.#over) return;
    this.#progress.emit(command, type, data);
    queueMicrotask(() => this.#flush());
  }

  #rest(committed: Batch): void {
    // Also what a pause held back has lost: the outcome that decided against it is recorded.
    for (const batch of [committed, this.#progress.batch]) abortLost(batch);
    const { firstOpen: suspension, nextWake } = this.#progress;
    if (nextWake !== undefined) this.#options.fallsDue(nextWake, "sleep");
    if (suspension !== undefined) return this.#finish({ kind: "suspended", suspension });
    // Whoever waits for an execution that sleeps goes on waiting.
    this.#finish(nextWake === undefined ? { kind: "elsewhere" } : undefined);
  }

  /** Lets go of the execution. Aborts nothing: no body that counts is in flight, and a signal never tells a rest. */
  #finish(settlement: Settlement | undefined): void {
    this.#over = true;
    this.#alarm?.callOff();
    this.#progress.scope.close();
    if (settlement !== undefined) this.#options.settle(settlement);
    this.#options.leave(this);
  }

  /** A resume came before the execution could rest: reads what it brought. */
  async #catchUp(): Promise<void> {
    const { executionId } = this;
    const limit = 1000;
    const found: JournalEvent[] = [];
    this.#catchingUp = true;
    try {
      for (let after = this.#options.sequence, full = true; full; ) {
        const events = await this.#options.store.events({ executionId, after, limit });
        found.push(...events.filter((event) => event.type === "workflow-resumed"));
        after = events.at(-1)?.sequence ?? after;
        full = events.length === limit;
      }
    } catch (error) {
      return this.#refused(error);
    } finally {
      this.#catchingUp = false;
    }
    if (!this.#over) this.deliver(found);
  }

  #release(): void {
    const { executionId } = this;
    this.#committing = true;
    const leave = () => {
      if (!this.#over) this.#finish({ kind: "stopped" });
    };
    this.#options.store.release({ executionId, token: this.#options.token }).then(leave, leave);
  }

  #publish(commit: Commit, answer: CommitAnswer): void {
    const recorded = [...commit.events, ...(answer.kind === "ok" ? commit.following : [])];
    if (answer.rested && commit.rest?.event) recorded.push(commit.rest.event);
    const first = answer.sequence - recorded.length + 1;
    this.#gauge.add(recorded, answer.sequence);
    const events = recorded.map((event, index) => ({ ...event, sequence: first + index }));
    for (const event of events) this.#options.facts.journal.committed(event);
    this.#options.publish(this.executionId, events);
  }

  /** The store refused this write for good, or is gone. A refusal ends the execution, visibly. */
  #refused(cause: unknown, ended?: Settlement): void {
    if (this.#over) return;
    this.#options.facts.logger.error({ err: cause }, "a commit of the execution failed");
    if (!(cause instanceof StoreRefusedError) || ended !== undefined) {
      return this.stop({ kind: "stopped" }, new Error("The store is gone"));
    }
    const { event, end, settlement } = endingOf({ kind: "error", error: toFailure(cause) }, this.#now());
    const batch = new Batch();
    const clear = this.#progress.timers;
    this.#send(batch, { ...this.#commitOf(batch), following: [event], clear, end }, settlement);
  }
}

function abortLost(batch: Batch): void {
  for (const scope of batch.lost.splice(0)) scope.abort(new Error("Another branch has decided"));
}
