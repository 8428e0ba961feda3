// What one execution has come to, and what it wants to commit next: the journal, the open suspensions, the times it
// waits for, and the batch.
import { v7 as uuid } from "uuid";
import { executionEvent, outcomeEvent, stepEvent, suspendedEvent } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import type { Journal, Outcome } from "../../journal/journal.ts";
import type { NewEvent, Suspension, Timer } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import type { JsonText } from "../../values/json.ts";
import { delayAfter } from "../../workflow/retry.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { AbortScope } from "../body/abort-scope.ts";
import type { SuspendRequest } from "../body/control-flow-signal.ts";
import type { BodyResult, DoneBody, FailedBody } from "../body/run-body.ts";
import { mergePatches, type StatePatch } from "../body/state-patch.ts";
import type { Command, Place, RunCommand } from "../interpreter/commands.ts";
import { interpretWorkflow } from "../interpreter/interpret.ts";
import { checkValue } from "./check-value.ts";
import { Batch } from "./commit-batch.ts";
import { type Fiber, Fibers, type Work } from "./fibers.ts";
import { PathsBelow } from "./paths-below.ts";

/** Something that a fiber has waited for: a body's result, or the outcome of an asynchronous check. */
export type Arrival =
  | { readonly fiber: Fiber; readonly command: RunCommand; readonly result: BodyResult }
  | { readonly fiber: Fiber; readonly command: undefined; readonly result: Outcome };

export interface ProgressOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  /** Suspensions that are open at the start. */
  readonly suspensions: readonly Suspension[];
  /** Timers that the store holds at the start. */
  readonly timers: readonly Timer[];
  /** The number of the last event known. */
  readonly sequence: number;
  readonly stepIndex: number;
  /** Called when a check must be waited for; its outcome comes back through `consume`. */
  checks(fiber: Fiber, outcome: Promise<Outcome>): void;
}

