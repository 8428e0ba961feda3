// Reads columns of a result row as PostgreSQL keeps them: booleans as such, text of users as JSON.
import { type Row, rowReaders, text } from "@andante/core/internal";

export {
  integer,
  nullableInteger,
  nullableText,
  type Row,
  readUsage,
  shortColumns,
  status,
  text,
  toTimer,
} from "@andante/core/internal";

export function truth(row: Row, column: string): boolean {
  const value = row[column];
  if (typeof value !== "boolean") throw new TypeError(`column ${column} is not a boolean`);
  return value;
}

/** Text of users is kept as a JSON string, because a column of text cannot hold a NUL. */
export function writeFreeText(value: string): string {
  return JSON.stringify(value);
}

export function readFreeText(column: string): string {
  return String(JSON.parse(column));
}

/** The columns of a table, each with its name before it. */
export function columnsOf(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${table}.${column}`).join(", ");
}

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
  truth,
  freeText: (row, column) => readFreeText(text(row, column)),
});
