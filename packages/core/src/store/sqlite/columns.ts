// Reads columns of a result row as SQLite keeps them: truth as a number, text of any characters as it is.
import type { SQLOutputValue } from "node:sqlite";
import { integer, nullableInteger, nullableText, text } from "../sql/columns.ts";
import { rowReaders, shortColumns as shortNames } from "../sql/rows.ts";
import type { StoredEvent } from "../stored-event.ts";

export { integer, nullableInteger, nullableText, readUsage, status, text } from "../sql/columns.ts";
export { toTimer } from "../sql/rows.ts";

export type Row = Record<string, SQLOutputValue>;

export const { toExecution, toListed, toClaimed, toHead, toSuspension } = rowReaders({
  truth: (row, column) => integer(row, column) === 1,
  freeText: text,
});

export const shortColumns = shortNames.join(", ");

export function toEvent(row: Row): StoredEvent {
  return {
    sequence: integer(row, "sequence"),
    timestamp: integer(row, "timestamp"),
    type: text(row, "type"),
    path: nullableText(row, "path"),
    stepIndex: nullableInteger(row, "step_index"),
    stepType: nullableText(row, "step_type"),
    value: nullableText(row, "value"),
    detail: nullableText(row, "detail"),
  };
}