export class Progress implements Work {
  readonly #options: ProgressOptions;
  readonly #fibers: Fibers;
  readonly #open = new Map<string, Suspension>();
  /** Fibers that wait for a time, by path. */
  readonly #sleeping = new Map<string, { readonly fiber: Fiber; readonly at: number }>();
  /** The paths of both. */
  readonly #waiting = new PathsBelow();
  /** Paths whose timers the store holds, or will hold with the next commits. */
  readonly #timers: Set<string>;
  /** The earliest of those times; searched for again only after one has gone. */
  #nextWake: number | undefined;
  /** Numbers outcomes in the order in which they will stand in the journal. */
  #order: number;
  #stepIndex: number;
  batch = new Batch();

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#order = options.sequence;
    this.#stepIndex = options.stepIndex;
    for (const suspension of options.suspensions) {
      if (suspension.path !== null) this.#opens(suspension.path, suspension);
    }
    this.#timers = new Set(options.timers.map(({ path }) => path));
    this.#fibers = new Fibers(options.journal, this);
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
    return this.#open.values().next().value;
  }

  /** The earliest time that something here waits for. */
  get nextWake(): number | undefined {
    if (this.#nextWake !== undefined || this.#sleeping.size === 0) return this.#nextWake;
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#sleeping.values()) next = Math.min(next, at);
    this.#nextWake = next;
    return next;
  }

  /** The paths whose timers the store holds. */
  get timers(): readonly string[] {
    return [...this.#timers];
  }

  /** Walks the plan as far as the journal reaches; what follows is in the batch. */
  begin(workflow: WorkflowDefinition, input: JsonText): void {
    this.#fibers.begin(interpretWorkflow(workflow, input));
  }

  /** For a new execution: the first events, to be committed with its creation. */
  takeFirstEvents(): readonly NewEvent[] {
    this.batch.prune();
    const first = this.batch.following.splice(0).map(({ event }) => event);
    const events = [executionEvent("workflow-start", this.#now()), ...first];
    for (const [index, event] of events.entries()) {
      this.#options.journal.committed({ ...event, sequence: index + 1 });
    }
    return events;
  }

  /** Takes in what has arrived and walks on. */
  consume({ fiber, command, result }: Arrival): void {
    if (fiber.scope.closed) return;
    if (command === undefined) return this.#fibers.reply(fiber, result, 0);
    if (result.kind === "suspended") return this.#suspend(fiber, command, result.request);
    const { place, path } = command;
    const settled = result.kind === "error" ? result : this.#keepState(command, result);
    if (settled.kind === "error" && this.#retry(fiber, command, settled)) return;
    const isTap = place.step.type === "andTap" && settled.kind === "output";
    const outcome: Outcome = isTap ? { kind: "output", value: place.data } : settled;
    const order = ++this.#order;
    this.#options.journal.ended(path, place.scope.stepIndex, outcome, order);
    this.batch.events.push(outcomeEvent(place, path, outcome, this.#now()));
    this.#fibers.reply(fiber, outcome, order);
  }

  /** The suspension at this path was answered with this JSON text, or its time is over. */
  answer(path: string, value: string, expired: boolean): void {
    const suspension = this.#open.get(path);
    if (suspension === undefined) return;
    this.#closes(path);
    this.#options.journal.answered(path, suspension.suspensionId, value, expired);
    this.#fibers.answer(path);
  }

  /**
   * Walks on where the time has come that was waited for, in the order of the times: after an hour in which no process
   * ran, the shorter of two sleeps has still ended first.
   */
  wakeUp(): void {
    const now = this.#now();
    while ((this.nextWake ?? Number.POSITIVE_INFINITY) <= now) {
      const due = [...this.#sleeping].filter(([, { at }]) => at <= now).sort(([, a], [, b]) => a.at - b.at);
      for (const [path, { fiber }] of due) {
        if (!this.#wakes(path)) continue;
        this.#fibers.reply(fiber, undefined, 0);
      }
    }
  }

  /** A body sends an event of its own. */
  emit({ place, path, attempt }: RunCommand, type: string, data: JsonText): void {
    const event = stepEvent("emitted", place, this.#now(), data, { path, detail: { type, attempt } });
    this.batch.events.push(event);
  }

  // ---- what the fibers ask for

  start(fiber: Fiber, place: Place): void {
    const { stepIndex } = place.scope;
    const now = this.#now();
    this.#options.journal.started(place.path, stepIndex, place.data, now);
    if (stepIndex > this.#stepIndex) this.#stepIndex = stepIndex;
    const event = stepEvent("step-start", place, now, place.data);
    this.batch.following.push({ event, scope: fiber.scope });
  }

  end(fiber: Fiber, place: Place, outcome: Outcome): void {
    this.#options.journal.ended(place.path, place.scope.stepIndex, outcome, ++this.#order);
    const event = outcomeEvent(place, place.path, outcome, this.#now());
    this.batch.following.push({ event, scope: fiber.scope });
    for (const path of this.#waiting.of(place.path)) {
      if (this.#sleeping.has(path)) this.#wakes(path);
      if (!this.#closes(path)) continue;
      if (!this.batch.closeBelow.includes(place.path)) this.batch.closeBelow.push(place.path);
    }
  }

  run(fiber: Fiber, command: RunCommand): void {
    this.batch.starts.push({ fiber, command });
  }

  check(fiber: Fiber, command: Extract<Command, { kind: "check" }>): Outcome | undefined {
    const outcome = checkValue(command);
    if (!(outcome instanceof Promise)) return outcome;
    this.#options.checks(fiber, outcome);
    return undefined;
  }

  wait(fiber: Fiber, path: string, at: number): void {
    this.#sleeping.set(path, { fiber, at });
    this.#waiting.add(path);
    if (this.#nextWake !== undefined) this.#nextWake = Math.min(this.#nextWake, at);
    // What is due already is woken before anything is committed.
    if (at <= this.#now() || this.#timers.has(path)) return;
    this.#timers.add(path);
    this.batch.timers.set(path, { timer: { path, dueAt: at }, scope: fiber.scope });
  }

  lost(scope: AbortScope): void {
    this.batch.lost.push(scope);
  }

  #now(): number {
    return this.#options.clock.now();
  }

  #opens(path: string, suspension: Suspension): void {
    this.#open.set(path, suspension);
    this.#waiting.add(path);
  }

  /** No suspension is open at this path any more; false when none was. */
  #closes(path: string): boolean {
    this.#waiting.delete(path);
    return this.#open.delete(path);
  }

  /** Nothing sleeps at this path any more; false when nothing did. */
  #wakes(path: string): boolean {
    this.#nextWake = undefined;
    this.#waiting.delete(path);
    this.#clear(path);
    return this.#sleeping.delete(path);
  }

  /** The timer at this path is not needed any more. */
  #clear(path: string): void {
    if (this.#timers.delete(path)) this.batch.clearTimer(path);
  }

  /** Records what the body has set; a patch that cannot be made is the body's failure. */
  #keepState({ place, path }: RunCommand, result: DoneBody): DoneBody | FailedBody {
    const { patches = [], ...outcome } = result;
    if (patches.length === 0) return outcome;
    try {
      this.#setState(place, path, patches);
      return outcome;
    } catch (thrown) {
      return { kind: "error", error: toFailure(thrown, path), permanent: true };
    }
  }

  #setState(place: Place, path: string, patches: readonly StatePatch[]): void {
    const { journal } = this.#options;
    const patch = mergePatches(journal.state, patches, path);
    journal.stateChanged(place.scope.stepIndex, patch);
    this.batch.events.push(stepEvent("state-changed", place, this.#now(), patch, { path }));
  }

  /** Lets a body that failed run again, when its step says so; false when this failure is its outcome. */
  #retry(fiber: Fiber, { place, path, attempt }: RunCommand, { error, permanent }: FailedBody): boolean {
    const { retry } = place.step;
    if (retry === undefined || permanent || attempt >= retry.attempts) return false;
    const now = this.#now();
    const retryAt = now + delayAfter(retry, attempt, Math.random());
    this.#options.journal.failed(path, place.scope.stepIndex, attempt, retryAt);
    const value = JSON.stringify(error);
    this.batch.events.push(
      stepEvent("step-retry", place, now, value, { path, detail: { attempt, retryAt } }),
    );
    this.#fibers.reply(fiber, { kind: "retry", attempt: attempt + 1, at: retryAt }, ++this.#order);
    return true;
  }

  #suspend(fiber: Fiber, { place, path }: RunCommand, request: SuspendRequest): void {
    const { reason, data, deadline, onDeadline } = request;
    const { stepIndex } = place.scope;
    const suspensionId = uuid();
    const suspension: Suspension = {
      suspensionId,
      path,
      stepIndex,
      reason,
      data: data ?? null,
      suspendedAt: this.#now(),
      deadline,
      onDeadline,
    };
    this.#options.journal.suspended(path, stepIndex, suspensionId, data);
    this.#opens(path, suspension);
    this.batch.open.push(suspension);
    this.batch.events.push(suspendedEvent("step-suspended", suspension, place.step.type));
    this.#fibers.reply(fiber, { kind: "suspended" }, ++this.#order);
  }
}
