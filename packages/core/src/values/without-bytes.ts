// Bytes as text, for JSON.
import { isRecord } from "./fields.ts";

/** The value with bytes as base64 text, which the AI SDK accepts in their place; itself when it holds none. */
export function withoutBytes(value: unknown): unknown {
  return holdsBytes(value) ? replaceBytes(value) : value;
}

/** Whether there are bytes anywhere in it. */
export function holdsBytes(value: unknown): boolean {
  if (value instanceof Uint8Array) return true;
  if (Array.isArray(value)) return value.some(holdsBytes);
  if (!isRecord(value)) return false;
  for (const key in value) if (holdsBytes(value[key])) return true;
  return false;
}

function replaceBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(replaceBytes);
  if (!isRecord(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replaceBytes(inner)]));
}
