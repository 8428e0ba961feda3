// How `suspend`, `bail` and a checkpoint that cannot begin leave a body: by throwing a value that only this module can make or recognise.
import type { Notice } from "../../delivery/outbox.ts";
import type { JsonText } from "../../values/json.ts";

/** A call of `suspend`. */
export interface SuspendRequest {
  readonly kind: "suspend";
  readonly reason: string;
  readonly data: JsonText;
  /** Milliseconds since 1970; null when it waits for ever. */
  readonly deadline: number | null;
  /** The effect of the deadline, as JSON text; null without a deadline. */
  readonly onDeadline: string | null;
  /** The events that end it, as JSON text (`Awaits`). Default: none. */
  readonly awaits?: string | undefined;
  /** The notifications of it; undefined for none. */
  readonly notice?: Notice | undefined;
}

/** A call of `bail`. */
export interface BailRequest {
  readonly kind: "bail";
  readonly result: JsonText;
}

/** A call that an agent has made waits for a person. */
export interface CallSuspension {
  /** Such as `ask#call[2].tool[0]`. */
  readonly path: string;
  readonly reason: string;
  /** JSON text. */
  readonly data: string;
  /** The JSON Schema of its resume data as JSON text; null for anything. */
  readonly resumeSchema: string | null;
  /** Milliseconds since 1970; null when it waits for ever. */
  readonly deadline: number | null;
  /** The effect of the deadline, as JSON text; null without a deadline. */
  readonly onDeadline: string | null;
  /** The events that end it, as JSON text (`Awaits`). Default: none. */
  readonly awaits?: string | undefined;
  /** It was resumed, has read the decision, and waits for another one. */
  readonly again: boolean;
}

/** A tool that an agent has called sleeps. */
export interface CallSleep {
  /** Such as `ask#call[2].tool[0].sleep.0`. */
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Calls of an agent wait; the body runs again when one of them is resumed, or its time has come. */
export interface SuspendCallsRequest {
  readonly kind: "suspend-calls";
  readonly calls: readonly CallSuspension[];
  readonly sleeps: readonly CallSleep[];
}

/** A checkpoint may not begin now: the body runs again when the execution continues. */
export interface InterruptRequest {
  readonly kind: "interrupt";
}

/** A checkpoint failed, and its next attempt is a while away: the body runs again then. */
export interface WaitRequest {
  readonly kind: "wait";
  /** Milliseconds since 1970. */
  readonly until: number;
}

export type ControlFlowRequest =
  | SuspendRequest
  | SuspendCallsRequest
  | BailRequest
  | InterruptRequest
  | WaitRequest;

/** The function of the context that throws for it. */
const thrower = {
  suspend: "suspend",
  "suspend-calls": "suspend",
  bail: "bail",
  interrupt: "checkpoint",
  wait: "checkpoint",
} as const;

/**
 * Thrown by `suspend`, `bail` and `checkpoint`. An Error, so that a body that logs it or passes it on has a message. It
 * has no stack, because collecting one was a tenth of the cost of a suspension.
 */
export class ControlFlowSignal extends Error {
  readonly #request: ControlFlowRequest;

  static {
    ControlFlowSignal.prototype.name = "ControlFlowSignal";
  }

  constructor(request: ControlFlowRequest) {
    const { stackTraceLimit } = Error;
    // Not by assignment: that throws where intrinsics are frozen.
    Reflect.set(Error, "stackTraceLimit", 0);
    super(`${thrower[request.kind]}() ends the body by throwing this error. If you catch it, rethrow it.`);
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
    this.#request = request;
  }

  /** The request inside, when the value is one of ours. The private field is the brand: it cannot be forged. */
  static requestOf(thrown: unknown): ControlFlowRequest | undefined {
    return typeof thrown === "object" && thrown !== null && #request in thrown ? thrown.#request : undefined;
  }
}

/**
 * Whether a caught value is the signal with which `suspend`, `bail` or `checkpoint` leaves a body. It is no failure:
 * rethrow it.
 *
 * @example
 * ```ts
 * import { createWorkflow, isControlFlow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const mail = createWorkflow({ id: "mail", input: z.object({ to: z.string() }) }).andThen({
 *   id: "send",
 *   execute: async ({ data, checkpoint }) => {
 *     try {
 *       return await checkpoint("mail", () => `mail to ${data.to}`);
 *     } catch (error) {
 *       if (isControlFlow(error)) throw error;
 *       return null;
 *     }
 *   },
 * });
 * ```
 */
export function isControlFlow(error: unknown): boolean {
  return ControlFlowSignal.requestOf(error) !== undefined;
}
