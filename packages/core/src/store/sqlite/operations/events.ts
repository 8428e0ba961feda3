// Reads the events of one journal after a number, in order.
import type { DatabaseSync } from "node:sqlite";
import { readRow, referenceOf } from "../../sql/journal-row.ts";
import type { EventsQuery } from "../../store.ts";
import { type StoredEvent, type StoredJson, storedLength } from "../../stored-event.ts";
import { maxPageLength } from "../../text-length.ts";
import { integer, text } from "../columns.ts";
import { journalOf, valueAt } from "../journal-rows.ts";

export function events(database: DatabaseSync) {
  const selectRows = database.prepare(
    `select sequence, events from journal where execution = ${journalOf} and sequence > ? order by sequence`,
  );
  const findValue = valueAt(database);

  function* read(executionId: string, after: number): Generator<StoredEvent, void> {
    // Long values are referred to by events soon after them.
    const values = new Map<number, StoredJson>();
    for (const row of selectRows.iterate(executionId, after)) {
      for (const { sequence, fields } of readRow(integer(row, "sequence"), text(row, "events"))) {
        const [type, timestamp, path, stepIndex, stepType, written, detail] = fields;
        const value =
          typeof written !== "number"
            ? written
            : (values.get(written) ?? findValue(executionId, referenceOf(sequence, written)));
        values.set(typeof written === "number" ? written : sequence, value);
        if (sequence > after) yield { sequence, timestamp, type, path, stepIndex, stepType, value, detail };
      }
    }
  }

  return ({ executionId, after, limit, length = maxPageLength }: EventsQuery): StoredEvent[] => {
    const found: StoredEvent[] = [];
    let total = 0;
    for (const event of read(executionId, after)) {
      found.push(event);
      total += storedLength(event);
      if (total >= Math.min(length, maxPageLength) || found.length >= limit) break;
    }
    return found;
  };
}
