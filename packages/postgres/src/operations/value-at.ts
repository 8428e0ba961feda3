// Finds a value that an event refers to instead of holding it.

import { fieldsAt, referenceOf, type StoredJson } from "@andante/core/store";
import { integer, nullableText } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";

/** The column, or null where it has more bytes: its length is known without reading it. */
export function upTo(maxBytes: number, column: string): string {
  return `case when octet_length(${column}) <= ${maxBytes} then ${column} end as ${column}`;
}

/**
 * The value of the event with this number; that of 0 is the execution's input. With `maxBytes`, rows and inputs that are
 * longer are not read, and the value is null.
 */
export function valueAt(readers: Pick<Readers, "read">, s: string, maxBytes?: number) {
  const column = (name: string) => (maxBytes === undefined ? name : upTo(maxBytes, name));
  const selectRow = `select sequence, ${column("events")} from ${s}.journal
    where execution_id = $1 and sequence >= $2 order by sequence limit 1`;
  const selectInput = `select ${column("input")} from ${s}.executions where execution_id = $1`;
  return async (executionId: string, sequence: number): Promise<StoredJson> => {
    let place = sequence;
    while (place > 0) {
      const [found] = await readers.read(selectRow, [executionId, place]);
      // A journal that is being deleted loses its end first.
      const events = found && nullableText(found, "events");
      if (found === undefined || !events) return null;
      const [, , , , , value] = fieldsAt(place, integer(found, "sequence"), events);
      if (typeof value !== "number") return value;
      place = referenceOf(place, value);
    }
    const [first] = await readers.read(selectInput, [executionId]);
    return first === undefined ? null : nullableText(first, "input");
  };
}
