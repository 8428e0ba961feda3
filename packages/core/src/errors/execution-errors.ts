// Errors a caller of an execution or a trace can meet: unknown ids, data that does not fit, states that do not allow it.
import { AndanteError } from "./andante-error.ts";

export class WorkflowNotFoundError extends AndanteError {
  constructor({ workflowId }: { workflowId: string }) {
    super(`Workflow ${workflowId} not found`, { code: "workflow-not-found", status: 404 });
  }
}

/** The input of an execution does not fit the workflow's input schema, or JSON cannot hold it. */
export class InputValidationError extends AndanteError {
  constructor({ detail }: { detail: string }) {
    super(`Input validation failed: ${detail}`, { code: "input-validation", status: 400 });
  }
}

/** An input or resume data is larger than its limit allows. */
export class TooLargeError extends AndanteError {
  constructor({
    subject,
    size,
    limit,
    option,
  }: { subject: string; size: number | string; limit: number; option: string }) {
    super(`${subject} is ${size} bytes; the limit is ${limit} (${option})`, {
      code: "too-large",
      status: 413,
    });
  }
}

/** An option of a start, resume, suspend or cancel has the wrong type or value. */
export class InvalidOptionError extends AndanteError {
  constructor({ option, problem }: { option: string; problem: string }) {
    super(`Invalid option ${option}: ${problem}`, { code: "invalid-option", status: 400 });
  }
}

export class ExecutionNotFoundError extends AndanteError {
  constructor({ executionId }: { executionId: string }) {
    super(`Execution ${executionId} not found`, { code: "execution-not-found", status: 404, executionId });
  }
}

/** Nothing is open to be resumed: the execution runs, has ended, or another resume was first. */
export class NotSuspendedError extends AndanteError {
  constructor({ executionId }: { executionId: string }) {
    super(`Execution ${executionId} is not suspended`, { code: "not-suspended", status: 404, executionId });
  }
}

export class NotSuspendableError extends AndanteError {
  constructor({ executionId, status }: { executionId: string; status: string }) {
    super(`Execution ${executionId} cannot be suspended: it is already ${wordFor(status)}`, {
      code: "not-suspendable",
      status: 400,
      executionId,
    });
  }
}

export class NotCancellableError extends AndanteError {
  constructor({ executionId, status }: { executionId: string; status: string }) {
    super(`Execution ${executionId} cannot be cancelled: it is already ${wordFor(status)}`, {
      code: "not-cancellable",
      status: 400,
      executionId,
    });
  }
}

/** The data of a resume does not fit its resume schema. */
export class ResumeValidationError extends AndanteError {
  constructor({ executionId, detail }: { executionId: string; detail: string }) {
    super(`Resume data validation failed: ${detail}`, {
      code: "resume-validation",
      status: 400,
      executionId,
    });
  }
}

/** The resume names no waiting step, several, or one that does not wait. */
export class ResumeTargetError extends AndanteError {
  constructor({ executionId, problem }: { executionId: string; problem: string }) {
    super(`Cannot resume: ${problem}`, { code: "resume-target", status: 400, executionId });
  }
}

/** The id was used for something else. Says nothing about that other execution. */
export class ExecutionConflictError extends AndanteError {
  constructor({ executionId }: { executionId: string }) {
    super(`Execution id ${executionId} is already in use`, {
      code: "execution-conflict",
      status: 409,
      executionId,
    });
  }
}

/** The workflow was changed among the steps that the execution has reached: it would not continue where it stopped. */
export class DefinitionChangedError extends AndanteError {
  constructor({
    executionId,
    workflowId,
    change,
  }: { executionId: string; workflowId: string; change: string }) {
    super(`The workflow "${workflowId}" has changed since this execution began: ${change}`, {
      code: "definition-changed",
      status: 409,
      executionId,
    });
  }
}

/** A body runs again and again, and nothing comes of it. */
export class ExecutionStuckError extends AndanteError {
  constructor({ executionId, path, runs }: { executionId: string; path: string; runs: number }) {
    const what = path === "" ? "The execution was continued" : `Step ${path} was run`;
    super(`${what} ${runs} times without a new event`, {
      code: "execution-stuck",
      status: 500,
      executionId,
    });
  }
}

/** A caller waits for an execution that no process may run. */
export class ExecutionParkedError extends AndanteError {
  constructor({ executionId, reason }: { executionId: string; reason: string }) {
    super(`Execution ${executionId} is parked: ${reason}`, {
      code: "execution-parked",
      status: 409,
      executionId,
    });
  }
}

/** The execution cannot be replayed from there, or not now. */
export class ReplayTargetError extends AndanteError {
  constructor({ executionId, problem }: { executionId: string; problem: string }) {
    super(`Cannot replay execution ${executionId}: ${problem}`, {
      code: "replay-target",
      status: 400,
      executionId,
    });
  }
}

/** A step failed and with it the execution. The step's own words stay in the journal. */
export class ExecutionFailedError extends AndanteError {
  constructor({ executionId, cause }: { executionId: string; cause?: unknown }) {
    super("Failed to execute workflow", { code: "execution-failed", status: 500, executionId, cause });
  }
}

/** No trace of this id, or none that the caller may see. */
export class TraceNotFoundError extends AndanteError {
  constructor({ traceId }: { traceId: string }) {
    super(`Trace ${traceId} not found`, { code: "trace-not-found", status: 404 });
  }
}

function wordFor(status: string): string {
  return status === "error" ? "ended with an error" : status;
}
