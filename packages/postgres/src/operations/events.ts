// Reads the events of one journal after a number, in order.
import {
  type EventsQuery,
  maxPageLength,
  readRow,
  referenceOf,
  type StoredEvent,
  type StoredJson,
  storedLength,
} from "@andante/core/store";
import { integer, type Row, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { valueAt } from "./value-at.ts";

/** How many rows are fetched at once; a row holds the events of one write. */
const rowsAtOnce = 200;

export function events(readers: Readers, s: string) {
  const findValue = valueAt(readers, s);
  // Rows after the one that fills the page are not fetched: a row may have megabytes.
  const select = `select sequence, events from (
      select sequence, events, sum(length(events)) over (order by sequence) - length(events) as before
      from (select sequence, events from ${s}.journal where execution_id = $1 and sequence > $2
            order by sequence limit $3) as next) as measured
    where before < $4 order by sequence`;

  async function* read(executionId: string, after: number, count: number, length: number) {
    // Long values are referred to by events soon after them.
    const values = new Map<number, StoredJson>();
    let last = after;
    for (;;) {
      const rows: readonly Row[] = await readers.read(select, [executionId, last, count, length]);
      for (const row of rows) {
        for (const { sequence, fields } of readRow(integer(row, "sequence"), text(row, "events"))) {
          const [type, timestamp, path, stepIndex, stepType, written, detail] = fields;
          const value =
            typeof written !== "number"
              ? written
              : values.has(written)
                ? (values.get(written) ?? null)
                : await findValue(executionId, referenceOf(sequence, written));
          values.set(typeof written === "number" ? written : sequence, value);
          const event = { sequence, timestamp, type, path, stepIndex, stepType, value, detail };
          if (sequence > after) yield event satisfies StoredEvent;
        }
        last = integer(row, "sequence");
      }
      if (rows.length === 0) return;
    }
  }

  return async ({
    executionId,
    after,
    limit,
    length = maxPageLength,
  }: EventsQuery): Promise<StoredEvent[]> => {
    const found: StoredEvent[] = [];
    const most = Math.min(length, maxPageLength);
    let total = 0;
    if (limit <= 0) return found;
    for await (const event of read(executionId, after, Math.min(limit, rowsAtOnce), most)) {
      found.push(event);
      total += storedLength(event);
      if (total >= most || found.length >= limit) break;
    }
    return found;
  };
}
