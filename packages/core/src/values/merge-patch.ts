// JSON merge patches (RFC 7396): a field that is null is deleted, one that is absent stays.
import { isRecord } from "./fields.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** The object with the changes of a patch. Objects are merged, any other value replaces the one before. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  // By entries: a field may be called "__proto__".
  const fields = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else fields.set(name, isRecord(value) ? mergePatch(objectOf(fields.get(name)), value) : value);
  }
  return Object.fromEntries(fields);
}

function objectOf(value: unknown): JsonObject {
  return isRecord(value) ? value : {};
}
