// Writes rows of journals, and finds the values that their events refer to.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { fieldsAt, readRow, referenceOf, rowText } from "../sql/journal-row.ts";
import type { StoredJson, WrittenEvent } from "../stored-event.ts";
import { integer, nullableText, text } from "./columns.ts";

/** The key of a journal; its parameter is the id of the execution. Node 22.13 binds values to `?` alone, not to `?1`. */
export const journalOf = "(select id from executions where execution_id = ?)";

/** The statement that writes a row: whose it is, the number of its last event, its text, and its key. */
export function insertRow(database: DatabaseSync): StatementSync {
  return database.prepare(
    `insert into journal (execution, sequence, events, write_key) values (${journalOf}, ?, ?, ?)`,
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

/** Returns a function that reads the time of an event; undefined where the journal has no such event. */
export function timeAt(database: DatabaseSync) {
  const row = rowOf(database);
  return (executionId: string, sequence: number): number | undefined => {
    const found = row.get(executionId, sequence);
    const events = found === undefined ? [] : readRow(integer(found, "sequence"), text(found, "events"));
    return events.find((event) => event.sequence === sequence)?.fields[1];
  };
}

/** The row that holds an event. */
function rowOf(database: DatabaseSync, events = "events"): StatementSync {
  return database.prepare(
    `select sequence, ${events} from journal where execution = ${journalOf} and sequence >= ? order by sequence limit 1`,
  );
}

/** The column, or null where it has more bytes: its length is known without reading it. */
export function upTo(maxBytes: number, column: string): string {
  return `iif(octet_length(${column}) <= ${maxBytes}, ${column}, null) as ${column}`;
}

/**
 * The value of the event with this number; `input` is that of 0. With `maxBytes`, rows and inputs that are longer are not
 * read, and the value is null.
 */
export function valueAt(database: DatabaseSync, maxBytes?: number) {
  const column = (name: string) => (maxBytes === undefined ? name : upTo(maxBytes, name));
  const row = rowOf(database, column("events"));
  const input = database.prepare(`select ${column("input")} from executions where execution_id = ?`);
  return (executionId: string, sequence: number): StoredJson => {
    let place = sequence;
    while (place > 0) {
      const found = row.get(executionId, place);
      // A journal that is being deleted loses its end first.
      const events = found && nullableText(found, "events");
      if (found === undefined || !events) return null;
      const [, , , , , value] = fieldsAt(place, integer(found, "sequence"), events);
      if (typeof value !== "number") return value;
      place = referenceOf(place, value);
    }
    const first = input.get(executionId);
    return first === undefined ? null : nullableText(first, "input");
  };
}
