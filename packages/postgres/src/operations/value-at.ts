// Finds a value that an event refers to instead of holding it.

import { fieldsAt, referenceOf, type StoredJson } from "@andante/core/store";
import { integer, nullableText, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";

/** The value of the event with this number; that of 0 is the execution's input. */
export function valueAt(readers: Readers, s: string) {
  const selectRow = `select sequence, events from ${s}.journal
    where execution_id = $1 and sequence >= $2 order by sequence limit 1`;
  const selectInput = `select input from ${s}.executions where execution_id = $1`;
  return async (executionId: string, sequence: number): Promise<StoredJson> => {
    let place = sequence;
    while (place > 0) {
      const [found] = await readers.read(selectRow, [executionId, place]);
      // A journal that is being deleted loses its end first.
      if (found === undefined) return null;
      const [, , , , , value] = fieldsAt(place, integer(found, "sequence"), text(found, "events"));
      if (typeof value !== "number") return value;
      place = referenceOf(place, value);
    }
    const [first] = await readers.read(selectInput, [executionId]);
    return first === undefined ? null : nullableText(first, "input");
  };
}
