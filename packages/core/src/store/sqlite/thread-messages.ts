// What the main thread and a database thread say to each other.
import type { MessagePort } from "node:worker_threads";
import type { OperationName } from "./operations/index.ts";

/** What a thread is started with. */
export interface ThreadStart {
  /** `both` serves an in-memory database, which only one connection can see. */
  readonly role: "write" | "read" | "both";
  readonly path: string;
  readonly maxBytes: number | null;
}

/** The same with the thread's end of the channel, which carries nothing but our messages. */
export interface ThreadData extends ThreadStart {
  readonly port: MessagePort;
}

export interface Call {
  readonly id: number;
  readonly operation: OperationName;
  readonly argument: unknown;
}

export type CallResult =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: CallFailure };

export interface CallFailure {
  /** `refused`: this call alone. `unavailable`: the storage is in trouble. */
  readonly kind: "refused" | "unavailable";
  readonly message: string;
}

export type ToThread = readonly Call[] | "close";
export type FromThread = ResultsMessage | { readonly opened: true } | { readonly failed: string };

export interface ResultsMessage {
  /** How many groups of calls the thread has received since its last message. */
  readonly groupsReceived: number;
  readonly results: readonly CallResult[];
}

// Messages cross as JSON text: structured clone of the same objects cost a tenth of the throughput with trivial steps.

export function pack(message: ToThread | FromThread): string {
  return JSON.stringify(message);
}

export function unpackToThread(text: string): ToThread {
  return JSON.parse(text);
}

export function unpackFromThread(text: string): FromThread {
  return JSON.parse(text);
}
