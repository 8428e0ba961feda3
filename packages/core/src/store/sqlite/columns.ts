// Reads columns of a result row as SQLite keeps them: truth as a number, text of any characters as it is.
import type { SQLOutputValue } from "node:sqlite";
import { integer, text } from "../sql/columns.ts";
import { rowReaders, shortColumns as shortNames } from "../sql/rows.ts";

export { integer, nullableInteger, nullableText, readUsage, status, text } from "../sql/columns.ts";
export { toTimer } from "../sql/rows.ts";

export type Row = Record<string, SQLOutputValue>;

export const {
  toExecution,
  toListed,
  toClaimed,
  toHead,
  toSuspension,
  toWaiting,
  toConversation,
  toMessage,
} = rowReaders({
  truth: (row, column) => integer(row, column) === 1,
  freeText: text,
});

export const shortColumns = shortNames.join(", ");
