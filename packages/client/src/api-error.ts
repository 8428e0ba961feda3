// The one error of this client: a refusal of the server, or a server that could not be reached.

export interface ApiErrorDetails {
  readonly status: number;
  readonly code?: string | undefined;
  readonly executionId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A call that failed. Its message is the server's and may be shown.
 *
 * @example
 * ```ts
 * import { AndanteApiError, createClient } from "@andante/client";
 *
 * const andante = createClient({ baseUrl: "http://localhost:3141" });
 * try {
 *   await andante.workflow("refund").execute({ order: 12 });
 * } catch (error) {
 *   if (error instanceof AndanteApiError && error.code === "input-validation") console.log(error.message);
 * }
 * ```
 */
export class AndanteApiError extends Error {
  /** The status of the response; 0 when there was none. */
  readonly status: number;
  /**
   * A stable name such as `workflow-not-found`. Without a response: `unreachable`, `connection-lost` (in the middle of a
   * reply that cannot be resumed), `reply-changed` or `resume-uncertain`. Undefined for responses that Andante did not make, such as a proxy's.
   */
  readonly code: string | undefined;
  /** The execution that the error is about. */
  readonly executionId: string | undefined;
  /** Seconds after which trying again makes sense. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { cause, ...details }: ApiErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "AndanteApiError";
    this.status = details.status;
    this.code = details.code;
    this.executionId = details.executionId;
    this.retryAfter = details.retryAfter;
  }

  /** True when the same call may succeed a little later: no response, or one that says so. */
  get isPassing(): boolean {
    const { status, code } = this;
    if (status !== 0) return [429, 502, 503, 504].includes(status);
    return code === "unreachable" || code === "connection-lost";
  }
}
