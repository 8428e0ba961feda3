// Adds events to the end of a journal, numbering them.
import type { DatabaseSync } from "node:sqlite";
import type { NewStoredEvent, StoredEvent } from "../../stored-event.ts";

/** Returns a function that writes events after the number `last` and returns them numbered. */
export function appendEvents(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into events (execution_id, sequence, timestamp, type, path, step_index, step_type, value, detail)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (executionId: string, last: number, events: readonly NewStoredEvent[]): void => {
    let sequence = last;
    for (const event of events) {
      sequence++;
      const { timestamp, type, path, stepIndex, stepType, value, detail } = event;
      insert.run(executionId, sequence, timestamp, type, path, stepIndex, stepType, value, detail);
    }
  };
}

/** The events as they stand in the journal after the number `last`. */
export function numbered(last: number, events: readonly NewStoredEvent[]): readonly StoredEvent[] {
  return events.map((event, index) => ({ ...event, sequence: last + 1 + index }));
}
