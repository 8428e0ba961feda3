// Tells from a journal which bodies had to run in one life, and with what.
import type { JournalEvent } from "@andante/core";

/** A run of a body that the journal calls for. */
export interface DueRun {
  readonly stepIndex: number;
  readonly data: unknown;
  /** Undefined unless the step was answered. */
  readonly resumeData: unknown;
  readonly suspendData: unknown;
}

/**
 * The runs by path, in order: those that were due when event `from` was the last one, then those that later events
 * called for. A committed outcome, of the step or of a container around it, ends what was due; so does a suspension,
 * until its answer is committed.
 */
export function dueRuns(events: readonly JournalEvent[], from: number): Map<string, DueRun[]> {
  const ledger = new Ledger();
  for (const event of events.slice(0, from)) ledger.add(event);
  ledger.listDue();
  for (const event of events.slice(from)) ledger.add(event);
  return ledger.listed;
}

class Ledger {
  readonly listed = new Map<string, DueRun[]>();
  readonly #due = new Map<string, DueRun>();
  readonly #inputs = new Map<string, unknown>();
  readonly #suspendData = new Map<string, unknown>();
  /** Answers of rewinds, until the step they go to starts. */
  readonly #rewound = new Map<string, unknown>();
  #listing = false;

  listDue(): void {
    this.#listing = true;
    for (const [path, run] of this.#due) this.listed.set(path, [run]);
  }

  add(event: JournalEvent): void {
    const { type, path } = event;
    const value: unknown = event.value === null ? undefined : JSON.parse(event.value);
    const stepIndex = event.stepIndex ?? 0;
    if (["workflow-complete", "workflow-error", "workflow-cancelled"].includes(type)) this.#due.clear();
    if (path === null) return;
    switch (type) {
      case "step-start":
        return this.#start(path, stepIndex, value);
      case "step-suspended":
        this.#suspendData.set(path, value);
        this.#due.delete(path);
        return;
      case "workflow-resumed":
        return this.#call(path, stepIndex, value, this.#suspendData.get(path));
      case "execution-rewound":
        return this.#rewind(path, stepIndex, value);
      case "step-complete":
      case "step-evaluated":
      case "step-skipped":
      case "step-error":
        for (const each of this.#due.keys()) {
          if (each === path || each.startsWith(`${path}/`) || each.startsWith(`${path}#`))
            this.#due.delete(each);
        }
    }
  }

  #start(path: string, stepIndex: number, data: unknown): void {
    const resumeData = this.#rewound.get(path);
    this.#rewound.delete(path);
    this.#inputs.set(path, data);
    this.#call(path, stepIndex, resumeData, undefined);
    // Functions beside a body have no start of their own; whether the step has one is not asked here.
    for (const name of ["condition", "prompt"]) {
      this.#inputs.set(`${path}#${name}`, data);
      this.#call(`${path}#${name}`, stepIndex, undefined, undefined);
    }
  }

  #rewind(path: string, stepIndex: number, answer: unknown): void {
    for (const [each, run] of this.#due) if (run.stepIndex >= stepIndex) this.#due.delete(each);
    this.#rewound.set(path, answer);
  }

  #call(path: string, stepIndex: number, resumeData: unknown, suspendData: unknown): void {
    const run = { stepIndex, data: this.#inputs.get(path), resumeData, suspendData };
    this.#due.set(path, run);
    if (this.#listing) this.listed.set(path, [...(this.listed.get(path) ?? []), run]);
  }
}
