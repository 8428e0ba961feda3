// The waits of one step in a journal: which of them a link means, and how it ended.
import type { Store } from "../store/store.ts";
import { type EndEvent, isEnd, isOutcome, type JournalEvent, type WorkflowResumedEvent } from "./events.ts";
import { readJournal } from "./read-journal.ts";
import { afterRewind, afterWait, waitOf } from "./visit.ts";

/** One wait of a step, before, while and after it lasts. */
export interface Visit {
  /** Undefined before it begins. */
  suspensionId: string | undefined;
  /** The resume that ended it, or will. */
  decision: WorkflowResumedEvent | undefined;
}

export interface FoundVisit {
  /** Undefined when the journal has no such wait. */
  readonly visit: Visit | undefined;
  /** No wait has followed it, and the step has not ended since. */
  readonly isCurrent: boolean;
  /** Resumes and rewinds so far. */
  readonly resumes: number;
  /** How the execution has ended. */
  readonly end: EndEvent | undefined;
}

/** Reads the journal up to a number and finds the wait of a step that `visitOf` of the fold has named so. */
export async function findVisit(
  store: Pick<Store, "events">,
  { executionId, upTo }: { readonly executionId: string; readonly upTo: number },
  path: string,
  name: string,
): Promise<FoundVisit> {
  const visits = new Visits(path, name);
  for await (const { events } of readJournal(store, { executionId, upTo }))
    for (const event of events) visits.add(event);
  return visits;
}

class Visits implements FoundVisit {
  readonly #path: string;
  readonly #name: string;
  #current: Visit = { suspensionId: undefined, decision: undefined };
  #isOver = false;
  visit: Visit | undefined;
  resumes = 0;
  end: EndEvent | undefined;

  constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
    this.#began(afterRewind(0));
  }

  get isCurrent(): boolean {
    return this.visit === this.#current && !this.#isOver;
  }

  add(event: JournalEvent): void {
    if (isEnd(event)) this.end = event;
    if (event.type === "workflow-resumed" || event.type === "execution-rewound") this.resumes++;
    if (event.type === "execution-rewound") return this.#next(afterRewind(this.resumes));
    if (!("path" in event) || event.path !== this.#path) return;
    if (event.type === "workflow-resumed") this.#decided(event);
    else if (event.type === "step-suspended") this.#waits(event.suspensionId);
    else if (isOutcome(event)) this.#isOver = true;
  }

  #waits(suspensionId: string): void {
    this.#current.suspensionId = suspensionId;
    this.#began(waitOf(suspensionId));
    if (this.#current.decision !== undefined) this.#next(afterWait(suspensionId));
  }

  #decided(event: WorkflowResumedEvent): void {
    if (!event.early && event.suspensionId !== this.#current.suspensionId) return;
    this.#current.decision ??= event;
    // An early one ends the wait that begins later.
    if (this.#current.suspensionId !== undefined) this.#next(afterWait(this.#current.suspensionId));
  }

  #next(name: string): void {
    this.#current = { suspensionId: undefined, decision: undefined };
    this.#isOver = false;
    this.#began(name);
  }

  #began(name: string): void {
    if (name === this.#name) this.visit = this.#current;
  }
}
