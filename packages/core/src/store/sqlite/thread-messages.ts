// Messages between the main thread and a database thread.
import type { MessagePort } from "node:worker_threads";
import type { OperationName } from "./operations/index.ts";

/** The start message of a thread. */
export interface ThreadStart {
  /** `both` serves an in-memory database, which only one connection can see. */
  readonly role: "write" | "read" | "both";
  readonly path: string;
  readonly maxBytes: number | null;
  /** This process had it open before: its thread has died. */
  readonly isRestart?: boolean;
  /** The number of the file that it has to be, in its file system; for a thread that opens it beside another. */
  readonly inode?: number;
}

/** The same with the thread's end of the channel, which carries nothing but our messages. */
export interface ThreadData extends ThreadStart {
  readonly port: MessagePort;
  /** One number: the characters of the results that the thread has sent and the main thread has not received. */
  readonly underWay: Int32Array<SharedArrayBuffer>;
}

/** Without names, which would be written and read for each. */
export type Call = readonly [id: number, operation: OperationName, argument: unknown];

/** The id alone: the operation returned nothing. */
export type CallResult =
  | number
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: CallFailure };

export type CallFailure =
  | {
      /** `refused`: this call alone. `unavailable`: the storage is in trouble. */
      readonly kind: "refused" | "unavailable";
      readonly message: string;
    }
  | { readonly kind: "damaged"; readonly sequence: number; readonly problem: string };

export type ToThread = readonly Call[] | "close";
export type FromThread = ResultsMessage | { readonly opened: true } | { readonly failed: string };

export interface ResultsMessage {
  /** How many groups of calls the thread has received since its last message. */
  readonly groupsReceived: number;
  readonly results: readonly CallResult[];
}

/**
 * A message ends with the call or result that makes it this long, in characters. Without a bound, calls that happen to be
 * under way together decide how long it gets, and a string of more than half a thousand million ends the thread.
 */
export const maxMessageLength = 4_000_000;

/** As many characters may be on their way from a thread; then it waits until the main thread has received some. */
export const maxLengthUnderWay = 8_000_000;

// Messages cross as JSON text: structured clones of the same objects took 5 % more processor time of a request.
// Long values are packed piece by piece, so that one that is too long for a string fails alone.

export function pack(message: ToThread | FromThread | Call | CallResult): string {
  return JSON.stringify(message);
}

export function packGroup(calls: readonly string[]): string {
  return `[${calls.join(",")}]`;
}

export function packResults(groupsReceived: number, results: readonly string[]): string {
  return `{"groupsReceived":${groupsReceived},"results":[${results.join(",")}]}`;
}

export function unpackToThread(text: string): ToThread {
  return JSON.parse(text);
}

export function unpackFromThread(text: string): FromThread {
  return JSON.parse(text);
}
