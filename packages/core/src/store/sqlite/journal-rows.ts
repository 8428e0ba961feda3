// A row of a journal: the events of one write as a JSON array, each an array of its fields without names.
//
// A value that stands in the journal already is the number of the event that holds it, in place of the text.
import type { DatabaseSync } from "node:sqlite";
import type { NewStoredEvent, StoredEvent, StoredJson, WrittenEvent } from "../stored-event.ts";
import { integer, nullableText, text } from "./columns.ts";

type Fields = readonly [
  type: string,
  timestamp: number,
  path: string | null,
  stepIndex: number | null,
  stepType: string | null,
  value: string | number | null,
  detail: string | null,
];

/** Returns a function that writes events after the number `last`, in one row. */
export function appendEvents(database: DatabaseSync) {
  const insert = database.prepare(
    "insert into journal (execution_id, sequence, events, write_key) values (?, ?, ?, ?)",
  );
  return (
    executionId: string,
    last: number,
    events: readonly WrittenEvent[],
    key: string | null = null,
  ): void => {
    if (events.length === 0) return;
    const rows = events.map((event, index) => fieldsOf(event, last + 1 + index));
    insert.run(executionId, last + events.length, JSON.stringify(rows), key);
  };
}

function fieldsOf(event: WrittenEvent, sequence: number): Fields {
  const { type, timestamp, path, stepIndex, stepType, detail } = event;
  return [type, timestamp, path, stepIndex, stepType, numberOf(event.value, sequence), detail];
}

/** The text, or the number of the event that holds it. */
function numberOf(value: WrittenEvent["value"], sequence: number): string | number | null {
  if (value === null || typeof value === "string") return value;
  return value.sameAs < 0 ? sequence + value.sameAs : value.sameAs;
}

/** The events as they stand in the journal after the number `last`. */
export function numbered(last: number, events: readonly NewStoredEvent[]): readonly StoredEvent[] {
  return events.map((event, index) => ({ ...event, sequence: last + 1 + index }));
}

/** The events of a row whose last number is `last`, their values as they are written. */
export function readRow(last: number, events: string): { sequence: number; fields: Fields }[] {
  const rows: Fields[] = JSON.parse(events);
  const first = last - rows.length + 1;
  return rows.map((fields, index) => ({ sequence: first + index, fields }));
}

/** The value of the event with this number; `input` is that of 0. */
export function valueAt(database: DatabaseSync) {
  const row = database.prepare(
    "select sequence, events from journal where execution_id = ? and sequence >= ? order by sequence limit 1",
  );
  const event = database.prepare("select value from events where execution_id = ? and sequence = ?");
  const input = database.prepare("select input from executions where execution_id = ?");
  return (executionId: string, sequence: number): StoredJson => {
    let place = sequence;
    while (place > 0) {
      const found = row.get(executionId, place);
      const rows = found === undefined ? [] : readRow(integer(found, "sequence"), text(found, "events"));
      const fields = rows.find((each) => each.sequence === place)?.fields;
      if (fields === undefined) {
        const earlier = event.get(executionId, place);
        return earlier === undefined ? null : nullableText(earlier, "value");
      }
      const [, , , , , value] = fields;
      if (typeof value !== "number") return value;
      place = value;
    }
    const first = input.get(executionId);
    return first === undefined ? null : nullableText(first, "input");
  };
}
