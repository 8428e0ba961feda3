// The names of recorded calls under budgets over time, and the waits of calls for more.
import { Fields, isRecord } from "../../values/fields.ts";

/** The name of the shares of a recorded call. */
export function holdOf(executionId: string, path: string): string {
  return `${executionId}/${path}`;
}

/** The part of the data of a wait that names a budget over time; undefined for another wait. */
export function overTimeIn(data: string | undefined): Fields | undefined {
  if (data === undefined) return undefined;
  const value: unknown = JSON.parse(data);
  const fail = (problem: string) => new TypeError(`The data of a wait: ${problem}`);
  const budget = isRecord(value) && isRecord(value.budget) ? value.budget : {};
  return typeof budget.name === "string" ? new Fields(budget, fail) : undefined;
}
