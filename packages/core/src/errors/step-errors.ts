// What can go wrong inside a step, as it is kept in the journal.
import { AndanteError } from "./andante-error.ts";

/** A value that a step takes, gives or waits for does not fit the schema that the step declares. */
export class StepSchemaError extends AndanteError {
  constructor({ path, what, detail }: { path: string; what: string; detail: string }) {
    super(`Step ${path}: ${what} validation failed: ${detail}`, { code: "step-schema", status: 500 });
  }
}

/** A value cannot be kept as JSON. `at` is the place inside the value. */
export class UnserializableError extends AndanteError {
  constructor({ what, at, problem, cause }: { what: string; at: string; problem: string; cause?: unknown }) {
    super(`${what}${at === "" ? "" : ` at ${at}`} cannot be kept as JSON: ${problem}`, {
      code: "unserializable",
      status: 500,
      cause,
    });
  }
}

/** What a step gives, or the workflow's result, is larger than its limit allows. Trying again would not help. */
export class OutputLimitError extends AndanteError {
  constructor({ what, size, limit, option }: { what: string; size: number; limit: number; option: string }) {
    super(
      `${what} is ${size} bytes; the limit is ${limit} (${option}). Keep large data elsewhere and pass its address.`,
      {
        code: "output-limit",
        status: 500,
      },
    );
  }
}

/** The journal of an execution has grown past its limit. */
export class JournalLimitError extends AndanteError {
  constructor({ what, size, limit, option }: { what: string; size: number; limit: number; option: string }) {
    super(
      `The journal of the execution holds ${size} ${what}; the limit is ${limit} (${option}). ` +
        "A loop probably does not end, or steps pass large data on.",
      { code: "journal-limit", status: 500 },
    );
  }
}

/** `suspend` was called where nobody could answer: in a condition or a prompt. */
export class SuspendPlaceError extends AndanteError {
  constructor({ path }: { path: string }) {
    super(`${path} cannot suspend: only the body of a step can`, { code: "suspend-place", status: 500 });
  }
}

/** The execution was recovered again and again without getting any further. */
export class CrashLoopError extends AndanteError {
  constructor({ recoveries }: { recoveries: number }) {
    super(
      `The execution was recovered ${recoveries} times without completing another step. ` +
        "A step probably ends the process that runs it.",
      { code: "crash-loop", status: 500 },
    );
  }
}

/** Thrown by a host's step to lend its message to the stream and the state of the execution. */
export class PublicError extends AndanteError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { code: "public", status: 500, cause: options.cause });
  }
}
