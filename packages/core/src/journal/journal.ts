// The journal of one execution as the engine reads it: what is known of each path, folded from the events.
import type { JournalEvent } from "../store/store.ts";
import type { JsonText } from "../values/json.ts";
import type { WorkflowState } from "../workflow/step-context.ts";
import { stepIdOf } from "../workflow/step-path.ts";

/** An error as the journal keeps it. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  /** The path of the step that failed. */
  readonly step?: string | undefined;
  /** The step lent its message to callers (`PublicError`). */
  readonly public?: boolean | undefined;
}

/** How a step ended. */
export type Outcome =
  | {
      readonly kind: "output";
      readonly value: JsonText;
      /** Further fields for the event, a JSON object. */
      readonly detail?: string | undefined;
    }
  | { readonly kind: "skipped" }
  | { readonly kind: "error"; readonly error: Failure }
  /** It called `bail`: the innermost workflow ends with this value. */
  | { readonly kind: "bailed"; readonly value: JsonText };

/** What is known of one path. */
export interface PathState {
  readonly stepIndex: number;
  /** Its start is in the journal, with this input. */
  started: boolean;
  /** When that was, in milliseconds since 1970. */
  startedAt: number;
  input: JsonText;
  outcome: Outcome | undefined;
  /** The number of the outcome's event: what came first wins. */
  sequence: number;
  /** The newest suspension of this step. */
  suspension: { readonly suspensionId: string; readonly data: JsonText } | undefined;
  /** The answer to it, once it has come, as JSON text ("null" for an empty one); or the end of its time. */
  answer: { readonly value: string; readonly expired: boolean } | undefined;
  /** Attempts that failed and are followed by another, which starts no earlier than `retryAt`. */
  failures: number;
  retryAt: number;
}

const outcomeTypes = new Set([
  "step-complete",
  "step-evaluated",
  "step-skipped",
  "step-error",
  "step-bailed",
]);

/** What is known of every path that the execution has reached. */
export class Journal {
  readonly #paths = new Map<string, PathState>();
  /** The newest outcome of each step id: a search through all paths made loops take quadratic time. */
  readonly #newest = new Map<string, PathState>();
  /** What steps have set, in order. */
  #patches: { readonly stepIndex: number; readonly patch: string }[] = [];
  #state: WorkflowState | undefined;
  /** Answers and rewinds so far; the store compares the number before it lets an owner rest. */
  answers = 0;

  get(path: string): PathState | undefined {
    return this.#paths.get(path);
  }

  get paths(): ReadonlyMap<string, PathState> {
    return this.#paths;
  }

  /** The step of this id that ended last, wherever it stands. */
  newest(stepId: string): PathState | undefined {
    return this.#newest.get(stepId);
  }

