// The one error of this client: a refusal of the server, or a server that could not be reached.

import type { ErrorCode } from "./responses/wire.ts";

/** The codes that the client makes itself, without a response: `connection-lost` is during a reply that cannot be resumed. */
export type ClientErrorCode = "unreachable" | "connection-lost" | "reply-changed" | "resume-uncertain";

/** A code of a server's error or of the client; any other text is one of a later release. */
export type ApiErrorCode = ErrorCode | ClientErrorCode | (string & Record<never, never>);

export interface ApiErrorDetails {
  readonly status: number;
  readonly code?: ApiErrorCode | undefined;
  readonly executionId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A failed call. Its message comes from the server and may be shown to users.
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
  /** A stable name such as `workflow-not-found`. Undefined for responses of others, such as a proxy. */
  readonly code: ApiErrorCode | undefined;
  /** The execution of the error. */
  readonly executionId: string | undefined;
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { cause, ...details }: ApiErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "AndanteApiError";
    this.status = details.status;
    this.code = details.code;
    this.executionId = details.executionId;
    this.retryAfter = details.retryAfter;
  }

  /** True for a transient error: the same call may succeed later. */
  get isPassing(): boolean {
    const { status, code } = this;
    if (status !== 0) return [429, 502, 503, 504].includes(status);
    return code === "unreachable" || code === "connection-lost";
  }
}
