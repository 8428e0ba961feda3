// Reads parts of a JSON Schema, which may have any form.
import type { JsonSchema } from "@andante/client";

/** Whether a value has fields; an array has, too. */
export function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}

/** The value as a schema; an empty one for any other value. */
export function asSchema(value: unknown): JsonSchema {
  return isObject(value) ? value : {};
}
