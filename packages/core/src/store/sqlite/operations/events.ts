// Reads the events of one journal after a number, in order.
import type { DatabaseSync } from "node:sqlite";
import type { EventsQuery } from "../../store.ts";
import { type StoredEvent, storedLength } from "../../stored-event.ts";
import { toEvent } from "../columns.ts";

export function events(database: DatabaseSync) {
  const select = database.prepare(
    "select * from events where execution_id = ? and sequence > ? order by sequence limit ?",
  );
  return ({ executionId, after, limit, length = Number.POSITIVE_INFINITY }: EventsQuery): StoredEvent[] => {
    const read: StoredEvent[] = [];
    let total = 0;
    for (const row of select.iterate(executionId, after, limit)) {
      const event = toEvent(row);
      read.push(event);
      total += storedLength(event);
      if (total >= length) break;
    }
    return read;
  };
}
