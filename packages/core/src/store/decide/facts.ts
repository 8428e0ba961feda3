// The facts that a decision may need beside the record of its execution.

/** A write that the journal holds. */
export interface RecordedWrite {
  /** The number of its last event. */
  readonly sequence: number;
  /** The text of its row, see `readWholeRow`. */
  readonly events: string;
  readonly key: string;
}

/** Announces the facts that a decision is about to use, for stores that read them in advance, for several decisions at once. */
export interface FactRequests {
  openSuspensions(suspensionIds: readonly string[]): void;
  below(executionId: string, paths: readonly string[]): void;
  isAlive(owner: string): void;
  dueAt(executionId: string): void;
  timeOf(executionId: string, sequence: number): void;
  recorded(executionId: string, keys: readonly string[]): void;
}

export interface Facts {
  /** The execution and the path of an open suspension; undefined when it is not open. */
  openSuspension(
    suspensionId: string,
  ): { readonly executionId: string; readonly path: string | null } | undefined;
  /** The open suspensions of an execution at or below these steps. */
  below(executionId: string, paths: readonly string[]): readonly string[];
  /** Whether the lease of an owner lasts. */
  isAlive(owner: string): boolean;
  /** The earliest timer of an execution; undefined when it has none. */
  dueAt(executionId: string): number | undefined;
  /** The time of an event; undefined where the journal has no such event. */
  timeOf(executionId: string, sequence: number): number | undefined;
  /** The last write to the journal with one of these keys, among the last `lookback` events. */
  recorded(executionId: string, keys: readonly string[]): RecordedWrite | undefined;
}

/** Events that other writers may have written since a write that is repeated. */
export const lookback = 1_000;
