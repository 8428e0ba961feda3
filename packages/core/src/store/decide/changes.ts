// The changes that a decision makes: a store applies all of them, or none.

import type { BudgetCharge } from "../budget-store.ts";
import type { FactChange } from "../fact-store.ts";
import type { StoredSchedule } from "../schedule-store.ts";
import type { NoteWork, SendWork } from "../signal-store.ts";
import type { Timer } from "../store.ts";
import type { StoredJson, WrittenEvent } from "../stored-event.ts";
import type { Suspension } from "../suspension.ts";
import type { UsageEntry } from "../usage-store.ts";
import type { ExecutionRecord } from "./record.ts";

export interface Changes {
  /** Writes the record. A decision calls it last, when the record is as it is to be kept. */
  update(record: ExecutionRecord): void;
  /** Writes the outcome of an execution that ends. `resultAt`: the event that holds a long result. */
  end(executionId: string, outcome: Outcome): void;
  /** Writes events after the number `last`, in one row of the journal. */
  append(executionId: string, last: number, events: readonly WrittenEvent[], key: string): void;
  /** `held`: the execution is paused, so that its times do not run. */
  open(executionId: string, suspension: Suspension, held: boolean): void;
  /** Keeps a change of facts. */
  remember(change: FactChange): void;
  /** Keeps work of signals: events that a body sends, and effects of an event. */
  keepWork(works: readonly (SendWork | NoteWork)[]): void;
  close(suspensionIds: readonly string[]): void;
  closeAll(executionId: string): void;
  setTimer(executionId: string, timer: Timer): void;
  clearTimer(executionId: string, path: string): void;
  clearTimers(executionId: string): void;
  /** Holds the timers and deadlines of an execution that is paused, or lets them run again. */
  hold(executionId: string, held: boolean): void;
  /** Moves the timeout of an execution, if it has one, by milliseconds. */
  moveTimeout(executionId: string, by: number): void;
  /** Adds to the rows of usage. The key is that of the write. */
  spend(key: string, entries: readonly UsageEntry[]): void;
  /** Keeps a delivery, unless there is a row of its id. */
  deliver(row: StoredSchedule): void;
  /** Replaces shares of budgets by the use of their calls. */
  charge(charges: readonly BudgetCharge[]): void;
}

export interface Outcome {
  readonly result: StoredJson;
  readonly resultAt: number | null;
  readonly error: StoredJson;
}

/** Appends events to the journal of the execution, as one write. */
export function append(
  record: ExecutionRecord,
  events: readonly WrittenEvent[],
  key: string,
  changes: Changes,
): void {
  if (events.length === 0) return;
  changes.append(record.executionId, record.sequence, events, key);
  record.sequence += events.length;
}
