// A line of a journal in the form that stores keep. Only the journal knows its meaning: stores never read into it.

/** Values are JSON text; null stands for "no value". */
export type StoredJson = string | null;

/**
 * A long value that is kept already, and is not kept again: that of the event with this number, or of the execution's
 * input for 0. Below 0 it counts back from the event in the same write: -1 is the event before it. Reading gives the
 * value itself.
 */
export interface SameValue {
  readonly sameAs: number;
}

export interface StoredEvent {
  /** 1, 2, 3 … within its journal. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly type: string;
  /** The step's path; null for events of the whole execution. */
  readonly path: string | null;
  /** The index of the top-level step that `path` belongs to. */
  readonly stepIndex: number | null;
  readonly stepType: string | null;
  /** The main value of the event: an input, an output, an error, resume data. */
  readonly value: StoredJson;
  /** Further fields of the event, a JSON object. */
  readonly detail: StoredJson;
}

/** An event before the store has numbered it. */
export type NewStoredEvent = Omit<StoredEvent, "sequence">;

/** The same as it is written: its value may stand in the journal already. */
export type WrittenEvent = Omit<NewStoredEvent, "value"> & { readonly value: StoredJson | SameValue };

/** The length of an event's texts: its cost in memory. */
export function storedLength({ value, detail }: NewStoredEvent): number {
  return (value?.length ?? 0) + (detail?.length ?? 0);
}

/** The size of the texts of events together, in bytes of UTF-8. */
export function storedBytes(events: readonly NewStoredEvent[]): number {
  let total = 0;
  for (const { value, detail } of events) {
    if (value !== null) total += Buffer.byteLength(value);
    if (detail !== null) total += Buffer.byteLength(detail);
  }
  return total;
}
