// Work on a caller's JSON Schema with a time limit.
//
// A pattern can backtrack for years, and references can multiply without end.
import { Validator } from "@cfworker/json-schema";
import type { JsonSchema, Validation } from "../../values/schema.ts";
import { isTimeout, withinLimit } from "../../values/within-limit.ts";

const maxDetailLength = 500;

/** Checks a value against the schema; throws when that takes longer than this many milliseconds. */
export function validateWithin(schema: JsonSchema, value: unknown, milliseconds: number): Validation {
  return withinLimit(() => validateWith(schema, value), milliseconds);
}

/** Without a limit. */
function validateWith(schema: JsonSchema, value: unknown): Validation {
  const { valid, errors } = new Validator(schema, "2020-12").validate(value);
  if (valid) return { ok: true, value: undefined };
  // The last one is the innermost: those before it only report that something inside is wrong.
  const { instanceLocation = "#", error = "it does not fit" } = errors.at(-1) ?? {};
  const at = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
  return { ok: false, detail: (at === "" ? error : `${at}: ${error}`).slice(0, maxDetailLength) };
}

/** Why the work within the limit failed. */
export function reasonOf(error: unknown, milliseconds: number): string {
  if (isTimeout(error)) return `the schema could not be checked within ${milliseconds} ms`;
  if (error instanceof RangeError) return "the schema refers to itself without end";
  return "the schema could not be evaluated";
}
