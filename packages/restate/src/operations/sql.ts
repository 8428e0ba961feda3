// Parts of searches by Restate's SQL. A condition whose value is undefined is left out.
import type { Found } from "../client/ingress.ts";
import { field, optional, unfield } from "../engine/lines.ts";

export function textIn(row: Found, name: string): string {
  const value = row[name];
  return typeof value === "string" ? unfield(value) : String(value ?? "");
}

export function numberIn(row: Found, name: string): number {
  return Number(row[name]);
}

/** The value that a line holds whole. */
export function wholeIn<Value>(row: Found): Value {
  const value: Value = JSON.parse(typeof row.whole === "string" ? row.whole : "null");
  return value;
}

export function number(column: string): string {
  return `try_cast(${column} as bigint)`;
}

export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function is(column: string, value: string | undefined): string {
  return value === undefined ? "" : ` and ${column} = ${literal(value)}`;
}

/** For a field that is always there. */
export function isText(column: string, value: string | undefined): string {
  return is(column, value === undefined ? undefined : field(value));
}

/** For a field that may be null. */
export function isOptional(column: string, value: string | null | undefined): string {
  return is(column, value === undefined ? undefined : optional(value));
}

export function compared(expression: string, operator: string, value: number | undefined): string {
  return value === undefined ? "" : ` and ${expression} ${operator} ${value}`;
}

/** Beyond a place in a list that is ordered by a number, then by a text. */
export function beyond(
  operator: "<" | "<=" | ">",
  [order, text]: readonly [order: string, text: string],
  place: readonly [number, string] | undefined,
): string {
  if (place === undefined) return "";
  const isEqual = `${order} = ${place[0]} and ${text} ${operator} ${literal(field(place[1]))}`;
  return ` and (${order} ${operator[0]} ${place[0]} or (${isEqual}))`;
}