  /** What the steps have set with `setState` so far. */
  get state(): WorkflowState {
    if (this.#state !== undefined) return this.#state;
    let state: WorkflowState = {};
    for (const { patch } of this.#patches) state = { ...state, ...JSON.parse(patch) };
    this.#state = state;
    return state;
  }

  stateChanged(stepIndex: number, patch: string): void {
    this.#patches.push({ stepIndex, patch });
    if (this.#state !== undefined) this.#state = { ...this.#state, ...JSON.parse(patch) };
  }

  started(path: string, stepIndex: number, input: JsonText, at: number): void {
    const state = this.#at(path, stepIndex);
    state.started = true;
    state.startedAt = at;
    state.input = input;
  }

  ended(path: string, stepIndex: number, outcome: Outcome, sequence: number): void {
    const state = this.#at(path, stepIndex);
    // Outcomes are recorded once: the first wins.
    if (state.outcome !== undefined) return;
    state.outcome = outcome;
    state.sequence = sequence;
  }

  /**
   * The event of this number is in the store. Only now an outcome counts as the newest of its step id: a commit puts the
   * outcomes of bodies before those of containers, so before it the order is not known, and would be another after a crash.
   */
  committed({ path, type, sequence }: Pick<JournalEvent, "path" | "type" | "sequence">): void {
    if (path === null || !outcomeTypes.has(type)) return;
    const state = this.#paths.get(path);
    if (state === undefined) return;
    state.sequence = sequence;
    this.#remember(path, state);
  }

  /** An attempt failed; the next one starts at `retryAt` or later. */
  failed(path: string, stepIndex: number, attempt: number, retryAt: number): void {
    const state = this.#at(path, stepIndex);
    state.failures = attempt;
    state.retryAt = retryAt;
  }

  suspended(path: string, stepIndex: number, suspensionId: string, data: JsonText): void {
    const state = this.#at(path, stepIndex);
    state.suspension = { suspensionId, data };
    state.answer = undefined;
  }

  answered(path: string, suspensionId: string, value: string, expired: boolean): void {
    const state = this.#paths.get(path);
    if (state?.suspension?.suspensionId === suspensionId) state.answer = { value, expired };
  }

  /** Forgets everything at or after a top-level step, which then runs with `data` as its answer. */
  rewound(stepId: string, stepIndex: number, data: string): void {
    this.#patches = this.#patches.filter((change) => change.stepIndex < stepIndex);
    this.#state = undefined;
    this.#newest.clear();
    for (const [path, state] of this.#paths) {
      if (state.stepIndex >= stepIndex) this.#paths.delete(path);
      else this.#remember(path, state);
    }
    const state = this.#at(stepId, stepIndex);
    state.suspension = { suspensionId: "", data: undefined };
    state.answer = { value: data, expired: false };
  }

  #remember(path: string, state: PathState): void {
    if (state.outcome === undefined || path.includes("#")) return;
    const id = stepIdOf(path);
    if (state.sequence > (this.#newest.get(id)?.sequence ?? 0)) this.#newest.set(id, state);
  }

  #at(path: string, stepIndex: number): PathState {
    let state = this.#paths.get(path);
    if (state === undefined) {
      state = {
        stepIndex,
        started: false,
        startedAt: 0,
        input: undefined,
        outcome: undefined,
        sequence: 0,
        suspension: undefined,
        answer: undefined,
        failures: 0,
        retryAt: 0,
      };
      this.#paths.set(path, state);
    }
    return state;
  }
}

/** Adds journaled events to what is known. */
export function replayEvents(journal: Journal, events: Iterable<JournalEvent>): void {
  for (const event of events) {
    replayEvent(journal, event);
    journal.committed(event);
  }
}

function replayEvent(journal: Journal, event: JournalEvent): void {
  const { type, path, sequence } = event;
  const stepIndex = event.stepIndex ?? 0;
  const value = event.value ?? undefined;
  if (type === "workflow-resumed" || type === "execution-rewound") journal.answers++;
  if (path === null) return;
  switch (type) {
    case "step-start":
      return journal.started(path, stepIndex, value, event.timestamp);
    case "step-complete":
    case "step-evaluated":
      return journal.ended(path, stepIndex, { kind: "output", value }, sequence);
    case "step-skipped":
      return journal.ended(path, stepIndex, { kind: "skipped" }, sequence);
    case "step-error":
      return journal.ended(path, stepIndex, { kind: "error", error: readFailure(value) }, sequence);
    case "step-bailed":
      return journal.ended(path, stepIndex, { kind: "bailed", value }, sequence);
    case "step-retry":
      return journal.failed(path, stepIndex, ...retryOf(event));
    case "state-changed":
      return journal.stateChanged(stepIndex, value ?? "{}");
    case "step-suspended":
      return journal.suspended(path, stepIndex, suspensionIdOf(event), value);
    case "workflow-resumed":
      return journal.answered(path, suspensionIdOf(event), value ?? "null", isExpired(event));
    case "execution-rewound":
      return journal.rewound(path, stepIndex, value ?? "null");
  }
}

/** The suspension that an event tells of; "" when it tells of none. */
export function suspensionIdOf(event: JournalEvent): string {
  return String(detailOf(event).suspensionId ?? "");
}

/** True when nobody answered a suspension in time, and that is its answer. */
export function isExpired(event: JournalEvent): boolean {
  return detailOf(event).expired === true;
}

function retryOf(event: JournalEvent): [attempt: number, retryAt: number] {
  const { attempt, retryAt } = detailOf(event);
  return [Number(attempt), Number(retryAt)];
}

/** The further fields of an event. */
export function detailOf(event: Pick<JournalEvent, "detail">): Readonly<Record<string, unknown>> {
  return Object(event.detail === null ? undefined : JSON.parse(event.detail));
}

export function readFailure(value: JsonText): Failure {
  const { name, message, step, ...rest } = Object(value === undefined ? undefined : JSON.parse(value));
  return {
    name: String(name ?? "Error"),
    message: String(message ?? ""),
    step: typeof step === "string" ? step : undefined,
    public: rest.public === true,
  };
}
