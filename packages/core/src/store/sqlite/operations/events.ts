// Reads the events of one journal after a number, in order.
import type { DatabaseSync } from "node:sqlite";
import type { EventsQuery } from "../../store.ts";
import { type StoredEvent, storedLength } from "../../stored-event.ts";
import { toEvent } from "../columns.ts";
import { readPage } from "../read-page.ts";

export function events(database: DatabaseSync) {
  const select = database.prepare(
    "select * from events where execution_id = ? and sequence > ? order by sequence limit ?",
  );
  return ({ executionId, after, limit, length }: EventsQuery): StoredEvent[] =>
    readPage(select.iterate(executionId, after, limit), toEvent, length, storedLength);
}
