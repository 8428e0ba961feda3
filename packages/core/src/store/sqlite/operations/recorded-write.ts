// A pause, resume or cancel that is repeated because its reply was lost: finds what was written the first time.
import type { DatabaseSync } from "node:sqlite";
import { readWholeRow } from "../../sql/journal-row.ts";
import type { StoredEvent } from "../../stored-event.ts";
import { integer, text } from "../columns.ts";

/** Events that others may have written since. */
const farBack = 1_000;

export function recordedWrite(database: DatabaseSync) {
  const find = database.prepare(
    `select sequence, events, write_key from journal where execution_id = ? and sequence > ?
       and write_key in (?, ?) order by sequence desc limit 1`,
  );
  /** `last` is the number of the execution's last event. `owned`: the key says that a live owner continues it. */
  return (
    executionId: string,
    last: number,
    key: string,
  ): { events: StoredEvent[]; owned: boolean } | undefined => {
    const row = find.get(executionId, last - farBack, key, ownedKey(key));
    if (row === undefined) return undefined;
    const events = readWholeRow(integer(row, "sequence"), text(row, "events"));
    return { events, owned: text(row, "write_key") !== key };
  };
}

/** The key of a resume that a live owner continues with. */
export function ownedKey(key: string): string {
  return `${key}.owned`;
}
