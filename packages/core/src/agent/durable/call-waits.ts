// Calls that wait: a tool that needs approval, one whose output comes from outside, one that suspends or sleeps, or a
// model's when a budget is used up.
import type { JsonSchema } from "../../values/schema.ts";
import type { EventWaitOptions } from "../../workflow/step-context.ts";

/** A wait of a call. */
export interface CallWait {
  readonly reason: string;
  /** The data for the person who decides. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The schema of the resume data; undefined for any data. */
  readonly resumeSchema: JsonSchema | undefined;
  /** It waits once more: the decision that it was resumed with does not suffice. Default: false. */
  readonly again?: boolean;
  /** When it ends by itself, in milliseconds since 1970, and its resume data then. Default: never. */
  readonly deadline?: number | undefined;
  /** Default: it fails. */
  readonly onDeadline?: { readonly resume: unknown } | undefined;
  /** The events that end it. Default: none. */
  readonly events?: EventWaitOptions | undefined;
}

/** The decision that is made where no person has decided. */
export type DeadlineDecision = "deny" | "approve";

/** The deadline of a call that a person must approve. */
export interface ApprovalDeadline {
  /** Its time for a call that waits since the given one, both in milliseconds since 1970. */
  readonly at: (since: number) => number;
  readonly onDeadline: DeadlineDecision;
}

/** The resume data of an approval that no person has given. */
export interface ResumedDecision {
  readonly approved: boolean;
  readonly reason?: string;
}

/** The resume data of an approval at its deadline. */
export function decisionAt(onDeadline: DeadlineDecision): { readonly resume: ResumedDecision } {
  const approved = onDeadline === "approve";
  return {
    resume: approved ? { approved } : { approved, reason: "No decision was made before the deadline" },
  };
}

/** How a wait has ended. */
export interface EndedWait {
  /** The resume data as JSON text. */
  readonly data: string;
  /** Its deadline has passed, without data. */
  readonly expired: boolean;
  /** The wait, and its data as JSON text. */
  readonly suspensionId?: string | undefined;
  readonly asked?: string | undefined;
}

/** Where calls can wait. */
export interface CallWaits {
  /**
   * Only the code of tools waits here: a reply with approvals and outputs from outside ends in the AI SDK's own way, and its
   * client continues it. Default: those wait here, too.
   */
  readonly onlyTools?: boolean;
  /** The resume data of the call at this place, as JSON text; undefined before its resume. */
  resumedWith(place: string): string | undefined;
  /** How the wait at this place has ended; undefined while it has not. */
  ended(place: string): EndedWait | undefined;
  /** The call at this place waits. Others may, too: they are reported together when the loop has been left. */
  wait(place: string, wait: CallWait): void;
  /** Something at this place waits until this time, in milliseconds since 1970. */
  sleep(place: string, until: number): void;
}

/** The reason to leave a loop in which calls wait. */
export class CallsWaitError extends Error {
  constructor() {
    super("The agent waits");
    this.name = "CallsWaitError";
  }
}

/** The reason to leave a loop in which a call is made again later: the provider is busy, or work inside a tool failed. */
export class RetryWaitError extends Error {
  /** Milliseconds since 1970. */
  readonly until: number;

  constructor(until: number) {
    super("The agent waits for the next attempt of a call");
    this.name = "RetryWaitError";
    this.until = until;
  }
}

/** Whether a loop was left because it waits. */
export function isWaiting(reason: unknown): boolean {
  return reason instanceof CallsWaitError || reason instanceof RetryWaitError;
}

/** The resume data of an approval. `input` is for the tool, in place of the model's. */
export function decisionSchema(input: JsonSchema): JsonSchema {
  // The schema of the input may refer to its own root, which is no longer the root here.
  const isPlain = !JSON.stringify(input).includes('"$ref"');
  const { $schema: _, ...inner } = input;
  return {
    type: "object",
    properties: {
      approved: { type: "boolean", description: "Whether the tool may run." },
      reason: { type: "string", description: "Why; the model reads it when the call is denied." },
      input: isPlain ? inner : {},
    },
    required: ["approved"],
    additionalProperties: false,
  };
}
