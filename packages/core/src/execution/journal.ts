// The journal of one execution as the engine reads it: what is known of each path, folded from the events.
import type { JournalEvent } from "../store/store.ts";
import type { JsonText } from "../workflow/json.ts";

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
  | { readonly kind: "error"; readonly error: Failure };

/** What is known of one path. */
export interface PathState {
  readonly stepIndex: number;
  /** Its start is in the journal, with this input. */
  started: boolean;
  input: JsonText;
  outcome: Outcome | undefined;
  /** The number of the outcome's event: what came first wins. */
  sequence: number;
  /** The newest suspension of this step. */
  suspension: { readonly suspensionId: string; readonly data: JsonText } | undefined;
  /** The answer to it, once it has come, as JSON text ("null" for an empty one). */
  answer: string | undefined;
}

/** What is known of every path that the execution has reached. */
export class Journal {
  readonly #paths = new Map<string, PathState>();
  /** Answers and rewinds so far; the store compares the number before it lets an owner rest. */
  answers = 0;

  get(path: string): PathState | undefined {
    return this.#paths.get(path);
  }

  get paths(): ReadonlyMap<string, PathState> {
    return this.#paths;
  }

  started(path: string, stepIndex: number, input: JsonText): void {
    const state = this.#at(path, stepIndex);
    state.started = true;
    state.input = input;
  }

  ended(path: string, stepIndex: number, outcome: Outcome, sequence: number): void {
    const state = this.#at(path, stepIndex);
    // Outcomes are recorded once: the first wins.
    if (state.outcome !== undefined) return;
    state.outcome = outcome;
    state.sequence = sequence;
  }

  suspended(path: string, stepIndex: number, suspensionId: string, data: JsonText): void {
    const state = this.#at(path, stepIndex);
    state.suspension = { suspensionId, data };
    state.answer = undefined;
  }

  answered(path: string, suspensionId: string, data: string): void {
    const state = this.#paths.get(path);
    if (state?.suspension?.suspensionId === suspensionId) state.answer = data;
  }

  /** Forgets everything at or after a top-level step, which then runs with `data` as its answer. */
  rewound(stepId: string, stepIndex: number, data: string): void {
    for (const [path, state] of this.#paths) {
      if (state.stepIndex >= stepIndex) this.#paths.delete(path);
    }
    const state = this.#at(stepId, stepIndex);
    state.suspension = { suspensionId: "", data: undefined };
    state.answer = data;
  }

  #at(path: string, stepIndex: number): PathState {
    let state = this.#paths.get(path);
    if (state === undefined) {
      state = {
        stepIndex,
        started: false,
        input: undefined,
        outcome: undefined,
        sequence: 0,
        suspension: undefined,
        answer: undefined,
      };
      this.#paths.set(path, state);
    }
    return state;
  }
}

/** Adds journaled events to what is known. */
export function replayEvents(journal: Journal, events: Iterable<JournalEvent>): void {
  for (const event of events) replayEvent(journal, event);
}

function replayEvent(journal: Journal, event: JournalEvent): void {
  const { type, path, sequence } = event;
  const stepIndex = event.stepIndex ?? 0;
  const value = event.value ?? undefined;
  if (type === "workflow-resumed" || type === "execution-rewound") journal.answers++;
  if (path === null) return;
  switch (type) {
    case "step-start":
      journal.started(path, stepIndex, value);
      return;
    case "step-complete":
    case "step-evaluated":
      return journal.ended(path, stepIndex, { kind: "output", value }, sequence);
    case "step-skipped":
      return journal.ended(path, stepIndex, { kind: "skipped" }, sequence);
    case "step-error":
      return journal.ended(path, stepIndex, { kind: "error", error: readFailure(value) }, sequence);
    case "step-suspended":
      return journal.suspended(path, stepIndex, suspensionIdOf(event), value);
    case "workflow-resumed":
      return journal.answered(path, suspensionIdOf(event), value ?? "null");
    case "execution-rewound":
      return journal.rewound(path, stepIndex, value ?? "null");
  }
}

/** The suspension that an event tells of; "" when it tells of none. */
export function suspensionIdOf(event: JournalEvent): string {
  const { suspensionId } = Object(event.detail === null ? undefined : JSON.parse(event.detail));
  return String(suspensionId ?? "");
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
