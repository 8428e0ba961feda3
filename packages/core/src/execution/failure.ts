// Whatever a body throws, as the journal keeps it: name and message. The stack goes to the log only.
import { PublicError } from "../errors/index.ts";
import type { Failure } from "./journal.ts";

const longestMessage = 10_000;

export function toFailure(thrown: unknown, step?: string): Failure {
  if (!(thrown instanceof Error)) {
    return { name: "Error", message: `A value that is no Error was thrown: ${describe(thrown)}`, step };
  }
  const failure = { name: thrown.name, message: thrown.message.slice(0, longestMessage), step };
  return thrown instanceof PublicError ? { ...failure, public: true } : failure;
}

function describe(value: unknown): string {
  try {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
    return text.slice(0, 500);
  } catch {
    return typeof value;
  }
}
