// Makes fields safe for a log line: secrets are redacted, texts and depth are bounded, errors become plain.
import { isNativeError } from "node:util/types";
import { propertyOf } from "../../values/fields.ts";
import { isSecretKey, redactText } from "../../values/redact-text.ts";

const redacted = "[redacted]";

const maxDepth = 6;
const maxEntries = 100;
const maxKeyLength = 200;

/** Fields of a line that were redacted: they are not copied again. */
class RedactedFields {
  [field: string]: unknown;
}

/** A bounded copy of the fields of a line, without secrets. */
export function redactFields(fields: object): Record<string, unknown> {
  return fields instanceof RedactedFields ? fields : redactAfter({}, fields);
}

/** The same with fields before it that were redacted already. */
export function redactAfter(
  before: Readonly<Record<string, unknown>>,
  fields: object,
): Record<string, unknown> {
  return Object.assign(new RedactedFields(), before, copyEntries(fields, 0));
}

function copyEntries(value: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  let count = 0;
  for (const key of keysOf(value)) {
    if (++count > maxEntries) {
      copy["…"] = "more entries were left out";
      break;
    }
    const entry = copyValue(read(value, key), depth + 1);
    if (entry === undefined) continue;
    const name = key.slice(0, maxKeyLength);
    copy[name] = isSecretKey(name) && entry !== null ? redacted : entry;
  }
  return copy;
}

function copyValue(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return redactText(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "boolean":
    case "undefined":
      return value;
    case "bigint":
    case "symbol":
      return String(value);
    case "function":
      return "[function]";
    case "object":
      return value === null ? null : copyObject(value, depth);
  }
}

function copyObject(value: object, depth: number): unknown {
  if (value instanceof Error || isNativeError(value)) return copyError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (depth >= maxDepth) return Array.isArray(value) ? "[array]" : "[object]";
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value))
    return value.slice(0, maxEntries).map((entry) => copyValue(entry, depth + 1) ?? null);
  if (value instanceof Map || value instanceof Set) return `[${value.size} entries]`;
  return copyEntries(value, depth);
}

/** Name, message, stack and cause. Stacks are for the log alone. */
function copyError(error: Error, depth: number): Record<string, unknown> {
  const part = (name: keyof Error) => {
    const value = read(error, name);
    return typeof value === "string" ? redactText(value) : undefined;
  };
  const cause = depth < maxDepth ? read(error, "cause") : undefined;
  const code = read(error, "code");
  return {
    name: part("name") ?? "Error",
    message: part("message") ?? "",
    ...(typeof code === "string" && { code: redactText(code) }),
    stack: part("stack"),
    ...(cause !== undefined && { cause: copyValue(cause, depth + 1) }),
  };
}

// The fields are the host's: a getter or a proxy may throw, and a line is not worth an exception.
function read(value: object, key: string): unknown {
  try {
    return propertyOf(value, key);
  } catch {
    return "[unreadable]";
  }
}

function keysOf(value: object): string[] {
  try {
    return Object.keys(value);
  } catch {
    return [];
  }
}
