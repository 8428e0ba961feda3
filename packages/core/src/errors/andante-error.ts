// The base class of Andante's errors: a code for the kind of failure, and the HTTP status of the response.

/** The fields of every Andante error beside its message. */
export interface AndanteErrorDetails {
  /** A stable, machine-readable name such as `workflow-not-found`. */
  readonly code: string;
  /** The HTTP status of the response. */
  readonly status: number;
  /** The execution concerned, when there is one. */
  readonly executionId?: string | undefined;
  /** Seconds after which trying again makes sense, for passing conditions. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** An error whose message may be shown to a caller as it stands. */
export class AndanteError extends Error {
  readonly code: string;
  readonly status: number;
  readonly executionId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, details: AndanteErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = details.code;
    this.status = details.status;
    this.executionId = details.executionId;
    this.retryAfter = details.retryAfter;
  }
}
