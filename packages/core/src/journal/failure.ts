// Whatever a body throws, as the journal keeps it: name and message. The stack goes to the log only.
import { types } from "node:util";
import { PublicError } from "../errors/index.ts";
import type { Failure } from "./journal.ts";

const longestMessage = 10_000;

export function toFailure(thrown: unknown, step?: string): Failure {
  if (!(thrown instanceof Error) && !types.isNativeError(thrown)) {
    return { name: "Error", message: `A value that is no Error was thrown: ${describe(thrown)}`, step };
  }
  const failure = { name: textOf(() => thrown.name), message: textOf(() => thrown.message), step };
  return thrown instanceof PublicError ? { ...failure, public: true } : failure;
}

// An error's fields are the host's: a getter may throw, a message may be no text.
function textOf(read: () => unknown): string {
  try {
    return String(read()).slice(0, longestMessage);
  } catch {
    return "Error";
  }
}

function describe(value: unknown): string {
  try {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
    return text.slice(0, 500);
  } catch {
    return typeof value;
  }
}
