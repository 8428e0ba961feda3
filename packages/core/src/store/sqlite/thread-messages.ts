// What the main thread and a database thread say to each other.
import type { OperationName } from "./operations/index.ts";

/** What a thread is started with. */
export interface ThreadStart {
  /** `both` serves an in-memory database, which only one connection can see. */
  readonly role: "write" | "read" | "both";
  readonly path: string;
  readonly maxBytes: number | null;
}

export interface Call {
  readonly id: number;
  readonly operation: OperationName;
  readonly argument: unknown;
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };

export interface Failure {
  /** `refused`: this call alone. `unavailable`: the storage is in trouble. */
  readonly kind: "refused" | "unavailable";
  readonly message: string;
}

export type ToThread = readonly Call[] | "close";
export type FromThread = Answers | { readonly opened: true } | { readonly failed: string };

export interface Answers {
  /** How many groups of calls the thread has taken since it last spoke. */
  readonly taken: number;
  readonly answers: readonly Answer[];
}

// Messages cross as JSON text: structured clone of the same objects cost a tenth of the throughput with trivial steps.

export function pack(message: ToThread | FromThread): string {
  return JSON.stringify(message);
}

export function unpackCalls(text: string): ToThread {
  return JSON.parse(text);
}

export function unpackAnswers(text: string): FromThread {
  return JSON.parse(text);
}
