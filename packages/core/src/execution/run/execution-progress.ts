// The progress of one execution and its next commit: the journal, the open suspensions, the times it
// waits for, and the batch.

import { StepSchemaError } from "../../errors/index.ts";
import { numberEvents, type WorkflowResumedEvent } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Outcome } from "../../journal/outcome.ts";
import type { Suspension } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { fromJson, type JsonText, toJson } from "../../values/json.ts";
import { type Validation, validate, validateOwn } from "../../values/schema.ts";
import { uuid } from "../../values/uuid.ts";
import { delayAfter } from "../../workflow/retry.ts";
import type { AbortScope } from "../body/abort-scope.ts";
import type { SuspendCallsRequest, SuspendRequest } from "../body/control-flow-signal.ts";
import type { BodyResult, DoneBody, FailedBody } from "../body/run-body.ts";
import type { Command, Place, RunCommand } from "../interpreter/commands.ts";
import { interpretWorkflow } from "../interpreter/interpret.ts";
import { type SizeLimits, type StateGauge, withinContainer } from "../limits/limits.ts";
import { CatchUpPacing } from "./catch-up-pacing.ts";
import { CommitBatch, type FollowingEvent } from "./commit-batch.ts";
import { type Fiber, Fibers, sliceSize, type Work } from "./fibers.ts";
import type { LoadedExecution } from "./loaded-execution.ts";
import { OpenWaits } from "./open-waits.ts";
import {
  callSuspensionOf,
  emittedEvent,
  outcomeEvent,
  retryEvent,
  startEvent,
  stateEvent,
  stepSuspendedEvent,
  suspensionOf,
} from "./step-events.ts";

/** Something that a fiber has waited for: a body's result, or the outcome of an asynchronous check. */
export type Arrival =
  | { readonly fiber: Fiber; readonly command: RunCommand; readonly result: BodyResult }
  | { readonly fiber: Fiber; readonly command: undefined; readonly result: Outcome };

export interface ExecutionProgressOptions {
  readonly execution: LoadedExecution;
  readonly clock: Clock;
  readonly limits: SizeLimits;
  readonly stateGauge: StateGauge;
  /** Called when a deadline or timeout that has passed must be processed before anything else can happen here. */
  limitIsDue(at: number): void;
  /** Called when a check must be waited for; its outcome comes back through `consume`. */
  onAsyncCheck(fiber: Fiber, outcome: Promise<Outcome>): void;
}

export class ExecutionProgress implements Work {
  readonly #options: ExecutionProgressOptions;
  readonly #journal: Journal;
  readonly #fibers: Fibers;
  readonly #waits: OpenWaits;
  /** Numbers outcomes in the order of the journal. */
  #order: number;
  #stepIndex: number;
  /** When the execution fails unless it has ended; a pause moves it. */
  timeoutAt: number | null;
  readonly pacing = new CatchUpPacing();
  batch = new CommitBatch();

