// Reads columns of a result row, checking the types that the schema promises.

import { Fields } from "../../values/fields.ts";
import { type ExecutionStatus, isExecutionStatus } from "../store.ts";
import { readUsageFields, type StoredUsage } from "../usage.ts";

export type Row = Readonly<Record<string, unknown>>;

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`column ${column} is not text`);
  return value;
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`column ${column} is not a number`);
  return value;
}

export function nullableText(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function nullableInteger(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

export function status(row: Row): ExecutionStatus {
  const value = text(row, "status");
  if (!isExecutionStatus(value)) throw new TypeError(`unknown status ${value}`);
  return value;
}

/** The usage of agents, from a column of JSON text; null for none. */
export function readUsage(column: unknown): StoredUsage | null {
  if (typeof column !== "string") return null;
  return readUsageFields(Fields.parse(column, (problem) => new TypeError(`column usage: ${problem}`)));
}
