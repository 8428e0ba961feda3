// A row of a journal: the events of one write as a JSON array, each an array of its fields without names.
//
// A value that is in the journal already is the number of the event that holds it, in place of the text.
import { JournalDamagedError } from "../../errors/index.ts";
import type { NewStoredEvent, StoredEvent, WrittenEvent } from "../stored-event.ts";

export type EventFields = readonly [
  type: string,
  timestamp: number,
  path: string | null,
  stepIndex: number | null,
  stepType: string | null,
  value: string | number | null,
  detail: string | null,
];

/** The text of a row with these events, which come after the number `last`. */
export function rowText(last: number, events: readonly WrittenEvent[]): string {
  return JSON.stringify(events.map((event, index) => fieldsOf(event, last + 1 + index)));
}

function fieldsOf(event: WrittenEvent, sequence: number): EventFields {
  const { type, timestamp, path, stepIndex, stepType, detail } = event;
  return [type, timestamp, path, stepIndex, stepType, numberOf(event.value, sequence), detail];
}

/** The text, or the number of the event that holds it. */
function numberOf(value: WrittenEvent["value"], sequence: number): string | number | null {
  if (value === null || typeof value === "string") return value;
  const place = value.sameAs < 0 ? sequence + value.sameAs : value.sameAs;
  if (place >= 0 && place < sequence) return place;
  throw new RangeError(
    `the value of event ${sequence} refers to event ${place}, which is not an earlier one`,
  );
}

/** The event that the value of an event refers to: an earlier one in any journal that is whole, so a search ends. */
export function referenceOf(sequence: number, place: number): number {
  if (place >= 0 && place < sequence) return place;
  throw new JournalDamagedError({ sequence, problem: `its value refers to event ${place}` });
}

/** The fields of one event of a row; the row is the one that must hold it. */
export function fieldsAt(sequence: number, last: number, events: string): EventFields {
  const fields = readRow(last, events).find((each) => each.sequence === sequence)?.fields;
  if (fields !== undefined) return fields;
  throw new JournalDamagedError({ sequence, problem: "it is missing" });
}

/** The events with their numbers in the journal, after the number `last`. */
export function numbered(last: number, events: readonly NewStoredEvent[]): readonly StoredEvent[] {
  return events.map((event, index) => ({ ...event, sequence: last + 1 + index }));
}

/** The events of a row whose last number is `last`, their values as they are written. */
export function readRow(last: number, events: string): { sequence: number; fields: EventFields }[] {
  const rows = parseRow(last, events);
  const first = last - rows.length + 1;
  return rows.map((fields, index) => ({ sequence: first + index, fields }));
}

function parseRow(last: number, events: string): readonly EventFields[] {
  let row: unknown;
  try {
    row = JSON.parse(events);
  } catch {
    throw new JournalDamagedError({ sequence: last, problem: "its row is not JSON" });
  }
  if (Array.isArray(row) && row.every(isEvent)) return row;
  throw new JournalDamagedError({ sequence: last, problem: "its row is not a list of events" });
}

function isEvent(event: unknown): event is EventFields {
  if (!Array.isArray(event) || event.length !== 7) return false;
  const [type, timestamp, path, stepIndex, stepType, value, detail]: readonly unknown[] = event;
  return (
    typeof type === "string" &&
    typeof timestamp === "number" &&
    (path === null || typeof path === "string") &&
    (stepIndex === null || typeof stepIndex === "number") &&
    (stepType === null || typeof stepType === "string") &&
    (value === null || typeof value === "string" || typeof value === "number") &&
    (detail === null || typeof detail === "string")
  );
}

/** The events of a row that refers to no other. */
export function readWholeRow(last: number, events: string): StoredEvent[] {
  return readRow(last, events).map(({ sequence, fields }) => {
    const [type, timestamp, path, stepIndex, stepType, value, detail] = fields;
    if (typeof value === "number") throw new TypeError("a value that is kept elsewhere");
    return { sequence, timestamp, type, path, stepIndex, stepType, value, detail };
  });
}
