// Failures inside a step, as the journal keeps them.
import { AndanteError } from "./andante-error.ts";

/** An input, output or resume data does not fit the schema that the step declares. */
export class StepSchemaError extends AndanteError {
  constructor({ path, subject, detail }: { path: string; subject: string; detail: string }) {
    super(`Step ${path}: ${subject} validation failed: ${detail}`, { code: "step-schema", status: 500 });
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

/** `suspend`, `bail`, `setState`, `checkpoint` or `emit` was called where it has no meaning: in a condition or a prompt. */
export class StepPlaceError extends AndanteError {
  constructor({ path, action }: { path: string; action: string }) {
    super(`${path} cannot ${action}: only the body of a step can`, { code: "step-place", status: 500 });
  }
}

/** An attempt took longer than the step's timeout. */
export class StepTimeoutError extends AndanteError {
  constructor({ path, timeout }: { path: string; timeout: number }) {
    super(`Step ${path} took longer than its timeout of ${timeout} ms`, {
      code: "step-timeout",
      status: 500,
    });
  }
}

/** `checkpoint` was called in a way that cannot work. */
export class CheckpointUseError extends AndanteError {
  constructor({ path, problem }: { path: string; problem: string }) {
    super(`Checkpoint ${path} ${problem}`, { code: "checkpoint-use", status: 500 });
  }
}

/** An attempt of a checkpoint took longer than its timeout. */
export class CheckpointTimeoutError extends AndanteError {
  constructor({ path, timeout }: { path: string; timeout: number }) {
    super(`Checkpoint ${path} took longer than its timeout of ${timeout} ms`, {
      code: "checkpoint-timeout",
      status: 500,
    });
  }
}

/** A step's output, or the workflow's result, is larger than its limit allows. Trying again would not help. */
export class OutputLimitError extends AndanteError {
  constructor({
    subject,
    size,
    limit,
    option,
  }: { subject: string; size: number; limit: number; option: string }) {
    super(
      `${subject} is ${size} bytes; the limit is ${limit} (${option}). Keep large data elsewhere and pass its address.`,
      {
        code: "output-limit",
        status: 500,
      },
    );
  }
}

/** The journal of an execution has grown past its limit. */
export class JournalLimitError extends AndanteError {
  constructor({ unit, size, limit, option }: { unit: string; size: number; limit: number; option: string }) {
    super(
      `The journal of the execution holds ${size} ${unit}; the limit is ${limit} (${option}). ` +
        "A loop probably does not end, or steps pass large data on.",
      { code: "journal-limit", status: 500 },
    );
  }
}

/** A suspension was not resumed before its deadline. */
export class DeadlineError extends AndanteError {
  constructor({ path }: { path: string }) {
    super(`Step ${path} was not resumed before its deadline`, { code: "deadline", status: 500 });
  }
}

/** The execution took longer than its workflow allows. */
export class ExecutionTimeoutError extends AndanteError {
  constructor({ timeout }: { timeout: number }) {
    super(`The execution took longer than the workflow's timeout of ${timeout} ms`, {
      code: "execution-timeout",
      status: 500,
    });
  }
}

/** Thrown by a host's step to fail for good: it is not retried, even if it has `retry`. */
export class PermanentError extends AndanteError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { code: "permanent", status: 500, cause: options.cause });
  }
}

/** The execution was recovered again and again without getting any further. */
export class CrashLoopError extends AndanteError {
  constructor({ recoveries }: { recoveries: number }) {
    super(
      `The execution was recovered ${recoveries} times without completing another step. ` +
        "A step is probably crashing its process.",
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
