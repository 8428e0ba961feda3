// Computes from a journal which bodies had to run in one life, and with which input.
import type { StoredEvent } from "@andante/core/store";

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
 * called for. A committed outcome, of the step or of a container around it, ends the due run; so does a suspension,
 * until its resume is committed.
 */
export function dueRuns(events: readonly StoredEvent[], from: number): Map<string, DueRun[]> {
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
  readonly #loops = new Set<string>();
  readonly #branches = new Set<string>();
  #listing = false;

  listDue(): void {
    this.#listing = true;
    for (const [path, run] of this.#due) this.listed.set(path, [run]);
  }

  add(event: StoredEvent): void {
    const { type, path } = event;
    const value: unknown = event.value === null ? undefined : JSON.parse(event.value);
    const stepIndex = event.stepIndex ?? 0;
    if (["workflow-complete", "workflow-error", "workflow-cancelled"].includes(type)) this.#due.clear();
    if (path === null) return;
    switch (type) {
      case "step-start":
        return this.#start(path, stepIndex, value, event.stepType);
      case "step-suspended":
        this.#suspendData.set(path, value);
        this.#due.delete(path);
        return;
      case "workflow-resumed":
        return this.#call(path, stepIndex, value, this.#suspendData.get(path));
      case "execution-rewound":
        return this.#rewind(path, stepIndex, value);
      case "step-retry":
        return this.#again(path);
      case "checkpoint-complete":
        this.#due.delete(path);
        return this.#callTools(path, stepIndex, value);
      case "step-complete":
      case "step-evaluated":
      case "step-skipped":
      case "step-error":
      case "step-bailed":
        for (const each of this.#due.keys()) if (isWithin(each, path)) this.#due.delete(each);
        if (type !== "step-error") this.#goOn(path, stepIndex, value);
    }
  }

  /** The tools that a recorded reply of a model asks for. */
  #callTools(path: string, stepIndex: number, reply: unknown): void {
    const parts: unknown = Object(reply).parts;
    const calls = Array.isArray(parts) ? parts.filter(({ type }) => type === "tool-call") : [];
    for (const index of calls.keys()) this.#callBeside(`${path}.tool[${index}]`, stepIndex, null);
  }

  /** A function beside a round: a loop asks after its step, a branch after a condition that did not hold. */
  #goOn(path: string, stepIndex: number, value: unknown): void {
    const [, loop, round] = /^(.*)\[(\d+)\]\/[^/#[]*$/.exec(path) ?? [];
    if (loop !== undefined && this.#loops.has(loop)) {
      return this.#callBeside(`${loop}[${round}]#condition`, stepIndex, value);
    }
    const [, branch, number] = /^(.*)\[(\d+)\]#condition$/.exec(path) ?? [];
    if (branch !== undefined && this.#branches.has(branch) && value === false) {
      this.#callBeside(`${branch}[${Number(number) + 1}]#condition`, stepIndex, this.#inputs.get(branch));
    }
  }

  #start(path: string, stepIndex: number, data: unknown, stepType: string | null): void {
    const resumeData = this.#rewound.get(path);
    this.#rewound.delete(path);
    this.#inputs.set(path, data);
    this.#call(path, stepIndex, resumeData, undefined);
    // Functions beside a body have no start of their own; whether the step has one is not asked here.
    for (const name of ["condition", "prompt", "items", "duration", "date"]) {
      this.#callBeside(`${path}#${name}`, stepIndex, data);
    }
    if (stepType === "andDoWhile" || stepType === "andDoUntil") this.#loops.add(path);
    if (stepType !== "andBranch") return;
    this.#branches.add(path);
    this.#callBeside(`${path}[0]#condition`, stepIndex, data);
  }

  /** A failed attempt is followed by another one, with the same. */
  #again(path: string): void {
    const run = this.#due.get(path);
    if (run !== undefined) this.#call(path, run.stepIndex, run.resumeData, run.suspendData);
  }

  #callBeside(path: string, stepIndex: number, data: unknown): void {
    this.#inputs.set(path, data);
    this.#call(path, stepIndex, undefined, undefined);
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

/** True for the path itself, paths inside it and the functions beside it. */
function isWithin(path: string, container: string): boolean {
  return path === container || ["/", "[", "#"].some((next) => path.startsWith(container + next));
}
