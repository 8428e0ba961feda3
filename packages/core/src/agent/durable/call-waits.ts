// Calls that wait for a person: a tool that needs approval, one whose output comes from outside, or a model's when a
// budget is used up.
import type { JsonSchema } from "../../values/schema.ts";

/** A wait of a call. */
export interface CallWait {
  readonly reason: string;
  /** The data for the person who decides. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The schema of the resume data; undefined for any data. */
  readonly resumeSchema: JsonSchema | undefined;
  /** It waits once more: the decision that it was resumed with does not suffice. Default: false. */
  readonly again?: boolean;
}

/** Where calls can wait; a recorder without it leaves waiting to the AI SDK. */
export interface CallWaits {
  /** The resume data of the call at this place, as JSON text; undefined before its resume. */
  resumedWith(place: string): string | undefined;
  /** The call at this place waits. Others may, too: they are reported together when the loop has been left. */
  wait(place: string, wait: CallWait): void;
}

/** The reason to leave a loop in which calls wait. */
export class CallsWaitError extends Error {
  constructor() {
    super("The agent waits for a person");
    this.name = "CallsWaitError";
  }
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
