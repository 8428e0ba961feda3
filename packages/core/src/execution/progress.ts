// What one execution has come to, and what it wants to commit next: the journal, the open suspensions and the batch.
import { v7 as uuid } from "uuid";
import type { NewEvent, Suspension } from "../store/store.ts";
import type { JsonText } from "../workflow/json.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import { isBelow } from "../workflow/step-path.ts";
import type { AbortScope } from "./abort-scope.ts";
import { Batch } from "./batch.ts";
import { checkValue } from "./check-value.ts";
import { executionEvent, outcomeEvent, stepEvent, suspendedEvent } from "./events.ts";
import { type Fiber, Fibers, type Work } from "./fibers.ts";
import type { Command, Place, RunCommand } from "./interpreter/commands.ts";
import { interpretWorkflow } from "./interpreter/interpret.ts";
import type { Journal, Outcome } from "./journal.ts";
import type { BodyResult } from "./run-body.ts";
import type { SuspendRequest } from "./suspend-signal.ts";

/** Something that a fiber has waited for: a body's result, or the outcome of an asynchronous check. */
export type Arrival =
  | { readonly fiber: Fiber; readonly command: RunCommand; readonly result: BodyResult }
  | { readonly fiber: Fiber; readonly command: undefined; readonly result: Outcome };

export interface ProgressOptions {
  readonly journal: Journal;
  /** Suspensions that are open at the start. */
  readonly suspensions: readonly Suspension[];
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
  /** Numbers outcomes in the order in which they will stand in the journal. */
  #order: number;
  #stepIndex: number;
  batch = new Batch();

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#order = options.sequence;
    this.#stepIndex = options.stepIndex;
    for (const suspension of options.suspensions) {
      if (suspension.path !== null) this.#open.set(suspension.path, suspension);
    }
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

  /** Walks the plan as far as the journal reaches; what follows is in the batch. */
  begin(workflow: WorkflowDefinition, input: JsonText): void {
    this.#fibers.begin(interpretWorkflow(workflow, input));
  }

  /** For a new execution: the first events, to be committed with its creation. */
  takeFirstEvents(): readonly NewEvent[] {
    this.batch.prune();
    const first = this.batch.following.splice(0).map(({ event }) => event);
    return [executionEvent("workflow-start"), ...first];
  }

  /** Takes in what has arrived and walks on. */
  consume({ fiber, command, result }: Arrival): void {
    if (fiber.scope.closed) return;
    if (command === undefined) return this.#fibers.reply(fiber, result, 0);
    if (result.kind === "suspended") return this.#suspend(fiber, command, result.request);
    const { place, path } = command;
    const isTap = place.step.type === "andTap" && result.kind === "output";
    const outcome: Outcome = isTap ? { kind: "output", value: place.data } : result;
    const order = ++this.#order;
    this.#options.journal.ended(path, place.scope.stepIndex, outcome, order);
    this.batch.events.push(outcomeEvent(place, path, outcome));
    this.#fibers.reply(fiber, outcome, order);
  }

  /** The suspension at this path was answered, with this JSON text. */
  answer(path: string, value: string): void {
    const suspension = this.#open.get(path);
    if (suspension === undefined) return;
    this.#open.delete(path);
    this.#options.journal.answered(path, suspension.suspensionId, value);
    this.#fibers.answer(path);
  }

  // ---- what the fibers ask for

  start(fiber: Fiber, place: Place): void {
    const { stepIndex } = place.scope;
    this.#options.journal.started(place.path, stepIndex, place.data);
    if (stepIndex > this.#stepIndex) this.#stepIndex = stepIndex;
    this.batch.following.push({ event: stepEvent("step-start", place, place.data), scope: fiber.scope });
  }

  end(fiber: Fiber, place: Place, outcome: Outcome): void {
    this.#options.journal.ended(place.path, place.scope.stepIndex, outcome, ++this.#order);
    this.batch.following.push({ event: outcomeEvent(place, place.path, outcome), scope: fiber.scope });
    for (const path of this.#open.keys()) {
      if (!isBelow(path, place.path)) continue;
      this.#open.delete(path);
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

  lost(scope: AbortScope): void {
    this.batch.lost.push(scope);
  }

  #suspend(fiber: Fiber, { place, path }: RunCommand, { reason, data }: SuspendRequest): void {
    const { stepIndex } = place.scope;
    const suspensionId = uuid();
    const suspendedAt = Date.now();
    const suspension = { suspensionId, path, stepIndex, reason, data: data ?? null, suspendedAt };
    this.#options.journal.suspended(path, stepIndex, suspensionId, data);
    this.#open.set(path, suspension);
    this.batch.open.push(suspension);
    this.batch.events.push(suspendedEvent("step-suspended", suspension, place.step.type));
    this.#fibers.reply(fiber, { kind: "suspended" }, ++this.#order);
  }
}