  constructor(options: ExecutionProgressOptions) {
    this.#options = options;
    const { journal, sequence, stepIndex, timeoutAt, dueAt } = options.execution;
    this.#journal = journal;
    this.#order = sequence;
    this.#stepIndex = stepIndex;
    this.timeoutAt = timeoutAt;
    this.#waits = new OpenWaits(options.execution);
    this.#fibers = new Fibers(journal, this);
    if (dueAt !== undefined) this.pacing.record(dueAt, this.#now());
  }

  /** Everything that runs here is inside it. */
  get scope(): AbortScope {
    return this.#fibers.root;
  }

  /** How the whole workflow ended, once it has. */
  get outcome(): Outcome | undefined {
    return this.#fibers.outcome;
  }

  /** The top-level step that runs now. */
  get stepIndex(): number {
    return this.#stepIndex;
  }

  /** The suspension that has been open longest. */
  get firstOpen(): Suspension | undefined {
    for (const first of this.#waits.suspensions) return first;
    return undefined;
  }

  /** True while branches wait to be opened: after the next commit. */
  get isHeld(): boolean {
    return this.#fibers.isHeld;
  }

  /** Opens as many branches as one commit may hold. */
  openNext(): void {
    this.#fibers.openNext();
  }

  /** The earliest time that something here waits for. */
  get nextWake(): number | undefined {
    return this.#waits.sleepers.next;
  }

  /** The suspensions and timers in the store; the suspension that has been open longest is the first. */
  get waits(): Pick<LoadedExecution, "suspensions" | "timers"> {
    return { suspensions: [...this.#waits.suspensions], timers: this.#waits.timers };
  }

  /** Walks the plan to the end of the journal; the next work is in the batch. */
  begin(): void {
    const { workflow, input } = this.#options.execution;
    this.#fibers.begin(interpretWorkflow(workflow, input));
  }

  /** For a new execution: its first events, to be committed with its creation under numbers from `first` on. */
  takeFirstEvents(first: number): readonly FollowingEvent[] {
    this.batch.prune();
    const events = this.batch.following.splice(0).map(({ event }) => event);
    for (const event of numberEvents(events, first)) this.#journal.committed(event);
    return events;
  }

  /** Consumes a result and continues. */
  consume({ fiber, command, result }: Arrival): void {
    if (fiber.scope.closed) return;
    if (command === undefined) return this.#fibers.reply(fiber, result, 0);
    if (result.kind === "suspended") return this.#suspend(fiber, command, result.request);
    if (result.kind === "calls-suspended") return this.#suspendCalls(fiber, command, result);
    if (result.kind === "interrupted") return this.run(fiber, command);
    const { place, path } = command;
    if (result.kind === "waiting") return this.#fibers.wait(fiber, path, result.until);
    const settled =
      result.kind === "error" || result.changes === undefined ? result : this.#keepState(command, result);
    if (settled.kind === "error") {
      const retried = this.#retry(fiber, command, settled);
      this.batch.failed.push({ command, failure: settled.error, retried });
      if (retried) return;
    }
    const isTap = place.step.type === "andTap" && settled.kind === "output";
    const { sends, ...ended } = settled.kind === "error" ? { ...settled, sends: undefined } : settled;
    const outcome: Outcome = isTap ? { kind: "output", value: place.data } : ended;
    if (sends !== undefined) this.batch.sends.push(...sends);
    const order = ++this.#order;
    this.#journal.ended(path, place.scope.stepIndex, outcome, order);
    this.batch.events.push(outcomeEvent(place, path, outcome, this.#now()));
    if (this.#closeBelow(path)) this.batch.closeEnded.push(path);
    this.#fibers.reply(fiber, outcome, order);
  }

  /** A step was resumed, by a caller or by its deadline. Its branch may have lost already: then it is only recorded. */
  resume(path: string, event: WorkflowResumedEvent): void {
    this.#journal.resumed(path, event);
    const suspension = this.#waits.suspension(path);
    if (suspension === undefined) return;
    // A wait of this process that has met an earlier decision has no row in the store.
    if (suspension.suspensionId !== event.suspensionId && !event.early) return;
    if (event.byDeadline) this.pacing.record(suspension.deadline ?? this.#now(), this.#now());
    this.#waits.close(path);
    this.#fibers.resume(path);
  }

  /**
   * Continues where the time that was waited for has come, in the order of the times: after an hour in which no process
   * ran, the shorter of two sleeps has still ended first, and so has the deadline between them. `inFlight`: bodies that
   * follow from something late run. Returns when to check again; undefined when something else continues it.
   */
  wakeUp(inFlight: boolean): number | undefined {
    const now = this.#now();
    const { sleepers } = this.#waits;
    let woken = 0;
    while (this.nextWake !== undefined && this.nextWake <= now) {
      let firstLimit = this.#firstLimit();
      for (const { path, fiber, at } of sleepers.due(now)) {
        if (!sleepers.has(path, fiber)) continue;
        // The others follow after the next commit.
        if (woken++ >= sliceSize) return this.nextWake;
        if (firstLimit < at) firstLimit = this.#firstLimit();
        // The scheduler processes deadlines and timeouts: this one comes first.
        if (firstLimit < at) {
          this.#options.limitIsDue(firstLimit);
          return undefined;
        }
        const earliest = this.pacing.earliest(at);
        if (earliest > now && (inFlight || this.batch.starts.length > 0)) return earliest;
        this.#clearTimer(path);
        this.pacing.record(at, now);
        this.#fibers.reply(fiber, at, 0);
      }
    }
    return this.nextWake;
  }

  /** The earliest of the deadlines of open suspensions and the timeout of the execution. */
  #firstLimit(): number {
    return Math.min(this.#waits.firstDeadline, this.timeoutAt ?? Number.POSITIVE_INFINITY);
  }

  /** A body sends an event of its own. */
  emit(command: RunCommand, name: string, data: JsonText): void {
    this.batch.events.push(emittedEvent(command, name, data, this.#now()));
  }

  // ---- requests of the fibers

  start(fiber: Fiber, place: Place): void {
    const { stepIndex } = place.scope;
    const now = this.#now();
    this.#journal.started(place.path, stepIndex, place.data, now);
    if (stepIndex > this.#stepIndex) this.#stepIndex = stepIndex;
    this.batch.following.push({ event: startEvent(place, now), scope: fiber.scope });
  }

  end(fiber: Fiber, place: Place, given: Outcome): void {
    const outcome = withinContainer(this.#options.limits, given, place.path);
    this.#journal.ended(place.path, place.scope.stepIndex, outcome, ++this.#order);
    const event = outcomeEvent(place, place.path, outcome, this.#now());
    this.batch.following.push({ event, scope: fiber.scope });
    // The time that a container had, when it has ended before.
    if (this.#waits.sleepers.has(place.path)) this.#clearTimer(place.path);
    if (this.#closeBelow(place.path)) this.batch.closeBelow.push(place.path);
  }

  /** Nothing waits below a step that has ended. True when a suspension was open there. */
  #closeBelow(ended: string): boolean {
    let wasOpen = false;
    for (const path of this.#waits.below(ended)) {
      this.#clearTimer(path);
      if (this.#waits.close(path)) wasOpen = true;
    }
    return wasOpen;
  }

  run(fiber: Fiber, command: RunCommand): void {
    this.batch.starts.push({ fiber, command });
  }

  check(fiber: Fiber, command: Extract<Command, { kind: "check" }>): Outcome | undefined {
    const outcome = checkValue(command);
    if (!(outcome instanceof Promise)) return outcome;
    this.#options.onAsyncCheck(fiber, outcome);
    return undefined;
  }

  wait(fiber: Fiber, path: string, at: number): void {
    if (this.#waits.sleep(path, fiber, at, this.#now()))
      this.batch.setTimer({ path, dueAt: at }, fiber.scope);
  }

  stopWaiting(path: string): void {
    this.#waits.sleepers.delete(path);
  }

  lost(scope: AbortScope, reason: Error): void {
    this.batch.lost.push({ scope, reason });
  }

  #now(): number {
    return this.#options.clock.now();
  }

  /** Nothing sleeps at this path any more, and its timer is not needed. */
  #clearTimer(path: string): void {
    if (this.#waits.wake(path)) this.batch.clearTimer(path);
  }

  #keepState(command: RunCommand, result: DoneBody): DoneBody | FailedBody {
    const { stateGauge: gauge } = this.#options;
    return keepState({ journal: this.#journal, gauge, batch: this.batch }, command, result, this.#now());
  }

  /** Runs a failed body again if the retry options of its step allow it; false when this failure is its outcome. */
  #retry(fiber: Fiber, command: RunCommand, { error, permanent }: FailedBody): boolean {
    const { place, path, attempt } = command;
    const { retry } = place.step;
    if (retry === undefined || permanent || attempt >= retry.attempts) return false;
    const now = this.#now();
    const retryAt = now + delayAfter(retry, attempt, Math.random());
    this.#journal.failed(path, place.scope.stepIndex, attempt, retryAt);
    this.batch.events.push(retryEvent(command, error, retryAt, now));
    this.#fibers.reply(fiber, { kind: "retry", attempt: attempt + 1, at: retryAt }, ++this.#order);
    return true;
  }

  #suspend(fiber: Fiber, command: RunCommand, request: SuspendRequest): void {
    const suspension = suspensionOf(command, request, uuid(), this.#now());
    if (request.notice !== undefined) {
      this.batch.notices ??= new Map();
      this.batch.notices.set(suspension.suspensionId, request.notice);
    }
    this.#createSuspension(command, suspension);
    this.#fibers.reply(fiber, { kind: "suspended" }, ++this.#order);
  }

  /**
   * Those that wait already, because the body has only run again for another one, keep their suspensions. Calls that do
   * not wait any more lose theirs, such as that of a sub-agent beside one whose budget was raised for both.
   */
  #suspendCalls(
    fiber: Fiber,
    command: RunCommand,
    { calls, sleeps }: Pick<SuspendCallsRequest, "calls" | "sleeps">,
  ): void {
    for (const call of calls) {
      const isResumed = this.#journal.get(call.path)?.resumption !== undefined;
      if (this.#waits.suspension(call.path) !== undefined || (isResumed && !call.again)) continue;
      this.#createSuspension(command, callSuspensionOf(command, call, uuid(), this.#now()));
    }
    const paths = calls.map(({ path }) => path);
    const waiting = new Set([...paths, ...sleeps.map(({ path }) => path)]);
    for (const path of this.#waits.below(command.path)) {
      if (waiting.has(path)) continue;
      this.#clearTimer(path);
      if (this.#waits.close(path)) this.batch.closeEnded.push(path);
    }
    this.#fibers.reply(fiber, { kind: "calls-suspended", paths, sleeps }, ++this.#order);
  }

  #createSuspension(command: RunCommand, suspension: Suspension): void {
    const { path, stepIndex, suspensionId, data } = suspension;
    const at = path ?? command.path;
    this.#journal.suspended(at, stepIndex, suspensionId, data ?? undefined);
    this.batch.events.push(stepSuspendedEvent(command, suspension));
    // It is decided already.
    if (this.#journal.get(at)?.resumption !== undefined) {
      this.batch.takes.push(at);
      return;
    }
    this.#waits.open(at, suspension);
    this.batch.open.push(suspension);
  }
}

/** The value as the schema returns it, or a failure; at once unless the schema is asynchronous. */
function checkValue(command: Extract<Command, { kind: "check" }>): Outcome | Promise<Outcome> {
  const { path, what } = command;
  const fail = (thrown: unknown): Outcome => ({ kind: "error", error: toFailure(thrown, path) });
  const accept = (result: Validation): Outcome => {
    if (!result.ok) return fail(new StepSchemaError({ path, subject: what, detail: result.detail }));
    return { kind: "output", value: toJson(result.value, `${what} of ${path}`) };
  };
  try {
    const check = command.isOwn ? validateOwn : validate;
    const result = check(command.schema, fromJson(command.value));
    return result instanceof Promise ? result.then(accept).catch(fail) : accept(result);
  } catch (thrown) {
    return fail(thrown);
  }
}

interface StateKeeping {
  readonly journal: Journal;
  readonly gauge: StateGauge;
  readonly batch: CommitBatch;
}

/** Records the state that a body has set. Returns its result without the changes, or the failure to keep them. */
function keepState(
  { journal, gauge, batch }: StateKeeping,
  command: RunCommand,
  result: DoneBody,
  now: number,
): DoneBody | FailedBody {
  const { changes, ...outcome } = result;
  if (changes === undefined) return outcome;
  try {
    const patch = changes.text();
    gauge.check(journal.state, patch, command.path);
    journal.stateChanged(command.place.scope.stepIndex, patch);
    batch.events.push(stateEvent(command, patch, now));
    return outcome;
  } catch (thrown) {
    return { kind: "error", error: toFailure(thrown, command.path, command.attempt), permanent: true };
  }
}
