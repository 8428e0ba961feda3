// Writes rows of journals, and finds the values that their events refer to.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { fieldsAt, readRow, referenceOf, rowText } from "../sql/journal-row.ts";
import type { StoredJson, WrittenEvent } from "../stored-event.ts";
import { integer, nullableText, text } from "./columns.ts";

/** The statement that writes a row: whose it is, the number of its last event, its text, and its key. */
export function insertRow(database: DatabaseSync): StatementSync {
  return database.prepare(
    "insert into journal (execution_id, sequence, events, write_key) values (?, ?, ?, ?)",
  );
}

/** Returns a function that writes events after the number `last`, in one row. */
export function appendEvents(database: DatabaseSync) {
  const insert = insertRow(database);
  return (
    executionId: string,
    last: number,
    events: readonly WrittenEvent[],
    key: string | null = null,
  ): void => {
    if (events.length === 0) return;
    insert.run(executionId, last + events.length, rowText(last, events), key);
  };
}

/** The time of an execution's last event, whose number is `last`; 0 where it stands in no row. */
export function lastTime(database: DatabaseSync) {
  const row = database.prepare(
    "select sequence, events from journal where execution_id = ? and sequence = ?",
  );
  return (executionId: string, last: number): number => {
    const found = row.get(executionId, last);
    const fields = found && readRow(last, text(found, "events")).at(-1)?.fields;
    return fields?.[1] ?? 0;
  };
}

/** The value of the event with this number; `input` is that of 0. */
export function valueAt(database: DatabaseSync) {
  const row = database.prepare(
    "select sequence, events from journal where execution_id = ? and sequence >= ? order by sequence limit 1",
  );
  const input = database.prepare("select input from executions where execution_id = ?");
  return (executionId: string, sequence: number): StoredJson => {
    let place = sequence;
    while (place > 0) {
      const found = row.get(executionId, place);
      // A journal that is being deleted loses its end first.
      if (found === undefined) return null;
      const [, , , , , value] = fieldsAt(place, integer(found, "sequence"), text(found, "events"));
      if (typeof value !== "number") return value;
      place = referenceOf(place, value);
    }
    const first = input.get(executionId);
    return first === undefined ? null : nullableText(first, "input");
  };
}
